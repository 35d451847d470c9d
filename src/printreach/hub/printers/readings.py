"""The last reading of each printer, within bounds of memory."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import inf
from typing import Final

from msgspec import structs

from printreach.contract.cameras import CameraChoice
from printreach.contract.status import StatusResult
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
