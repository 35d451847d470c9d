"""All that is kept of one account, wherever it is kept."""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"


class PersonalRecords(Protocol):
    """Found by what refers to the account, so that nothing new can be forgotten."""

    async def rows(self, account_id: str) -> Mapping[str, Sequence[Mapping[str, Value]]]:
        """Every row that belongs to the account, by its table, without what is secret.

        What belongs to a row of the account belongs to it too; what refers to an app of its does
        not, for that is other people's.
        """
        ...
