"""Exports of prints: CSV without formulas for spreadsheets, and JSON."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, TypeAlias

from printreach.rules.prints.history import Print, counted_duration_s, counted_progress

Cell: TypeAlias = "str | int | None"

COLUMNS: Final = (
    *("Printer", "PrinterId", "PrintId", "FileName", "StartedAt", "StartIsKnown", "EndedAt"),
    *("DurationSec", "Result", "ProgressPercent", "FilamentMm", "FilamentMg", "Error"),
)
_STARTS_A_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")
"""Characters that begin a formula in spreadsheets."""


def cells_of(print_: Print) -> Sequence[Cell]:
    """In the order of COLUMNS."""
    return (
        print_.printer_name,
        print_.printer_id,
        print_.print_id,
        print_.file_name,
        _time(print_.started_at),
        "yes" if print_.start_is_known else "no",
        None if print_.ended_at is None else _time(print_.ended_at),
        counted_duration_s(print_),
        print_.result.value,
        counted_progress(print_),
        print_.filament_mm,
        print_.filament_mg,
        print_.error or None,
    )


def csv_head() -> str:
    return _line(COLUMNS)


def csv_line(print_: Print) -> str:
    """Format a line by RFC 4180. A text that begins like a formula gets an apostrophe before it."""
    return _line([_harmless(cell) for cell in cells_of(print_)])


def json_line(print_: Print) -> str:
    """Format an object, without a line's end."""
    return json.dumps(dict(zip(COLUMNS, cells_of(print_), strict=True)), ensure_ascii=False)


def _harmless(cell: Cell) -> Cell:
    if not isinstance(cell, str):
        return cell
    is_formula = cell.lstrip(" \u00a0\u3000\ufeff").startswith(_STARTS_A_FORMULA)
    return f"'{cell}" if is_formula else cell


def _line(cells: Sequence[Cell]) -> str:
    return ",".join(_quoted(cell) for cell in cells) + "\r\n"


def _quoted(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, int):
        return str(cell)
    return '"' + cell.replace("\0", "").replace('"', '""') + '"'


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
