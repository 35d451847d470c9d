"""The chart of a printer's temperatures: lines, targets, axes, and the same in words."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from math import ceil, isfinite
from typing import Final, TypeAlias

from printreach.contract.status import Temps
from printreach.contract.unset import UnsetType
from printreach.hub.printers.readings import GAP, SPAN, TemperatureReading
from printreach.languages import _

MAX_C: Final = 500.0
"""Whatever a printer reports, the axis ends here."""
MAX_POINTS: Final = 120
"""Across the whole width; more can't be told apart."""
_ROWS: Final = 12
"""Of the table."""
_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
_SPANS: Final = {10: 5, 30: 10, 60: 15, 120: 30}
"""Minutes across the chart, the shortest first, and between the labels of its time axis."""

Point: TypeAlias = tuple[float, float]
"""From 0 to 1 across, and from 0 to 1 upwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A heater's line. name: "hotend", "bed" or "chamber".

    actual, target: pieces without a gap; no target while the heater is off. now_c, lowest_c,
    highest_c: degrees Celsius.
    """

    name: str
    actual: Sequence[Sequence[Point]]
    target: Sequence[Sequence[Point]]
    now_c: float
    lowest_c: float
    highest_c: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A label of an axis. share: where it stands, from 0 to 1. text: "100°", "30 min", "now"."""

    share: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the table. values: for each line the temperature and its target, where known."""

    at: datetime
    values: Sequence[tuple[float | None, float | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TemperatureChart:
    """rows: of the table, the newest first. span_s: across the whole width."""

    lines: Sequence[Line]
    degrees: Sequence[Tick]
    times: Sequence[Tick]
    rows: Sequence[Row]
    span_s: float


def temperature_chart(
    readings: Sequence[TemperatureReading], now: datetime
) -> TemperatureChart | None:
    """Draw the readings, oldest first; None while there is no line yet."""
    readings = [reading for reading in readings if now - SPAN <= reading.at <= now]
    oldest = readings[0].at if readings else now
    minutes = next((m for m in _SPANS if oldest >= now - timedelta(minutes=m)), 120)
    span = timedelta(minutes=minutes)
    points = _thinned(readings, span / MAX_POINTS)
    if len(points) < 2:
        return None
    top = _top_c(points)
    drawing = _Drawing(now - span, span, top)
    heaters = [heater for heater in _HEATERS if heater.is_known(points)]
    step = 50 if top <= 200 else 100
    return TemperatureChart(
        lines=[drawing.line(heater, points) for heater in heaters],
        degrees=[Tick(share=c / top, text=f"{c}°") for c in range(0, int(top) + 1, step)],
        times=[
            Tick(share=1 - ago / minutes, text=_ago(ago))
            for ago in range(minutes, -1, -_SPANS[minutes])
        ],
        rows=[
            Row(at=reading.at, values=[heater.values(reading) for heater in heaters])
            for reading in reversed([*_thinned(points[:-1], span / _ROWS), points[-1]])
        ],
        span_s=span.total_seconds(),
    )


@dataclass(frozen=True, slots=True)
class _Heater:
    name: str
    actual: Callable[[Temps], float | UnsetType]
    target: Callable[[Temps], float | UnsetType]

    def values(self, reading: TemperatureReading) -> tuple[float | None, float | None]:
        """Return the temperature and its target; a heater that is off has none."""
        return _known(self.actual(reading.temps)), _known(self.target(reading.temps)) or None

    def is_known(self, readings: Iterable[TemperatureReading]) -> bool:
        return any(self.values(reading)[0] is not None for reading in readings)


_HEATERS: Final = (
    _Heater("hotend", lambda temps: temps.hotend_actual, lambda temps: temps.hotend_target),
    _Heater("bed", lambda temps: temps.bed_actual, lambda temps: temps.bed_target),
    _Heater("chamber", lambda temps: temps.chamber_actual, lambda temps: temps.chamber_target),
)


@dataclass(frozen=True, slots=True)
class _Drawing:
    begins_at: datetime
    span: timedelta
    top_c: float

    def line(self, heater: _Heater, readings: Sequence[TemperatureReading]) -> Line:
        values = [(reading.at, *heater.values(reading)) for reading in readings]
        known = [actual for _, actual, _ in values if actual is not None]
        return Line(
            name=heater.name,
            actual=self._pieces((at, actual) for at, actual, _ in values),
            target=self._pieces((at, target) for at, _, target in values),
            now_c=known[-1],
            lowest_c=min(known),
            highest_c=max(known),
        )

    def _pieces(self, values: Iterable[tuple[datetime, float | None]]) -> list[list[Point]]:
        pieces: list[list[Point]] = []
        last: datetime | None = None
        for at, celsius in values:
            if celsius is None:
                last = None
                continue
            if last is None or at - last > max(GAP, 2 * self.span / MAX_POINTS):
                pieces.append([])
            pieces[-1].append(((at - self.begins_at) / self.span, celsius / self.top_c))
            last = at
        return pieces


def _thinned(readings: Sequence[TemperatureReading], width: timedelta) -> list[TemperatureReading]:
    """Return the last reading of each period. Periods begin at the same times in each drawing."""
    grouped = groupby(readings, lambda reading: (reading.at - _EPOCH) // width)
    return [list(group)[-1] for _, group in grouped]


def _top_c(readings: Iterable[TemperatureReading]) -> float:
    highest = max(
        value or 0.0
        for reading in readings
        for heater in _HEATERS
        for value in heater.values(reading)
    )
    return max(100.0, 50.0 * ceil(highest / 50))


def _known(celsius: float | UnsetType) -> float | None:
    """Clamp to what can be drawn, whatever the printer reports; None for an unknown value."""
    if isinstance(celsius, UnsetType) or not isfinite(celsius):
        return None
    return max(0.0, min(MAX_C, celsius))


def _ago(minutes: int) -> str:
    if minutes == 0:
        return _("now")
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h"
