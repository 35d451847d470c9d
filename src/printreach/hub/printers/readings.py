"""The last reading of each printer, and its temperatures of two hours, within bounds of memory."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from math import inf
from typing import Final

from msgspec import structs

from printreach.contract.cameras import CameraChoice
from printreach.contract.status import StatusResult, Temps
from printreach.contract.temperatures import INTERVAL_S, KEPT_S, TemperatureHistory
from printreach.contract.unset import UNSET
from printreach.ports.printer_http import PrinterRefusal
from printreach.rules.printers import OwnedPrinter
from printreach.rules.printers.cameras import with_choices
from printreach.rules.watch.choices import Dismissal

MAX_BYTES: Final = 192 * 1024 * 1024
"""Of all readings in memory: usual ones of 10,000 printers, or the largest allowed of 50."""
BYTES_PER_JSON_BYTE: Final = 16
"""Memory of a parsed status for each byte of JSON. Measured: 5 for usual ones, 11 for lists of
short items in short lists, which are the worst."""
BYTES_BESIDE: Final = 1024

SPAN: Final = timedelta(seconds=KEPT_S)
INTERVAL: Final = timedelta(seconds=INTERVAL_S)
GAP: Final = 3 * INTERVAL
"""A longer time without a reading: nobody watched, and the agent is asked what it knows of it."""
MAX_PRINTERS: Final = 200
"""In memory, about 50 MB if all of them were watched for two hours."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """The last reading of a printer, and whether it is a fresh one.

    status, seen_at: None while nothing was read. refusal: why the latest request failed; the status
    is an older one then. asked_at: when that was; None if it was never asked. json_bytes: the
    length of the answer that brought the status.
    """

    status: StatusResult | None = None
    seen_at: datetime | None = None
    refusal: PrinterRefusal | None = None
    asked_at: datetime | None = None
    json_bytes: int = 0

    @property
    def weight(self) -> int:
        """Return about how many bytes of memory it takes."""
        return self.json_bytes * BYTES_PER_JSON_BYTE + BYTES_BESIDE


NOT_SEEN: Final = Reading()


def reading_as_chosen(reading: Reading, choices: Sequence[CameraChoice]) -> Reading:
    """Return the reading with its cameras as the printer's owner chose, whatever the agent knows of
    that.
    """
    if reading.status is None:
        return reading
    cameras = with_choices(reading.status.list_webcams, choices)
    if cameras == reading.status.list_webcams:
        return reading
    return replace(reading, status=structs.replace(reading.status, list_webcams=cameras))


def is_alarm_dismissed(reading: Reading, dismissal: Dismissal | None) -> bool:
    """Whether the dismissal is of the print that was read, which has had no alarm since."""
    if dismissal is None or reading.status is None or reading.seen_at is None:
        return False
    service = reading.status.service_status
    detector = service.detector
    alarms = (detector.time_since_last_warn_sec, detector.time_since_last_pause_sec)
    alarm_ago_s = min((ago_s for ago_s in alarms if ago_s is not None), default=inf)
    is_later = (reading.seen_at - dismissal.at).total_seconds() <= alarm_ago_s
    return is_later and service.most_recent_print_id_str == dismissal.print_id


def reading_without_alarm(reading: Reading) -> Reading:
    """Return the reading as if failure detection had neither warned of the print nor paused it."""
    if reading.status is None:
        return reading
    service = reading.status.service_status
    detector = structs.replace(
        service.detector, time_since_last_warn_sec=None, time_since_last_pause_sec=None
    )
    service = structs.replace(service, detector=detector)
    return replace(reading, status=structs.replace(reading.status, service_status=service))


@dataclass(slots=True)
class Readings:
    """The newest reading of each printer; the least recently renewed is evicted first."""

    max_bytes: int = MAX_BYTES
    _kept: OrderedDict[OwnedPrinter, Reading] = field(default_factory=OrderedDict)
    _bytes: int = 0

    def keep(self, printer: OwnedPrinter, reading: Reading) -> None:
        self._forget(printer)
        self._kept[printer] = reading
        self._bytes += reading.weight
        while self._bytes > self.max_bytes:
            self._forget(next(iter(self._kept)))

    def latest(self, printer: OwnedPrinter) -> Reading:
        return self._kept.get(printer, NOT_SEEN)

    @property
    def by_printer(self) -> Mapping[OwnedPrinter, Reading]:
        return self._kept

    def _forget(self, printer: OwnedPrinter) -> None:
        before = self._kept.pop(printer, None)
        if before is not None:
            self._bytes -= before.weight


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
