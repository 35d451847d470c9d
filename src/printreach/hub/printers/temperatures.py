"""Recent temperatures of watched printers, for a chart."""

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from printreach.contract.status import Temps
from printreach.rules.printers import OwnedPrinter

SPAN: Final = timedelta(minutes=30)
APART: Final = timedelta(seconds=5)
MAX_POINTS: Final = 400
MAX_PRINTERS: Final = 500
"""In memory, about 20 MB if all of them were watched for half an hour."""


@dataclass(frozen=True, slots=True)
class TemperatureReading:
    """The temperatures of one reading."""

    at: datetime
    hotend_c: float
    bed_c: float


@dataclass(slots=True)
class Temperatures:
    """The recent temperatures by printer; lost when the process ends."""

    _kept: OrderedDict[OwnedPrinter, deque[TemperatureReading]] = field(default_factory=OrderedDict)

    def note(self, printer: OwnedPrinter, at: datetime, temps: Temps) -> None:
        readings = self._kept.setdefault(printer, deque(maxlen=MAX_POINTS))
        if readings and at <= readings[-1].at - APART:
            readings.clear()  # the clock was ahead
        if readings and at < readings[-1].at + APART:
            return
        readings.append(TemperatureReading(at, temps.hotend_actual, temps.bed_actual))
        self._kept.move_to_end(printer)
        if len(self._kept) > MAX_PRINTERS:
            self._kept.popitem(last=False)

    def readings_since(
        self, printer: OwnedPrinter, since: datetime
    ) -> Sequence[TemperatureReading]:
        """Return those since then, oldest first."""
        return [one for one in self._kept.get(printer, ()) if one.at >= since]
