"""All agents' connections to this node: accepted, drained and closed."""

import asyncio
from typing import Final

from printreach.tunnel.shared_timer import SharedTimer
from printreach.wire.errors import CloseCode

from .agent_connection import AgentConnection
from .agent_dependencies import AgentContext, AgentDependencies
from .directory import Directory
from .event_intake import EventLimiter
from .host_keys import HostKeyRequests
from .printer_subscriptions import PrinterSubscriptions
from .sign_in import Identity
from .unsigned_agents import UnsignedAgents, UnsignedLink, UnsignedSlot

FINISH_POLL_S: Final = 0.05

__all__ = ["AgentConnections", "AgentDependencies", "Identity"]


class AgentConnections:
    """Accepts agents' connections and keeps track of them."""

    def __init__(self, dependencies: AgentDependencies, directory: Directory) -> None:
        self._dependencies = dependencies
        self.host_keys = HostKeyRequests(dependencies.token_bytes)
        self._context = AgentContext(
            directory=directory,
            printer_subscriptions=PrinterSubscriptions(dependencies.agents, dependencies.bus),
            shared_timer=SharedTimer(),
            host_keys=self.host_keys,
            event_limiter=EventLimiter(),
        )
        self._connections: set[AgentConnection] = set()
        self.unsigned = UnsignedAgents()

    def accept(self, link: UnsignedLink, peer: str, slot: UnsignedSlot) -> None:
        """slot: released when the agent has signed in or is gone."""
        connection = AgentConnection(self._dependencies, self._context, link, peer, slot)
        self._connections.add(connection)
        connection.task.add_done_callback(lambda _: self._connections.discard(connection))

    def __len__(self) -> int:
        return len(self._connections)

    def drain(self) -> None:
        """Ask agents to move: they connect again at once, and running requests finish here.

        One that has not signed in yet serves nothing here, so it is sent away.
        """
        for connection in self._connections:
            connection.tunnel.drain()
            if not connection.is_serving:
                connection.tunnel.close(CloseCode.RESTARTING, "the service restarts")

    async def finish_requests(self, grace_s: float) -> None:
        """Wait for what is under way on any tunnel, also for other nodes."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + grace_s
        while any(connection.tunnel.session.stream_count for connection in self._connections):
            if loop.time() >= deadline:
                return
            await asyncio.sleep(FINISH_POLL_S)

    async def close(self) -> None:
        """Close every tunnel; agents connect again, to another node or a moment later."""
        connections = list(self._connections)
        for connection in connections:
            connection.tunnel.close(CloseCode.RESTARTING, "the service restarts")
        await asyncio.gather(
            *(connection.task for connection in connections), return_exceptions=True
        )
        await self._context.printer_subscriptions.close()
