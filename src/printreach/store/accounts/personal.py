"""The account of each row, derived from the tables: so new tables are exported and deleted too."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, TypeAlias

import msgspec
from sqlalchemy import (
    Column,
    ColumnElement,
    LargeBinary,
    Table,
    delete,
    literal,
    or_,
    select,
    tuple_,
)

from printreach.store.async_engine import AsyncConnection
from printreach.store.columns import Damaged, TableRecords, decoded
from printreach.store.tables import READABLE, accounts, connections, metadata

WITHHELD: Final = frozenset(
    {
        ("accounts", "email_key"),
        ("accounts", "password_hash"),
        ("webhooks", "url"),  # an app's own, which may contain a secret of the app
        ("webhooks", "lease"),
    }
)
"""Columns that are not exported, by table: secrets, and what only serves the service."""
_any: Final = msgspec.json.Decoder()

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"
PageCursor: TypeAlias = tuple[object, ...]
"""After which row a page of a table begins."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """Some rows of a table. end: where the next page begins; None at the end."""

    rows: Sequence[Mapping[str, Value]]
    end: PageCursor | None


class PersonalRecords(TableRecords):
    """Finds rows by their references to the account, so that no new table can be forgotten.

    Rows that belong to a row of the account belong to it too, except those that refer to one of its
    apps: these are other people's.
    """

    def tables(self) -> list[str]:
        """Return the tables in which rows of an account can be."""
        every = metadata.sorted_tables
        return [str(table.name) for table in every if owned_by(table, "") is not None]

    async def rows(
        self, account_id: str, table: str, after: PageCursor | None, at_most: int
    ) -> Rows:
        """Return a page of its rows in one table, without secrets."""
        here = metadata.tables[table]
        owned = owned_by(here, account_id)
        assert owned is not None, f"no account has rows in {table}"
        columns = [column for column in here.c if _is_shown(column)]
        place = [column.label(f"place_{column.name}") for column in here.primary_key]
        wanted = select(*columns, *place).where(owned).order_by(*here.primary_key).limit(at_most)
        if after is not None:
            wanted = wanted.where(tuple_(*here.primary_key) > tuple_(*_bound(here, after)))
        found = (await self._connection.execute(wanted)).mappings().all()
        is_full = len(found) == at_most
        return Rows(
            rows=[{column.name: _value(row[column.name]) for column in columns} for row in found],
            end=tuple(found[-1][column.name] for column in place) if is_full else None,
        )


async def delete_below_connections(connection: AsyncConnection, account_id: str) -> None:
    """Delete what belongs to the account's connections, which stay as ended ones themselves."""
    for table in reversed(metadata.sorted_tables):
        owned = owned_by(table, account_id)
        if owned is not None and connections in _parents(table) and table is not connections:
            await connection.execute(delete(table).where(owned))


def owned_by(table: Table, account_id: str) -> ColumnElement[bool] | None:
    """Match the rows of a table that belong to the account; None if the table has no such rows."""
    if table is accounts:
        return accounts.c.account_id == account_id
    direct = [
        key.parent == account_id for key in table.foreign_keys if key.column.table is accounts
    ]
    if direct:
        return or_(*direct)
    through = [
        key.parent.in_(select(key.column).where(owned))
        for key in table.foreign_keys
        if (owned := owned_by(key.column.table, account_id)) is not None
    ]
    return or_(*through) if through else None


def _bound(table: Table, place: PageCursor) -> list[ColumnElement[Any]]:
    """Return the values of a row's key, each of its column's type."""
    return [
        literal(value, column.type) for column, value in zip(table.primary_key, place, strict=True)
    ]


def _parents(table: Table) -> set[Table]:
    return {key.column.table for key in table.foreign_keys}


def _is_shown(column: Column[Any]) -> bool:
    if (column.table.name, column.name) in WITHHELD:
        return False
    return not isinstance(column.type, LargeBinary) or column.info == READABLE


def _value(value: Any) -> Value:
    if isinstance(value, date):  # includes datetime
        return value.isoformat()
    if isinstance(value, bytes):
        return _json(value)
    if isinstance(value, tuple):  # of what its owner chose for a printer's cameras
        choices: Value = msgspec.to_builtins(value)
        return choices
    if isinstance(value, frozenset):
        return sorted(value)
    shown: Value = value
    return shown


def _json(content: bytes) -> Value:
    """Decode a column; of a damaged one, return its text."""
    if not content:
        return None
    try:
        value: Value = decoded(_any, content)
    except Damaged:
        return content.decode("utf-8", "replace")
    return value
