"""All that is kept of one account, wherever it is kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"
Place: TypeAlias = tuple[object, ...]
"""Behind which row a page of a table begins."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """Some rows of a table. end: where the next begin; None where there are no more."""

    rows: Sequence[Mapping[str, Value]]
    end: Place | None


class PersonalRecords(Protocol):
    """Found by what refers to the account, so that nothing new can be forgotten.

    What belongs to a row of the account belongs to it too; what refers to an app of its does not,
    for that is other people's.
    """

    def tables(self) -> Sequence[str]:
        """The tables in which rows of an account can be."""
        ...

    async def rows(self, account_id: str, table: str, after: Place | None, at_most: int) -> Rows:
        """Its rows in one of them, a page at a time, without what is secret."""
        ...
