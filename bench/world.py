"""Everything that rows measure, started when the first row asks for it and ended with the run."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Final

from bench import nginx, ssh
from bench.plan import Plan
from bench.service import connect, linked_agent, web_server_at
from tests.rigs.programs import Program
from tests.rigs.service import LinkedPrinter, Service, service_on_localhost
from tests.rigs.waiting import accepts_connections, free_port
from tests.rigs.ways import Way

NGINX: Final = "nginx"
SSH: Final = "ssh -R"
OURS: Final = "printreach"


class World:
    """The servers, and the ways to them. Making a part may raise Missing."""

    def __init__(self, folder: Path, plan: Plan, ends: ExitStack) -> None:
        self.folder = folder
        self.plan = plan
        self._ends = ends

    # --- what is behind the tunnel ----------------------------------------------------------------

    @cached_property
    def backend(self) -> nginx.Backend:
        """nginx, as the printer's web server."""
        return self._ends.enter_context(nginx.backend(self.folder))

    @cached_property
    def origin(self) -> int:
        """The port of bench/origin.py."""
        port = free_port()
        argv = [sys.executable, "-m", "bench.origin", str(port)]
        program = self._ends.enter_context(Program("origin", argv, logs=self.folder))
        program.wait_until("listening", lambda: accepts_connections(port))
        return port

    # --- the roads --------------------------------------------------------------------------------

    @cached_property
    def plain(self) -> nginx.PlainProxy:
        """nginx, proxying without a tunnel."""
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
    def backend_printer(self) -> LinkedPrinter:
        return self._agent_for("backend", self.backend.port)

    @cached_property
    def origin_printer(self) -> LinkedPrinter:
        return self._agent_for("origin", self.origin)

    @contextmanager
    def another_service(self, name: str) -> Iterator[Service]:
        """One that no other row has used, where memory is what counts."""
        folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.folder))
        with service_on_localhost(folder) as service:
            yield service

    # --- the ways ---------------------------------------------------------------------------------

    @cached_property
    def to_backend(self) -> dict[str, Way]:
        """All carry the same credentials, so that all get requests of the same size."""
        ours = connect(self.service, self.backend_printer)
        ways = {NGINX: self.plain.to_backend, SSH: self.ssh_tunnel.ports[0]}
        return {OURS: ours, **{name: way_at(port, ours) for name, port in ways.items()}}

    @cached_property
    def to_origin(self) -> dict[str, Way]:
        ours = connect(self.service, self.origin_printer)
        ways = {NGINX: self.plain.to_origin, SSH: self.ssh_tunnel.ports[1]}
        return {OURS: ours, **{name: way_at(port, ours) for name, port in ways.items()}}

    def pids_to(self, printer: LinkedPrinter) -> dict[str, int]:
        """Our processes on the way to a printer."""
        return {"relay": self.service.program.pid, "agent": printer.agent.program.pid}

    def pids_by_way(self, printer: LinkedPrinter) -> dict[str, dict[str, int]]:
        """The processes of every way, by what each is."""
        return {
            NGINX: {"nginx": self.plain.pid},
            SSH: {"ssh": self.ssh_tunnel.pid, "sshd": self.ssh_server.session_pid()},
            OURS: self.pids_to(printer),
        }

    def _agent_for(self, name: str, port: int) -> LinkedPrinter:
        agent = linked_agent(self.service, name, *web_server_at(port))
        return self._ends.enter_context(agent)


def way_at(port: int, like: Way) -> Way:
    """To a server at this port, with the credentials of another way."""
    return Way.straight(f"http://127.0.0.1:{port}").proving(*like.credentials)
