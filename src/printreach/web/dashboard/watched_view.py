"""The failure watch of a printer's print on an open page, read from the store at intervals."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from printreach.contract.status import StatusResult
from printreach.hub.dashboard import Dashboard
from printreach.hub.denied import Denied
from printreach.hub.own_printers import SeenPrinter
from printreach.hub.watch.prints import WatchOfPrint
from printreach.rules.detector import DetectorOff
from printreach.rules.watching import WatchSettings
from printreach.web.dashboard.printer_view import PrinterView
from printreach.web.dashboard.watch_view import (
    WatchView,
    chart_under_way,
    latest_print_id,
    watch_view,
)

LOOKED_UP_EVERY: Final = timedelta(seconds=5)
"""The watch itself looks no more often."""


@dataclass(slots=True)
class WatchedView:
    """shown: the data drawn last; nothing once the printer belongs to another account.

    The store is read again after LOOKED_UP_EVERY, and when another print runs.
    """

    dashboard: Dashboard
    account_id: str
    shown: WatchView | None = None
    _of: str = ""
    _at: datetime | None = None

    async def look(self, seen: SeenPrinter, view: PrinterView) -> None:
        """Bring `shown` up to date."""
        at, status = self.dashboard.clock.now(), _last_of_print(view, seen)
        print_id = latest_print_id(status)
        if self._of == print_id and self._is_recent(at):
            return
        self._of, self._at = print_id, at
        watch = await self.dashboard.watched.of_print(
            self.account_id, seen.printer.printer_id, print_id
        )
        if isinstance(watch, Denied):
            nothing = WatchSettings(enabled=False)
            watch = WatchOfPrint(print_id="", settings=nothing, off=DetectorOff.SWITCHED_OFF)
        chart = chart_under_way(watch, view.started_at, view.card.ready_at, at)
        now = status if view.is_here else None
        self.shown = watch_view(watch, view.card.href, now, chart, at)

    def _is_recent(self, at: datetime) -> bool:
        return self._at is not None and abs(at - self._at) < LOOKED_UP_EVERY


def _last_of_print(view: PrinterView, seen: SeenPrinter) -> StatusResult | None:
    """Return the last status of the current print; nothing is shown here of one that is over."""
    return seen.reading.status if view.card.progress is not None else None
