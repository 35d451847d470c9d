"""All rows of one account, in every table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"
PageCursor: TypeAlias = tuple[object, ...]
"""After which row a page of a table begins."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """Some rows of a table. end: where the next page begins; None at the end."""

    rows: Sequence[Mapping[str, Value]]
    end: PageCursor | None


class PersonalRecords(Protocol):
    """Finds rows by their references to the account, so that no new table can be forgotten.

    Rows that belong to a row of the account belong to it too, except those that refer to one of its
    apps: these are other people's.
    """

    def tables(self) -> Sequence[str]:
        """Return the tables in which rows of an account can be."""
        ...

    async def rows(
        self, account_id: str, table: str, after: PageCursor | None, at_most: int
    ) -> Rows:
        """Return a page of its rows in one table, without secrets."""
        ...
