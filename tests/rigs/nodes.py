"""A service whose roles run apart: two relays, a web node and a worker, with a NATS server."""

import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

from tests.rigs.calls import call
from tests.rigs.nats_server import NatsServer
from tests.rigs.programs import Program
from tests.rigs.service import Connection, Service, printreach
from tests.rigs.shifted_clock import shifted
from tests.rigs.waiting import free_port
from tests.rigs.ways import Way

SEVERAL = "PRINTREACH_TEST_NODES"


def has_several_nodes() -> bool:
    """True when the journeys meet several nodes: see tests/journeys/conftest.py."""
    return os.environ.get(SEVERAL) == "1"


@dataclass(frozen=True)
class Node:
    """One process. port: of its own alone."""

    program: Program
    port: int

    def start(self) -> None:
        self.program.start()
        self.wait_ready()

    def wait_ready(self) -> None:
        self.program.wait_until(
            "ready line", lambda: "ready {" in self.program.stdout_since_start()
        )

    def way(self, connection: Connection) -> Way:
        """Return the way of an app to its printer by this node."""
        host = connection.url.partition("://")[2]
        return Way(port=self.port, host=host).proving(connection.basic)

    def requests_of_others(self) -> float:
        """Return how many requests it has had from other nodes."""
        return self.figure("requests_of_other_nodes_total")

    def figure(self, name: str) -> float:
        """Return one of its metrics."""
        text = call(Way(port=self.port, host="127.0.0.1"), "/metrics").body.decode()
        found = re.search(rf"^printreach_{name} ([0-9.e+]+)$", text, re.MULTILINE)
        assert found is not None, text
        return float(found[1])


class Nodes(Service):
    """Relays share the socket that agents dial; each has a port of its own beside it."""

    def __init__(
        self,
        folder: Path,
        env: dict[str, str],
        shared: socket.socket,
        bus: NatsServer,
        ahead_s: Mapping[str, float],
        env_of: Mapping[str, Mapping[str, str]],
        command: Callable[..., list[str]],
    ) -> None:
        self.bus = bus
        self._shared = shared
        self._ahead_s = ahead_s
        self._env_of = env_of
        self._own = {name: _listening() for name in ("relay-a", "relay-b")}
        super().__init__(folder, shared.getsockname()[1], env, command=command)
        self.relays = tuple(self._relay(name) for name in self._own)
        self.web = self.node("web", "--role", "web")
        self.worker = self.node("worker", "--role", "worker")

    @property
    def all(self) -> tuple[Node, ...]:
        return (*self.relays, self.web, self.worker)

    def way(self, connection: Connection) -> Way:
        """Return the way of an app by the relay that doesn't hold the printer's tunnel."""
        return self.relay_without(connection).way(connection)

    @property
    def web_port(self) -> int:
        return self.web.port

    def way_to(self, host: str) -> Way:
        """Return anyone's way to one of its hosts, as a proxy in front has it."""
        is_own = host == self.base_url.partition("://")[2]
        return Way(port=self.web.port if is_own else self.port, host=host)

    def relay_without(self, connection: Connection) -> Node:
        """Return the relay that doesn't hold the tunnel of the connection's printer."""
        for here, other in permutations(self.relays):
            before = here.requests_of_others()
            call(other.way(connection), "/service-command-api/status")
            if here.requests_of_others() > before:
                return other
        raise AssertionError("neither relay passed a request on")

    def _relay(self, name: str) -> Node:
        listeners = [self._shared, self._own[name]]
        words, env = self._words(name, "--role", "relay"), self._env(name)
        program = Program(name, words, logs=self.folder, env=env, listeners=listeners)
        return Node(program, listeners[1].getsockname()[1])

    def node(self, name: str, *words: str) -> Node:
        """Return another node, which isn't running yet."""
        port = free_port()
        env = {**self._env(name), "PRINTREACH_LISTEN": f"127.0.0.1:{port}"}
        return Node(Program(name, self._words(name, *words), logs=self.folder, env=env), port)

    def _words(self, name: str, *words: str) -> list[str]:
        ahead_s = self._ahead_s.get(name)
        serve = ("serve", *words)
        return self._command(*serve) if ahead_s is None else shifted(ahead_s, *serve)

    def _env(self, name: str) -> dict[str, str]:
        return {**self.env, **self._env_of.get(name, {})}


@contextmanager
def nodes(
    folder: Path,
    more_env: Mapping[str, str] | None = None,
    *,
    bus: NatsServer | None = None,
    ahead_s: Mapping[str, float] | None = None,
    env_of: Mapping[str, Mapping[str, str]] | None = None,
    command: Callable[..., list[str]] = printreach,
) -> Iterator[Nodes]:
    """Run all of them on one database.

    bus: one that runs. ahead_s: by how much clocks are wrong, by the names of their nodes.
    env_of: what single nodes have beyond more_env. command: makes the command line of a node
    whose clock is right.
    """
    with ExitStack() as ends:
        bus = bus or ends.enter_context(NatsServer(folder))
        shared = ends.enter_context(_listening())
        port = shared.getsockname()[1]
        env = {
            "PRINTREACH_DETECTOR_WATCH": "false",
            "PRINTREACH_DATA_DIR": str(folder / "service-data"),
            "PRINTREACH_BASE_URL": f"http://localhost:{port}",
            "PRINTREACH_TUNNEL_DOMAIN": f"localhost:{port}",
            "PRINTREACH_NATS_URL": bus.url,
            # Most journeys are about requests that pass by two relays.
            "PRINTREACH_STANDBY_TUNNELS": "false",
            **(more_env or {}),
        }
        running = Nodes(folder, env, shared, bus, ahead_s or {}, env_of or {}, command)
        for node in running.all:
            ends.enter_context(node.program)
            node.wait_ready()
        running.add_owner()
        yield running


def _listening() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0), backlog=1024)
