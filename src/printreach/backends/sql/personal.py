"""Whose a row is, read off the tables themselves: so a new table is exported, and deleted, too."""

from datetime import date
from typing import Any, Final

import msgspec
from sqlalchemy import Column, ColumnElement, LargeBinary, Table, delete, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from printreach.backends.sql.tables import READABLE, accounts, connections, metadata
from printreach.ports.personal import Value

WITHHELD: Final = frozenset(
    {
        ("accounts", "email_key"),
        ("accounts", "password_hash"),
        ("webhooks", "url"),  # an app's own, which may hold a secret of the app
        ("webhooks", "lease"),
    }
)
"""Columns that no one is handed, by table: secrets, and what only serves the service."""


class PersonalRows:
    """ports.personal.PersonalRecords in one unit of work."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def rows(self, account_id: str) -> dict[str, list[dict[str, Value]]]:
        found: dict[str, list[dict[str, Value]]] = {}
        for table in metadata.sorted_tables:
            owned = owned_by(table, account_id)
            if owned is None:
                continue
            columns = [column for column in table.c if _is_shown(column)]
            rows = await self._connection.execute(
                select(*columns).where(owned).order_by(*table.primary_key)
            )
            found[table.name] = [
                {column.name: _value(row[column.name]) for column in columns}
                for row in rows.mappings()
            ]
        return found


async def delete_below_connections(connection: AsyncConnection, account_id: str) -> None:
    """What hangs on the account's connections, which themselves stay behind as ended ones."""
    for table in reversed(metadata.sorted_tables):
        owned = owned_by(table, account_id)
        if owned is not None and connections in _parents(table) and table is not connections:
            await connection.execute(delete(table).where(owned))


def owned_by(table: Table, account_id: str) -> ColumnElement[bool] | None:
    """The rows of a table that belong to the account; None where no row belongs to any."""
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


def _parents(table: Table) -> set[Table]:
    return {key.column.table for key in table.foreign_keys}


def _is_shown(column: Column[Any]) -> bool:
    if (column.table.name, column.name) in WITHHELD:
        return False
    return not isinstance(column.type, LargeBinary) or column.info == READABLE


def _value(value: Any) -> Value:
    if isinstance(value, date):  # and so a datetime
        return value.isoformat()
    if isinstance(value, bytes):
        decoded: Value = msgspec.json.decode(value) if value else None
        return decoded
    shown: Value = value
    return shown
