"""What the portal asks of the outside."""

from datetime import datetime
from typing import Protocol

from printreach.rules.portal import Flow


class FlowRecords(Protocol):
    """People's ways through the portal."""

    async def add(self, flow: Flow) -> None: ...
    async def get(self, flow_id: str) -> Flow | None: ...
    async def put(self, flow: Flow) -> None:
        """In place of the one with that id."""
        ...

    async def forget(self, begun_before: datetime) -> None: ...


class HostKeys(Protocol):
    """Keys of a printer's own software, OctoPrint or Moonraker, made by the printer's agent."""

    async def make(self, printer_id: str, app_name: str) -> str | None:
        """A key for that app; None, for whatever reason, within half a minute."""
        ...
