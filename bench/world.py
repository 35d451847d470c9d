"""The servers that rows measure, started when the first row needs them and stopped with the run."""

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Final

from bench import nginx, ssh
from bench.measures import ratios
from bench.plan import Plan
from bench.report import Figure
from bench.service import connect, linked_agent, web_server_at
from tests.rigs.programs import Program
from tests.rigs.service import LinkedPrinter, Service, printreach, service_on_localhost
from tests.rigs.waiting import accepts_connections, free_port
from tests.rigs.ways import Way

NGINX: Final = "nginx"
SSH: Final = "ssh -R"
OURS: Final = "printreach"
OURS_TLS: Final = "with TLS"
"""Ours as well; the agent's tunnel is encrypted, as that of `ssh -R` always is."""
COMPILED: Final = "compiled"
"""Ours as well, from the build of `make compiled` if it is there: a service and agents of it."""
COMPILED_TLS: Final = "compiled, with TLS"

_COMPILED_PROGRAM: Final = Path("build/compiled/bin/printreach").resolve()


class World:
    """The servers, and the ways to them. Starting one may raise Missing."""

    def __init__(self, folder: Path, plan: Plan, ends: ExitStack) -> None:
        self.folder = folder
        self.plan = plan
        self._ends = ends

    # --- servers behind the tunnel ----------------------------------------------------------------

    @cached_property
    def backend(self) -> nginx.Backend:
        """Start nginx as the printer's web server."""
        return self._ends.enter_context(nginx.backend(self.folder))

    @cached_property
    def origin(self) -> int:
        """The port of bench/origin.py."""
        port = free_port()
        argv = [sys.executable, "-m", "bench.origin", str(port)]
        program = self._ends.enter_context(Program("origin", argv, logs=self.folder))
        program.wait_until("listening", lambda: accepts_connections(port))
        return port

    # --- proxies and tunnels
    # --------------------------------------------------------------------------------

    @cached_property
    def plain(self) -> nginx.PlainProxy:
        """Start nginx as a proxy without a tunnel."""
        proxy = nginx.plain_proxy(self.folder, backend=self.backend.port, origin=self.origin)
        return self._ends.enter_context(proxy)

    @cached_property
    def ssh_server(self) -> ssh.SshServer:
        return self._ends.enter_context(ssh.ssh_server(self.folder))

    @cached_property
    def ssh_tunnel(self) -> ssh.SshTunnel:
        """`ssh -R` for the backend and the origin."""
        targets = [self.backend.port, self.origin]
        return self._ends.enter_context(self.ssh_server.tunnel("both", targets))

    @cached_property
    def service(self) -> Service:
        """The service that most rows share."""
        return self._ends.enter_context(self.another_service("shared"))

    @cached_property
    def compiled_service(self) -> Service:
        folder = Path(tempfile.mkdtemp(prefix="compiled-", dir=self.folder))
        return self._ends.enter_context(service_on_localhost(folder, command=_compiled))

    @cached_property
    def tls_proxy(self) -> nginx.TlsProxy:
        """Start the TLS proxy in front of the service."""
        return self._ends.enter_context(nginx.tls_proxy(self.folder, self.service.port))

    @cached_property
    def compiled_tls_proxy(self) -> nginx.TlsProxy:
        folder = Path(tempfile.mkdtemp(prefix="compiled-tls-", dir=self.folder))
        return self._ends.enter_context(nginx.tls_proxy(folder, self.compiled_service.port))

    @cached_property
    def backend_printers(self) -> dict[str, LinkedPrinter]:
        return self._printers("backend", self.backend.port)

    @cached_property
    def origin_printers(self) -> dict[str, LinkedPrinter]:
        return self._printers("origin", self.origin)

    @contextmanager
    def another_service(self, name: str, env: Mapping[str, str] | None = None) -> Iterator[Service]:
        """Start a service that no other row has used, to measure memory."""
        folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.folder))
        with service_on_localhost(folder, more_env=env) as service:
            yield service

    # --- the ways ---------------------------------------------------------------------------------

    @cached_property
    def to_backend(self) -> dict[str, Way]:
        printers = self.backend_printers
        return self._ways(printers, self.plain.to_backend, self.ssh_tunnel.ports[0])

    @cached_property
    def to_origin(self) -> dict[str, Way]:
        return self._ways(self.origin_printers, self.plain.to_origin, self.ssh_tunnel.ports[1])

    def pids_by_way(self, printers: dict[str, LinkedPrinter]) -> dict[str, dict[str, int]]:
        """Return the processes between caller and printer, by their role."""
        pids = {name: self._pids_to(name, printer) for name, printer in printers.items()}
        pids[OURS_TLS]["nginx"] = self.tls_proxy.pid
        if COMPILED_TLS in pids:
            pids[COMPILED_TLS]["nginx"] = self.compiled_tls_proxy.pid
        return {
            **pids,
            NGINX: {"nginx": self.plain.pid},
            SSH: {"ssh": self.ssh_tunnel.pid, "sshd": self.ssh_server.session_pid()},
        }

    # --- helpers ----------------------------------------------------------------------------------

    def _printers(self, name: str, port: int) -> dict[str, LinkedPrinter]:
        """Link the same server as printers, whose agents dial without TLS and with it."""
        each = [(OURS, OURS_TLS, self.service, self.tls_proxy, printreach)]
        if COMPILED in builds():
            service, proxy = self.compiled_service, self.compiled_tls_proxy
            each.append((COMPILED, COMPILED_TLS, service, proxy, _compiled))
        options, printers = web_server_at(port), {}
        for plain, with_tls, service, proxy, command in each:
            trust = {"SSL_CERT_FILE": str(proxy.root)}
            agents = {
                plain: linked_agent(service, name, *options, command=command),
                with_tls: linked_agent(
                    service,
                    f"{name}-tls",
                    *options,
                    service_url=proxy.url,
                    env=trust,
                    command=command,
                ),
            }
            for way, agent in agents.items():
                printers[way] = self._ends.enter_context(agent)
        return printers

    def _ways(
        self, printers: dict[str, LinkedPrinter], plain_port: int, ssh_port: int
    ) -> dict[str, Way]:
        """Return the ways; all carry credentials of one length, so that all requests have the same
        size.
        """
        ours = {
            name: connect(self._service_of(name), printer) for name, printer in printers.items()
        }
        others = {NGINX: plain_port, SSH: ssh_port}
        return {**ours, **{name: way_at(port, ours[OURS]) for name, port in others.items()}}

    def _pids_to(self, way: str, printer: LinkedPrinter) -> dict[str, int]:
        relay = self._service_of(way).program.pid
        return {"relay": relay, "agent": printer.agent.program.pid}

    def _service_of(self, way: str) -> Service:
        return self.compiled_service if way in (COMPILED, COMPILED_TLS) else self.service


