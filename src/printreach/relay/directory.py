"""Which tunnel leads to a printer. Newest wins."""

import asyncio

from printreach.tunnel.tunnel import Tunnel
from printreach.wire.errors import CloseCode

from .commands import ToldTime


class Directory:
    """The tunnels of linked printers that end at this node.

    settle_s: how long agents are expected to come back, after a start.
    """

    def __init__(self, settle_s: float = 0.0) -> None:
        self._loop = asyncio.get_running_loop()
        self._tunnels: dict[str, Tunnel] = {}
        self._told: dict[str, ToldTime] = {}  # of the same agents
        self._awaited: dict[str, asyncio.Event] = {}
        self._settled_at = self._loop.time() + settle_s

    def find(self, printer_id: str) -> Tunnel | None:
        return self._tunnels.get(printer_id)

    def agents_unix_s(self, printer_id: str) -> float:
        """What time the printer's agent takes it to be; there is one."""
        return self._told[printer_id].unix_s_at(self._loop.time())

    def put(self, printer_id: str, tunnel: Tunnel, told: ToldTime) -> None:
        """Route to this tunnel from now on. An older one is told and closed."""
        older = self._tunnels.get(printer_id)
        self._tunnels[printer_id], self._told[printer_id] = tunnel, told
        if older is not None and older is not tunnel:
            older.close(CloseCode.REPLACED, "another agent with the same key has connected")
        if (awaited := self._awaited.pop(printer_id, None)) is not None:
            awaited.set()

    def drop(self, printer_id: str, tunnel: Tunnel) -> bool:
        """Forget a tunnel; False when another one has taken its place."""
        if self._tunnels.get(printer_id) is not tunnel:
            return False
        del self._tunnels[printer_id], self._told[printer_id]
        return True

    @property
    def is_settling(self) -> bool:
        """The node began a moment ago: an agent that isn't here may be on its way."""
        return self._loop.time() < self._settled_at

    async def arrival(self, printer_id: str) -> None:
        """Wait until the printer's agent is here, or not expected any more."""
        awaited = self._awaited.setdefault(printer_id, asyncio.Event())
        try:
            async with asyncio.timeout_at(self._settled_at):
                await awaited.wait()
        except TimeoutError:
            self._awaited.pop(printer_id, None)

    def __len__(self) -> int:
        return len(self._tunnels)
