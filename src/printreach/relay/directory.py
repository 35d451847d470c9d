"""Which tunnel leads to a printer. Newest wins."""

from printreach.tunnel.tunnel import Tunnel
from printreach.wire.errors import CloseCode


class Directory:
    """The tunnels of linked printers that end at this node."""

    def __init__(self) -> None:
        self._tunnels: dict[str, Tunnel] = {}

    def find(self, printer_id: str) -> Tunnel | None:
        return self._tunnels.get(printer_id)

    def put(self, printer_id: str, tunnel: Tunnel) -> None:
        """Route to this tunnel from now on. An older one is told and closed."""
        older = self._tunnels.get(printer_id)
        self._tunnels[printer_id] = tunnel
        if older is not None and older is not tunnel:
            older.close(CloseCode.REPLACED, "another agent with the same key has connected")

    def drop(self, printer_id: str, tunnel: Tunnel) -> bool:
        """Forget a tunnel; False when another one has taken its place."""
        if self._tunnels.get(printer_id) is not tunnel:
            return False
        del self._tunnels[printer_id]
        return True

    def __len__(self) -> int:
        return len(self._tunnels)
