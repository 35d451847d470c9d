"""The temperatures of the last two hours by printer, within bounds of memory."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from printreach.contract.status import Temps
from printreach.contract.temperatures import INTERVAL_S, KEPT_S, TemperatureHistory
from printreach.contract.unset import UNSET
from printreach.rules.printers import OwnedPrinter

SPAN: Final = timedelta(seconds=KEPT_S)
INTERVAL: Final = timedelta(seconds=INTERVAL_S)
GAP: Final = 3 * INTERVAL
"""A longer time without a reading: nobody watched, and the agent is asked what it knows of it."""
MAX_PRINTERS: Final = 200
"""In memory, about 50 MB if all of them were watched for two hours."""


@dataclass(frozen=True, slots=True)
class TemperatureReading:
    at: datetime
    temps: Temps


@dataclass(slots=True)
class _Series:
    """The readings of one printer, oldest first. has_gap: the agent may know more."""

    readings: list[TemperatureReading] = field(default_factory=list)
    has_gap: bool = True


@dataclass(slots=True)
class Temperatures:
    """The temperatures that were read while somebody watched, and those that agents told of."""

    _kept: OrderedDict[OwnedPrinter, _Series] = field(default_factory=OrderedDict)

    def note(self, printer: OwnedPrinter, at: datetime, temps: Temps) -> None:
        """Keep what was just read, unless the last reading is recent."""
        series = self._kept.setdefault(printer, _Series())
        self._kept.move_to_end(printer)
        if len(self._kept) > MAX_PRINTERS:
            self._kept.popitem(last=False)
        if series.readings and at <= series.readings[-1].at - INTERVAL:
            series.readings.clear()  # the clock was ahead
        if series.readings and at < series.readings[-1].at + INTERVAL:
            return
        if series.readings and at > series.readings[-1].at + GAP:
            series.has_gap = True
        series.readings.append(TemperatureReading(at, temps))
        if series.readings[0].at < at - SPAN - GAP:  # not each time: it copies the list
            series.readings = _since(series.readings, at - SPAN)

    def has_gap(self, printer: OwnedPrinter) -> bool:
        """Return whether the agent may know more of the printer's last hours."""
        series = self._kept.get(printer)
        return series is not None and series.has_gap

    def fill(self, printer: OwnedPrinter, told: Sequence[TemperatureReading]) -> None:
        """Take over what the agent told, which replaces what was read in the same time."""
        series = self._kept.get(printer)
        if series is None:  # evicted meanwhile
            return
        series.has_gap = False
        if told:
            before = [reading for reading in series.readings if reading.at < told[0].at]
            after = [reading for reading in series.readings if reading.at > told[-1].at]
            series.readings = _since([*before, *told, *after], told[-1].at - SPAN)

    def readings_since(
        self, printer: OwnedPrinter, since: datetime
    ) -> Sequence[TemperatureReading]:
        """Return those since then, oldest first."""
        series = self._kept.get(printer)
        return _since(series.readings, since) if series is not None else []


def readings_of(history: TemperatureHistory, at: datetime) -> Sequence[TemperatureReading]:
    """Return an agent's readings, oldest first, as far as its lists go together."""
    columns = zip(
        history.age_sec,
        history.bed_actual,
        history.bed_target,
        history.hotend_actual,
        history.hotend_target,
        history.chamber_actual,
        history.chamber_target,
        strict=False,
    )
    readings = [
        TemperatureReading(
            at - timedelta(seconds=age_s),
            Temps(
                bed_actual=bed,
                bed_target=bed_target,
                hotend_actual=hotend,
                hotend_target=hotend_target,
                chamber_actual=UNSET if chamber is None else chamber,
                chamber_target=UNSET if chamber_target is None else chamber_target,
            ),
        )
        for age_s, bed, bed_target, hotend, hotend_target, chamber, chamber_target in columns
        if 0 <= age_s <= KEPT_S
    ]
    return sorted(readings, key=lambda reading: reading.at)


def _since(readings: Sequence[TemperatureReading], since: datetime) -> list[TemperatureReading]:
    return [reading for reading in readings if reading.at >= since]
