"""The results: readings of every way, and the judged figures, as a table and as JSON."""

import json
import os
import platform
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.floors import FLOORS, Floor
from bench.measures import Spread
from bench.plan import Plan

COLUMNS = (
    *("row", "measure", "median", "lowest to highest", "compiled", "lowest to highest"),
    *("floor", "towards", ""),
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A value measured on one way, for information only."""

    way: str
    what: str
    unit: str
    spread: Spread

    @classmethod
    def of(cls, way: str, what: str, unit: str, values: Sequence[float]) -> "Reading":
        return cls(way, what, unit, Spread.of(values))

    def __str__(self) -> str:
        return f"{self.way:19}{self.what:28}{_number(self.spread.median):>10} {_noise(self)}"


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with a floor; key: its entry in FLOORS.

    compiled: the value of the compiled build, measured in turn with the other. Where there is one,
    it is judged.
    """

    key: str
    spread: Spread
    compiled: Spread | None = None

    @classmethod
    def of(cls, key: str, values: Sequence[float], compiled: Sequence[float] = ()) -> "Figure":
        return cls(key, Spread.of(values), Spread.of(compiled) if compiled else None)

    @property
    def floor(self) -> Floor:
        return FLOORS[self.key]

    @property
    def unit(self) -> str:
        return self.floor.unit

    @property
    def is_ok(self) -> bool:
        return self.floor.is_reached_by((self.compiled or self.spread).median)

    @property
    def verdict(self) -> str:
        return "ok" if self.is_ok else "below floor"


@dataclass(frozen=True, slots=True)
class Measurement:
    """The result of one row."""

    readings: Sequence[Reading]
    figures: Sequence[Figure]


@dataclass(frozen=True, kw_only=True, slots=True)
class RowReport:
    """One row of the table. skipped, failed: why there is no measurement."""

    name: str
    title: str
    seconds: float
    measurement: Measurement | None = None
    skipped: str = ""
    failed: str = ""

    def lines(self) -> Iterator[str]:
        """Return lines for somebody who watches the run."""
        yield f"{self.title}  ({self.seconds:.0f} s)"
        if self.skipped:
            yield f"    skipped: {self.skipped}"
        if self.failed:
            yield f"    FAILED: {self.failed}"
        if self.measurement is None:
            return
        yield from (f"    {reading}" for reading in self.measurement.readings)
        for figure in self.measurement.figures:
            shown = f"{_number(figure.spread.median)} {_noise(figure)}"
            if figure.compiled is not None:
                shown += f", compiled {_number(figure.compiled.median)} ({_range(figure.compiled)})"
            yield f"  {figure.verdict:>11}: {figure.floor.label}: {shown}"


def summary(rows: Sequence[RowReport]) -> Iterator[str]:
    """Return a Markdown table of every judged figure."""
    cells = [cell for row in rows for cell in _cells(row)]
    widths = [max(map(len, column)) for column in zip(COLUMNS, *cells, strict=True)]
    rule = tuple("-" * width for width in widths)
    for line in (COLUMNS, rule, *cells):
        padded = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        yield f"| {' | '.join(padded)} |"


def write_json(path: Path, plan: Plan, rows: Sequence[RowReport]) -> None:
    """Write everything, to compare runs."""
    document = {
        "machine": {
            "system": platform.platform(),
            "python": f"{platform.python_version()} {sysconfig.get_config_var('CONFIG_ARGS')}",
            "cores": os.cpu_count(),
            "load": os.getloadavg(),
        },
        "plan": asdict(plan),
        "rows": [_as_json(row) for row in rows],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2) + "\n")


def _cells(row: RowReport) -> Iterator[tuple[str, ...]]:
    if row.measurement is None:
        blanks = ("",) * (len(COLUMNS) - 2)
        yield (row.name, *blanks, "skipped" if row.skipped else "FAILED")
        return
    for figure in row.measurement.figures:
        floor, spread, compiled = figure.floor, figure.spread, figure.compiled
        yield (
            row.name,
            floor.label,
            f"{_number(spread.median)} {floor.unit}",
            _range(spread),
            "" if compiled is None else f"{_number(compiled.median)} {floor.unit}",
            "" if compiled is None else _range(compiled),
            _number(floor.floor),
            "" if floor.towards is None else _number(floor.towards),
            figure.verdict,
        )


def _as_json(row: RowReport) -> dict[str, object]:
    known = row.measurement or Measurement((), ())
    return {
        "row": row.name,
        "title": row.title,
        "seconds": round(row.seconds, 1),
        "skipped": row.skipped,
        "failed": row.failed,
        "readings": [asdict(reading) for reading in known.readings],
        "figures": [
            {
                "key": figure.key,
                **asdict(figure.spread),
                **asdict(figure.floor),
                "compiled": None if figure.compiled is None else asdict(figure.compiled),
                "ok": figure.is_ok,
            }
            for figure in known.figures
        ],
    }


def _noise(shown: Reading | Figure) -> str:
    return f"{shown.unit}  ({_range(shown.spread)})"


def _range(spread: Spread) -> str:
    return f"{_number(spread.low)} to {_number(spread.high)}"


def _number(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
