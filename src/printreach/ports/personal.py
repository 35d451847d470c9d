"""All rows of one account, in every table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"
PageCursor: TypeAlias = tuple[object, ...]
"""After which row a page of a table begins."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """Some rows of a table. end: where the next page begins; None at the end."""

    rows: Sequence[Mapping[str, Value]]
    end: PageCursor | None