def _compiled(*words: str | Path) -> list[str]:
    """The command line of the compiled build."""
    return [str(_COMPILED_PROGRAM), *map(str, words)]


def builds() -> dict[str, Callable[..., list[str]]]:
    """Return what makes the command lines of each build that is there."""
    here = {OURS: printreach}
    return {**here, COMPILED: _compiled} if _COMPILED_PROGRAM.exists() else here


def both_builds(
    key: str,
    taken: Mapping[str, Sequence[float]],
    other: str,
    ours: tuple[str, str] = (OURS, COMPILED),
) -> Figure:
    """Return the figure of our values as ratios to another way's, with the compiled build's.

    ours: the ways of both builds.
    """
    interpreted, compiled = ours
    of_compiled = ratios(taken[compiled], taken[other]) if compiled in taken else ()
    return Figure.of(key, ratios(taken[interpreted], taken[other]), of_compiled)


def way_at(port: int, like: Way) -> Way:
    """Return the way to a server at this port, with the credentials of another way."""
    return Way.straight(f"http://127.0.0.1:{port}").proving(*like.credentials)


def within_builds(key: str, taken: Mapping[tuple[str, str], Sequence[float]], *ways: str) -> Figure:
    """Return the figure of one way's values as ratios to another's, each build by itself.

    taken: by build and way. ways: the one, and the other.
    """
    one, other = ways
    there = {build for build, _ in taken}
    of_build = {build: ratios(taken[build, one], taken[build, other]) for build in there}
    return Figure.of(key, of_build[OURS], of_build.get(COMPILED, ()))


def compiled_of_interpreted(key: str, taken: Mapping[str, Sequence[float]]) -> Iterator[Figure]:
    """Yield the figure of the compiled build's values as ratios to the interpreted one's."""
    if COMPILED in taken:
        yield Figure.of(key, ratios(taken[COMPILED], taken[OURS]))
