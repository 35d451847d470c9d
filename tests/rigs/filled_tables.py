"""A database in which every table has rows, whatever tables there will be."""

import string
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from sqlalchemy import Boolean, Column, Connection, Date, Float, Integer, LargeBinary, insert
from sqlalchemy.types import JSON, TypeEngine

from printreach.contract.permissions import ALL_PERMISSIONS
from printreach.store.columns import LenientJson
from printreach.store.tables import CameraChoices, Instant, Permissions, metadata

_FIRST: Final = datetime(2026, 1, 1, 12, 30, 15, 123456, UTC)
_LETTERS: Final = string.ascii_letters + string.digits + " _-é漢🖨"
_VALUES: Final[Mapping[type[TypeEngine[Any]], Callable[[int], object]]] = {
    Boolean: lambda number: number % 2 == 0,
    CameraChoices: lambda number: (),
    Date: lambda number: date(2026, 1, 1) + timedelta(days=number),
    Float: lambda number: number / 3,
    Instant: lambda number: _FIRST + timedelta(seconds=number),
    Integer: lambda number: number + 1,
    JSON: lambda number: {"b": [number, None], "a": "é"},
    LargeBinary: lambda number: bytes([255, 0]) + number.to_bytes(4),
    LenientJson: lambda number: [f"event-{number}"],
    Permissions: lambda number: ALL_PERMISSIONS,
}


def fill_tables(connection: Connection, rows: int) -> None:
    """Add that many rows to every table."""
    for table in metadata.sorted_tables:
        added = [
            {column.name: _value(column, number) for column in table.columns}
            for number in range(rows)
        ]
        connection.execute(insert(table), added)


def _value(column: Column[Any], number: int) -> object:
    for kind in type(column.type).__mro__:
        if kind in _VALUES:
            return _VALUES[kind](number)
    # Of a reference, the text is that of what it refers to.
    letter = _LETTERS[number % len(_LETTERS)]
    length = getattr(column.type, "length", None) or 40
    return f"{letter}{number}"[:length]
