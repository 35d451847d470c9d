"""The stored portal flows, and keys of a printer's own software."""

from datetime import datetime
from typing import Protocol

from printreach.rules.portal import Flow


class FlowRecords(Protocol):
    """Portal flows."""

    async def add(self, flow: Flow) -> None: ...
    async def get(self, flow_id: str) -> Flow | None: ...
    async def put(self, flow: Flow) -> None:
        """Store the flow, in place of the one with that id."""
        ...

    async def forget(self, begun_before: datetime) -> None: ...


class HostKeys(Protocol):
    """Keys of a printer's own software, OctoPrint or Moonraker, created by the printer's agent."""

    async def make(self, printer_id: str, app_name: str) -> str | None:
        """Return a key for that app within half a minute; None if there is none, for any reason."""
        ...
