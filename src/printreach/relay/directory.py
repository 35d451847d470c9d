"""The tunnel of each printer. The newest one replaces an older one."""

import asyncio
from typing import Final

from printreach.tunnel.tunnel import Tunnel
from printreach.wire.errors import CloseCode

from .commands import AgentClock

STEP_S: Final = 0.25


class Directory:
    """The tunnels of linked printers that end at this node.

    settle_s: how long agents are expected to come back after a start. It is counted in steps: while
    the process is stalled no time is counted, and agents that came meanwhile are accepted after it.
    """

    def __init__(self, settle_s: float = 0.0) -> None:
        self._loop = asyncio.get_running_loop()
        self._tunnels: dict[str, Tunnel] = {}
        self._clocks: dict[str, AgentClock] = {}  # of the same agents
        self._platforms: dict[str, str] = {}
        self._arrivals: dict[str, asyncio.Event] = {}
        self._await_agents(settle_s)

    def find(self, printer_id: str) -> Tunnel | None:
        return self._tunnels.get(printer_id)

    def agents_unix_s(self, printer_id: str) -> float:
        """Return the time of the printer's agent, which must be here."""
        return self._clocks[printer_id].unix_s_at(self._loop.time())

    def platform(self, printer_id: str) -> str:
        """Return the platform that the printer's agent reported; "" while there is none."""
        return self._platforms.get(printer_id, "")

    def put(self, printer_id: str, tunnel: Tunnel, clock: AgentClock, platform: str = "") -> None:
        """Route to this tunnel from now on. An older one is closed with REPLACED."""
        self._platforms[printer_id] = platform
        older = self._tunnels.get(printer_id)
        self._tunnels[printer_id], self._clocks[printer_id] = tunnel, clock
        if older is not None and older is not tunnel:
            older.close(CloseCode.REPLACED, "another agent with the same key has connected")
        if (arrival := self._arrivals.pop(printer_id, None)) is not None:
            arrival.set()

    def drop(self, printer_id: str, tunnel: Tunnel) -> bool:
        """Forget a tunnel; False if another one has replaced it."""
        if self._tunnels.get(printer_id) is not tunnel:
            return False
        del self._tunnels[printer_id], self._clocks[printer_id], self._platforms[printer_id]
        return True

    @property
    def is_settling(self) -> bool:
        """True shortly after the start: an agent that isn't here may be connecting."""
        return self._is_settling

    async def arrival(self, printer_id: str) -> None:
        """Wait until the printer's agent is here, or no longer expected."""
        if self._is_settling:
            await self._arrivals.setdefault(printer_id, asyncio.Event()).wait()

    def __len__(self) -> int:
        return len(self._tunnels)

    def _await_agents(self, seconds: float) -> None:
        self._is_settling = seconds > 0
        if self._is_settling:
            step_s = min(seconds, STEP_S)
            self._loop.call_later(step_s, self._await_agents, seconds - step_s)
            return
        for arrival in self._arrivals.values():
            arrival.set()
        self._arrivals.clear()
