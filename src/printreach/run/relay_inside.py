"""Access of this process's other roles to its relay."""

import asyncio
import errno
from collections.abc import Callable

from printreach.relay.node import RelayNode


class RelayInside:
    """Refuses while there is no relay: the web role starts first, and may run without one."""

    def __init__(self) -> None:
        self.node: RelayNode | None = None

    async def connect(self, protocol: Callable[[], asyncio.Protocol]) -> object:
        """Implement http1.client.Connect. Raises OSError."""
        if self.node is None:
            raise ConnectionRefusedError(errno.ECONNREFUSED, "no relay runs in this process")
        return await self.node.connect_inside(protocol)

    async def make(self, printer_id: str, app_name: str) -> str | None:
        """Implement ports.HostKeys."""
        if self.node is None:
            return None
        return await self.node.host_keys.make(printer_id, app_name)
