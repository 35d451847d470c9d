"""Rows that cannot be decoded: damaged, or written by another version in another form.

They are distinguished from faults of ours, so that one row never blocks what is done for all.
"""

from typing import Any, Final, TypeVar

import msgspec
from sqlalchemy import JSON, Dialect
from sqlalchemy.types import TypeDecorator

T = TypeVar("T")

_FAULTS: Final = (msgspec.MsgspecError, ValueError, TypeError, RecursionError)
"""Faults of reading: not even types are certain, since SQLite takes any value in any column."""


class Damaged(Exception):
    """Stored data is damaged. The message contains nothing of it."""


def decoded(decoder: "msgspec.json.Decoder[T]", content: bytes) -> T:
    """Decode a column's JSON. Raises Damaged."""
    try:
        return decoder.decode(content)
    except _FAULTS as error:
        raise Damaged(type(error).__name__) from error


class LenientJson(TypeDecorator[Any]):
    """JSON of a column. What cannot be decoded is None, and does not block what is read with it."""

    impl = JSON
    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:
        read = super().result_processor(dialect, coltype)
        assert read is not None, "JSON is text in SQLite"

        def read_or_none(value: Any) -> Any:
            try:
                return read(value)
            except _FAULTS:
                return None

        return read_or_none
