"""Printreach as its users run it: the service, its administration, and agents."""

import json
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from ssl import SSLContext
from typing import Self
from urllib.parse import urlsplit

from tests.rigs.admin_commands import run_admin
from tests.rigs.calls import call
from tests.rigs.programs import Program
from tests.rigs.waiting import TIMEOUT_S, free_port
from tests.rigs.ways import Header, Way, basic, bearer

OWNER = "owner@example.com"
PASSWORD = "a long enough passphrase"
APP = "journeys"


def printreach(*words: str | Path) -> list[str]:
    """The command line of the installed package."""
    return [str(Path(sys.executable).with_name("printreach")), *map(str, words)]


@dataclass(frozen=True)
class Connection:
    """An App Connection as the portal hands it to an app."""

    id: str
    url: str
    user: str
    password: str = field(repr=False)
    token: str = field(repr=False)

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Self:
        """Read it from the completion parameters."""
        return cls(
            id=parameters["id"],
            url=parameters["url"],
            user=parameters["authBasicHttpUser"],
            password=parameters["authBasicHttpPassword"],
            token=parameters["authBearerToken"],
        )

    @property
    def basic(self) -> Header:
        """Its credentials as HTTP Basic."""
        return basic(self.user, self.password)

    @property
    def bearer(self) -> Header:
        """Its credentials as a bearer token."""
        return bearer(self.token)


class Agent:
    """One agent beside one printer."""

    def __init__(self, program: Program, data_dir: Path) -> None:
        self.program = program
        self.data_dir = data_dir

    def event(self, name: str, seconds: float = TIMEOUT_S) -> dict[str, str]:
        """Wait for an event that it announces on standard output; the latest of that name."""
        return self.program.wait_until(f"event {name}", lambda: self._latest(name), seconds)

    def events(self, name: str) -> list[dict[str, str]]:
        """Every event of that name so far."""
        lines = self.program.stdout().split("\n")[:-1]  # the last may be half written
        every = [json.loads(line) for line in lines if line.startswith("{")]
        return [event for event in every if event["event"] == name]

    def wait_until_looked(self) -> None:
        """Until it knows what its printer does: a print under way at its first look is no news."""
        journal = self.data_dir / "events.journal"

        def has_looked() -> bool:
            return journal.exists() and b'"memory":{"state":"' in journal.read_bytes()

        self.program.wait_until("a first look at the printer", has_looked)

    def _latest(self, name: str) -> dict[str, str] | None:
        events = self.events(name)
        return events[-1] if events else None


@dataclass(frozen=True)
class LinkedPrinter:
    """A printer on the owner's account, its agent connected."""

    id: str
    agent: Agent


@dataclass(frozen=True, kw_only=True)
class Front:
    """The server in front of the service, as its callers see it.

    agent_env: what an agent needs to find and to trust it.
    """

    port: int
    tls: SSLContext
    agent_env: Mapping[str, str]


