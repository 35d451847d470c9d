"""The last prints of a printer as an open page shows them, looked up now and then."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from printreach.hub.dashboard import Dashboard
from printreach.hub.own_printers import SeenPrinter
from printreach.web.dashboard.cards import state_of
from printreach.web.print_rows import PrintRow, row_of

LAST_PRINTS: Final = 3
LOOKED_UP_EVERY: Final = timedelta(seconds=3)
"""History is written a moment after a printer's state has changed."""


@dataclass(slots=True)
class LastPrints:
    """rows: the newest first. The store is read again after LOOKED_UP_EVERY or another state."""

    dashboard: Dashboard
    account_id: str
    rows: list[PrintRow] = field(default_factory=list)
    _state: str = ""
    _at: datetime | None = None

    async def look(self, seen: SeenPrinter) -> None:
        """Bring `rows` up to date."""
        at, state, printer_id = self.dashboard.clock.now(), state_of(seen), seen.printer.printer_id
        is_recent = self._at is not None and abs(at - self._at) < LOOKED_UP_EVERY
        if is_recent and state == self._state:
            return
        self._state, self._at = state, at
        page = await self.dashboard.history.page(self.account_id, printer_id, None, LAST_PRINTS)
        self.rows = [row_of(one, at, frozenset({printer_id})) for one in page.prints]
