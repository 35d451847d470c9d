"""A real NATS server, from the wheel among the developers' requirements."""

import asyncio
import sys
from pathlib import Path
from typing import Final

from printreach.backends.bus_nats import NatsBus
from tests.rigs.programs import Program
from tests.rigs.waiting import accepts_connections, free_port

USER: Final = "fleet"
PASSWORD: Final = "p4ss-w0rd"
PATIENCE_S: Final = 30.0


class NatsServer(Program):
    """A server on a port of its own, with one user. It stores nothing.

    monitoring_port: where it tells what it has passed on, by HTTP.
    """

    def __init__(self, folder: Path, password: str = PASSWORD) -> None:
        self.port = free_port()
        self.monitoring_port = free_port()
        program = Path(sys.executable).with_name("nats-server")
        words = [
            "--addr",
            "127.0.0.1",
            "--port",
            str(self.port),
            "--user",
            USER,
            "--pass",
            password,
            "--http_port",
            str(self.monitoring_port),
        ]
        super().__init__("nats", [program, *words], logs=folder)

    @property
    def url(self) -> str:
        return f"nats://{USER}:{PASSWORD}@127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it accepts connections."""
        super().start()
        self.wait_until("listening", lambda: accepts_connections(self.port) or None)


async def settled(bus: NatsBus) -> None:
    """Wait until the server knows what the node subscribes to, and has what it published."""
    async with asyncio.timeout(PATIENCE_S):
        while bus._changed or bus._has_changed.is_set():  # noqa: ASYNC110 - nobody else waits
            await asyncio.sleep(0.01)
        await bus.flush()
