"""Where agents are received, and sent away when the service stops."""

import asyncio

from printreach.tunnel.beat import Beat
from printreach.wire.errors import CloseCode

from .directory import Directory
from .event_intake import EventBudget
from .host_keys import HostKeyDesk
from .offers import OfferBudget
from .printer_subscriptions import PrinterSubscriptions
from .sign_in import Identity
from .unsigned import Place, UnsignedAgents, UnsignedLink
from .visit import AgentsOutside, AgentVisit, Desk

__all__ = ["AgentDesk", "AgentsOutside", "Identity"]


class AgentDesk:
    """Receives agents and keeps their tunnels."""

    def __init__(self, outside: AgentsOutside, directory: Directory) -> None:
        self._outside = outside
        self.host_keys = HostKeyDesk(outside.token_bytes)
        self._desk = Desk(
            directory=directory,
            offers=OfferBudget(asyncio.get_running_loop().time()),
            printer_subscriptions=PrinterSubscriptions(outside.agents, outside.bus),
            beat=Beat(),
            host_keys=self.host_keys,
            event_budget=EventBudget(),
        )
        self._visits: set[AgentVisit] = set()
        self.unsigned = UnsignedAgents()

    def accept(self, link: UnsignedLink, peer: str, place: Place) -> None:
        """place: that of the connection, which is left when the agent has signed in or is gone."""
        visit = AgentVisit(self._outside, self._desk, link, peer, place)
        self._visits.add(visit)
        visit.task.add_done_callback(lambda _: self._visits.discard(visit))

    def __len__(self) -> int:
        return len(self._visits)

    def drain(self) -> None:
        """Ask agents to move: they connect anew at once, and finish here what runs."""
        for visit in self._visits:
            visit.tunnel.drain()

    async def close(self) -> None:
        """Tell every agent to connect again, elsewhere or in a moment."""
        visits = list(self._visits)
        for visit in visits:
            visit.tunnel.close(CloseCode.RESTARTING, "the service restarts")
        await asyncio.gather(*(visit.task for visit in visits), return_exceptions=True)
        await self._desk.printer_subscriptions.close()
