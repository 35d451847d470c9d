"""The stored portal flows, and keys of a printer's own software."""

from typing import Protocol


class HostKeys(Protocol):
    """Keys of a printer's own software, OctoPrint or Moonraker, created by the printer's agent."""

    async def make(self, printer_id: str, app_name: str) -> str | None:
        """Return a key for that app within half a minute; None if there is none, for any reason."""
        ...