class Service:
    """A running service with one owner account and one registered app."""

    def __init__(
        self,
        folder: Path,
        port: int,
        env: dict[str, str],
        front: Front | None = None,
        listener: socket.socket | None = None,
        command: Callable[..., list[str]] = printreach,
        more_listeners: Sequence[socket.socket] = (),
    ) -> None:
        """listener: the socket that is handed over to it; without one it opens its own.

        more_listeners: handed over as well, those of its connections' ports. command: makes the
        command line.
        """
        self.folder = folder
        self.port = port
        self.env = env
        self.front = front
        self._listeners = [*([listener] if listener else []), *more_listeners]
        self._command = command
        self.program = self._a_program(f"service-{port}")

    @property
    def base_url(self) -> str:
        """Its public address."""
        return self.env["PRINTREACH_BASE_URL"]

    def _a_program(self, name: str) -> Program:
        argv = self._command("serve")
        return Program(name, argv, logs=self.folder, env=self.env, listeners=self._listeners)

    def start_successor(self) -> Program:
        """Start another process on the same sockets; gives the old one, which still serves."""
        old = self.program
        self.program = self._a_program(f"{old.name}-next")
        self.program.start()
        self.wait_ready()
        return old

    def wait_ready(self) -> None:
        """Wait for the ready line of its latest start."""
        self.program.wait_until(
            "ready line", lambda: "ready {" in self.program.stdout_since_start()
        )

    def admin(self, *words: str, stdin: str = "") -> dict[str, str]:
        """Run one administration command and read its JSON."""
        done = run_admin([*words, "--json"], self.env, stdin)
        if done["status"] != 0:
            raise RuntimeError(f"admin {' '.join(words)}: {done['stderr']}")
        result: dict[str, str] = json.loads(done["stdout"] or "{}")
        return result

    def add_owner(self) -> None:
        """Make the account and the app that every test uses."""
        self.admin("account", "add", OWNER, "--supporter", stdin=PASSWORD + "\n")
        returns = "https://app.example.com/done"
        self.admin("app", "add", APP, "--name", "Journeys", "--return-url", returns)

    @contextmanager
    def printer(
        self,
        name: str,
        printer_url: str,
        *,
        platform: str = "moonraker",
        env: Mapping[str, str] | None = None,
    ) -> Iterator[LinkedPrinter]:
        """Run an agent for the printer at this URL, linked to the owner's account."""
        with self.agent(name, printer_url, platform=platform, env=env) as agent:
            code = agent.event("link-code")["LinkCode"]
            linked = self.admin("printer", "link", code, "--account", OWNER, "--name", name)
            agent.event("connected")
            yield LinkedPrinter(linked["PrinterId"], agent)

    @contextmanager
    def agent(
        self,
        name: str,
        printer_url: str,
        *,
        platform: str = "moonraker",
        env: Mapping[str, str] | None = None,
        command: Callable[..., list[str]] = printreach,
    ) -> Iterator[Agent]:
        """Run an agent that nobody has linked yet. command: makes the command line.

        printer_url: "" lets the agent start a simulated printer of its own.
        """
        data_dir = self.folder / f"agent-{name}"
        options = ("--service", self.base_url, "--data-dir", data_dir)
        url = ("--printer-url", printer_url) if printer_url else ()
        printer = ("--platform", platform, *url)
        argv = command("agent", "run", *options, *printer, "--lan-listen", "127.0.0.1:0")
        every = {**(self.front.agent_env if self.front else {}), **(env or {})}
        with Program(f"agent-{name}", argv, logs=self.folder, env=every) as program:
            yield Agent(program, data_dir)

    def connect(self, printer: LinkedPrinter) -> Connection:
        """A new App Connection to it."""
        words = ("connection", "add", "--app", APP, "--printer", printer.id)
        return Connection.of(self.admin(*words))

    def revoke(self, connection: Connection) -> None:
        """End an App Connection."""
        self.admin("connection", "revoke", connection.id)

    def remove(self, printer: LinkedPrinter) -> None:
        """Take the printer off the owner's account."""
        self.admin("printer", "remove", printer.id)

    def way(self, connection: Connection) -> Way:
        """Return the way of an app to the printer through that connection."""
        return self.way_at(urlsplit(connection.url).netloc).proving(connection.basic)

    def way_at(self, host: str) -> Way:
        """Return anyone's way to the address of a connection: a host of its own, or a port."""
        port = urlsplit(f"//{host}").port
        if "PRINTREACH_TUNNEL_PORTS" in self.env and port is not None:
            return Way(port=port, host=host)
        return self.way_to(host)

    @property
    def web_port(self) -> int:
        """Return the port of its pages and APIs."""
        return self.port

    def way_to(self, host: str) -> Way:
        """Return anyone's way to one of its hosts."""
        if self.front is None:
            return Way(port=self.port, host=host)
        return Way(port=self.front.port, host=host, tls=self.front.tls)

    def own_link(self, printer: LinkedPrinter) -> str:
        """The single-use link that opens the printer's own interface in a browser."""
        return self.admin("printer", "open", printer.id)["Url"]

    def open_own_host(self, printer: LinkedPrinter) -> Way:
        """Return the owner's way to it in a browser: by cookie, after the single-use link."""
        link = urlsplit(self.own_link(printer))
        way = self.way_at(link.netloc)
        answer = call(way, f"{link.path}?{link.query}", headers=[("Accept", "text/html")])
        cookies = "; ".join(one.split(";")[0] for one in answer.all("Set-Cookie"))
        return way.proving(("Cookie", cookies))


@contextmanager
def service(
    folder: Path,
    *,
    port: int,
    env: Mapping[str, str],
    front: Front | None = None,
    listener: socket.socket | None = None,
    command: Callable[..., list[str]] = printreach,
    more_listeners: Sequence[socket.socket] = (),
) -> Iterator[Service]:
    """Run a service with embedded defaults and these settings. command: makes its command line."""
    listen = {
        "PRINTREACH_DETECTOR_WATCH": "false",  # no test pays for what it doesn't ask for
        "PRINTREACH_DATA_DIR": str(folder / "service-data"),
        "PRINTREACH_LISTEN": f"127.0.0.1:{port}",
    }
    env = {**listen, **env}
    running = Service(folder, port, env, front, listener, command, more_listeners)
    try:
        running.program.start()
        running.wait_ready()
        running.add_owner()
        yield running
    finally:
        running.program.stop()


@contextmanager
def service_on_localhost(
    folder: Path,
    *,
    listener: socket.socket | None = None,
    tunnel_ports: range = range(0),
    command: Callable[..., list[str]] = printreach,
    more_env: Mapping[str, str] | None = None,
    more_listeners: Sequence[socket.socket] = (),
) -> Iterator[Service]:
    """One on plain http, its printer hosts under *.localhost, as the defaults have it.

    tunnel_ports: each connection gets one of these for its own. more_listeners: sockets on some of
    them, handed over as listener is.
    """
    port = listener.getsockname()[1] if listener else free_port()
    env = {
        "PRINTREACH_BASE_URL": f"http://localhost:{port}",
        "PRINTREACH_TUNNEL_DOMAIN": f"localhost:{port}",
        **(more_env or {}),
    }
    if tunnel_ports:
        env["PRINTREACH_TUNNEL_PORTS"] = f"{tunnel_ports[0]}-{tunnel_ports[-1]}"
    with service(
        folder,
        port=port,
        env=env,
        listener=listener,
        command=command,
        more_listeners=more_listeners,
    ) as running:
        yield running


@contextmanager
def service_at_home(folder: Path, name: str, ports: range) -> Iterator[Service]:
    """One as the README has it for a Raspberry Pi at home: plain http, and a port for each way.

    name: by which browsers in the network know the machine. On a name other than localhost they
    send no Sec-Fetch fields.
    """
    port = free_port()
    env = {
        "PRINTREACH_LISTEN": f"0.0.0.0:{port}",
        "PRINTREACH_BASE_URL": f"http://{name}:{port}",
        "PRINTREACH_TUNNEL_PORTS": f"{ports[0]}-{ports[-1]}",
    }
    with service(folder, port=port, env=env) as running:
        yield running
