"""The relay of this process, as its other roles reach it."""

import asyncio
import errno
from collections.abc import Callable

from printreach.relay.node import RelayNode


class InProcessRelay:
    """This process's relay for its other roles.

    It refuses while there is none: the web role starts first. In a process without the relay's role
    it listens nowhere, and reaches printers by the nodes that hold their tunnels. It is the
    process's ports.Tunnels, too.
    """

    def __init__(self, node_id: str) -> None:
        self.node_id = node_id
        self.node: RelayNode | None = None

    async def connect(self, protocol: Callable[[], asyncio.Protocol]) -> object:
        """Implement http1.client.Connect. Raises OSError."""
        if self.node is None:
            raise ConnectionRefusedError(errno.ECONNREFUSED, "the relay has not started yet")
        return await self.node.connect_inside(protocol)

    async def make(self, printer_id: str, app_name: str) -> str | None:
        """Implement ports.HostKeys."""
        if self.node is None:
            return None
        return await self.node.make_host_key(printer_id, app_name)

    def holder_of(self, printer_id: str) -> str | None:
        """Implement ports.Tunnels."""
        return None if self.node is None else self.node.holder_of(printer_id)
