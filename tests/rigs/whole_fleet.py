"""A whole fleet on this machine: HAProxy, nodes of each role, NATS and PostgreSQL."""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from tests.rigs.nats_server import NatsServer
from tests.rigs.nodes import Node
from tests.rigs.postgresql import PostgresqlServer
from tests.rigs.programs import Program
from tests.rigs.proxies import haproxy_program
from tests.rigs.service import Service, printreach
from tests.rigs.waiting import accepts_connections, free_port

COUNTS: Final = {"relay": 3, "web": 2, "worker": 2, "detector": 2}
"""How many nodes there are of each role."""
STOP_NOTICE_S: Final = 4
"""HAProxy looks once a second, and believes the second look."""


class WholeFleet(Service):
    """The service at HAProxy's port, and the nodes behind it by role.

    Not one of them listens where another does, so only HAProxy knows all of them.
    """

    def __init__(
        self,
        folder: Path,
        port: int,
        env: Mapping[str, str],
        bus: NatsServer,
        counts: Mapping[str, int],
    ) -> None:
        ports = {role: [free_port() for _ in range(count)] for role, count in counts.items()}
        detectors = [f"http://127.0.0.1:{number}" for number in ports["detector"]]
        settings = {
            "PRINTREACH_DATA_DIR": str(folder / "service"),
            "PRINTREACH_LISTEN": f"127.0.0.1:{port}",
            "PRINTREACH_BASE_URL": f"http://localhost:{port}",
            "PRINTREACH_TUNNEL_DOMAIN": f"localhost:{port}",
            "PRINTREACH_TRUSTED_PROXIES": "127.0.0.1/32",
            "PRINTREACH_NATS_URL": bus.url,
            "PRINTREACH_DETECTOR_NODES": ",".join(detectors),
            "PRINTREACH_DETECTOR_TOKEN": secrets.token_hex(32),
            "PRINTREACH_REQUEST_ID_HEADER": "X-Forwarded-Request-Id",
            "PRINTREACH_STOP_NOTICE": str(STOP_NOTICE_S),
            **env,
        }
        super().__init__(folder, port, settings)
        self.bus = bus
        self.nodes = {
            role: [self._node(role, number, own) for number, own in enumerate(numbers, 1)]
            for role, numbers in ports.items()
        }
        addresses = {
            role: [f"127.0.0.1:{own}" for own in numbers] for role, numbers in ports.items()
        }
        self.proxy, _ = haproxy_program(
            folder, "localhost", relays=addresses["relay"], web=addresses["web"], port=port
        )

    @property
    def programs(self) -> list[Program]:
        """All nodes, in the order in which they are started."""
        return [node.program for nodes in self.nodes.values() for node in nodes]

    def start(self) -> None:
        """Start every node. The first one makes the tables and the keys of all."""
        first, *others = (node for nodes in self.nodes.values() for node in nodes)
        first.program.start()
        first.wait_ready()
        for node in others:
            node.program.start()
        for node in others:
            node.wait_ready()
        self.proxy.start()
        self.proxy.wait_until("listening", lambda: accepts_connections(self.port))

    def stop(self) -> None:
        """Stop all of them at once; each takes some seconds."""
        running = [program for program in [self.proxy, *self.programs] if program.is_running]
        for program in running:
            program.ask_to_end()
        for program in running:
            program.stop()

    def _node(self, role: str, number: int, port: int) -> Node:
        env = {**self.env, "PRINTREACH_LISTEN": f"127.0.0.1:{port}"}
        words = printreach("serve", "--role", role)
        return Node(Program(f"{role}-{number}", words, logs=self.folder, env=env), port)


@contextmanager
def whole_fleet(
    folder: Path,
    *,
    port: int | None = None,
    env: Mapping[str, str] | None = None,
    server: PostgresqlServer | None = None,
    counts: Mapping[str, int] = COUNTS,
) -> Iterator[WholeFleet]:
    """Run all of it. port: HAProxy's. server: by default one that stores nothing for long."""
    with ExitStack() as ends:
        database = ends.enter_context(server or PostgresqlServer())
        url = ends.enter_context(database.database())
        bus = ends.enter_context(NatsServer(folder))
        settings = {"PRINTREACH_DATABASE_URL": url, **(env or {})}
        fleet = WholeFleet(folder, port or free_port(), settings, bus, counts)
        ends.callback(fleet.stop)
        fleet.start()
        yield fleet
