"""What can't be read back: a row that was damaged, or that another version wrote otherwise.

It is told apart here from faults of ours, so that one row never stops what is done for all.
"""

from typing import Any, Final, TypeVar

import msgspec
from sqlalchemy import JSON, Dialect
from sqlalchemy.types import TypeDecorator

T = TypeVar("T")

_FAULTS: Final = (msgspec.MsgspecError, ValueError, TypeError, RecursionError)
"""Of reading: not even what a type promises holds, for SQLite takes any value in any column."""


class Damaged(Exception):
    """What was read is not what was once written. The message holds nothing of it."""


def decoded(decoder: "msgspec.json.Decoder[T]", content: bytes) -> T:
    """Read JSON as it lies in a column. Raises Damaged."""
    try:
        return decoder.decode(content)
    except _FAULTS as error:
        raise Damaged(type(error).__name__) from error


class Whole(TypeDecorator[Any]):
    """JSON of a column. What can't be read is None, and stops nothing that is read with it."""

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
