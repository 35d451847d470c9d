"""Data of an account are exported and deleted completely, in tables of later versions too.

Nothing here names the tables: each that there is gets a row of Ada's and one of Eve's.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import date
from typing import Any, TypeVar

import pytest
from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Date,
    Float,
    Integer,
    LargeBinary,
    String,
    Table,
    insert,
    select,
)

from printreach.contract.cameras import CameraChoice
from printreach.contract.permissions import Permission
from printreach.store.accounts.personal import WITHHELD, PageCursor, Value, owned_by
from printreach.store.accounts.tables import recovery_codes
from printreach.store.async_engine import AsyncConnection
from printreach.store.columns import LenientJson
from printreach.store.location import DatabaseLocation
from printreach.store.store import Records, open_store
from printreach.store.tables import (
    READABLE,
    CameraChoices,
    Instant,
    Permissions,
    accounts,
    apps,
    metadata,
)
from tests.fakes.clock import NOON

T = TypeVar("T")
PERSONAL = [table for table in metadata.sorted_tables if owned_by(table, "ada") is not None]
ENDED = {"connections", "apps"}
"""They stay behind, of nobody: so that apps hear that a connection is over, or is one of theirs."""
LET_GO = {("given_orders", "person_id")}
"""The row is somebody else's, and stays without the reference."""


def value_of(column: Column[Any], who: str, table: Table) -> Any:
    """Something for that column, which tells whose it is where there is room for it."""
    mark = f"{who}-{table.name}-{column.name}"
    kinds: list[tuple[type, Any]] = [
        (Instant, NOON),
        (Date, date(2026, 5, 1)),
        (Boolean, False),
        (LargeBinary, json.dumps([mark]).encode() if column.info == READABLE else mark.encode()),
        (Integer, 1000 + sum(mark.encode())),
        (Float, 1.5),
        (JSON, [mark]),
        (LenientJson, [mark]),
        (Permissions, frozenset({Permission.CAMERA})),
        (CameraChoices, (CameraChoice(camera=mark[:60], name="Nozzle"),)),
        (String, mark[: getattr(column.type, "length", None) or 500]),
    ]
    for kind, value in kinds:
        if isinstance(column.type, kind):
            return value
    raise AssertionError(f"this test has no value for {table.name}.{column.name}, {column.type!r}")


async def add_row(connection: AsyncConnection, table: Table, who: str) -> None:
    """One row, which refers to the rows of the same person in other tables."""
    values: dict[str, Any] = {}
    for column in table.c:
        keys = list(column.foreign_keys)
        if keys:
            parent = keys[0].column
            found = await connection.execute(
                select(parent).where(parent == value_of(parent, who, parent.table))
            )
            values[column.name] = found.scalar_one()
        else:
            values[column.name] = value_of(column, who, table)
    await connection.execute(insert(table).values(**values))


async def fill(records: Records) -> None:
    for table in PERSONAL:
        for who in ("ada", "eve"):
            await add_row(records.connection, table, who)


def id_of(who: str) -> str:
    return str(value_of(accounts.c.account_id, who, accounts))


def filled(database: DatabaseLocation, work: Callable[[Records], Awaitable[T]]) -> T:
    """Do it where both have a row in every table."""

    async def main() -> T:
        async with open_store(database) as store:
            await store.write(fill)
            return await store.write(work)

    return asyncio.run(main())


async def everything(records: Records) -> dict[str, list[dict[str, Any]]]:
    """All rows of all tables."""
    return {
        table.name: [
            dict(row) for row in (await records.connection.execute(select(table))).mappings()
        ]
        for table in metadata.sorted_tables
    }


async def rows_of_ada(records: Records) -> dict[str, Sequence[Mapping[str, Value]]]:
    found: dict[str, Sequence[Mapping[str, Value]]] = {}
    for table in records.personal.tables():
        page = await records.personal.rows(id_of("ada"), table, None, 10)
        assert page.end is None
        found[table] = page.rows
    return found


def test_rows_come_in_pages_and_none_twice(database: DatabaseLocation) -> None:
    async def by_twos(records: Records) -> tuple[list[object], list[int]]:
        await records.connection.execute(
            insert(recovery_codes),
            [{"account_id": id_of("ada"), "code_digest": bytes([n] * 32)} for n in range(5)],
        )
        await records.connection.execute(
            insert(apps),
            [
                {
                    "app_id": f"app{number}",
                    "name": "App",
                    "return_prefixes": [],
                    "created_at": NOON,
                    "owner_id": id_of("ada"),
                }
                for number in range(4)
            ],
        )
        seen: list[object] = []
        sizes: list[int] = []
        for table in ("apps", "recovery_codes"):
            after: PageCursor | None = None
            while True:
                page = await records.personal.rows(id_of("ada"), table, after, 2)
                seen += [row.get("app_id", table) for row in page.rows]
                sizes.append(len(page.rows))
                after = page.end
                if after is None:
                    break
        return seen, sizes

    seen, sizes = filled(database, by_twos)

    assert sizes == [2, 2, 1, 2, 2, 2, 0]
    assert len({one for one in seen if one != "recovery_codes"}) == 5
    assert seen.count("recovery_codes") == 6


def test_a_row_of_every_table_is_handed_over(database: DatabaseLocation) -> None:
    rows = filled(database, rows_of_ada)

    assert {name: len(found) for name, found in rows.items()} == {
        table.name: 1 for table in PERSONAL
    }


def test_nothing_of_others_is_handed_over(database: DatabaseLocation) -> None:
    rows = filled(database, rows_of_ada)

    assert "eve-" not in json.dumps(rows)


def test_no_digest_no_key_and_no_password_is_handed_over(database: DatabaseLocation) -> None:
    rows = filled(database, rows_of_ada)

    shown = {(table, column) for table, found in rows.items() for column in found[0]}
    assert not shown & WITHHELD
    for word in ("digest", "hash", "secret", "sealed", "public_key", "token_digest"):
        assert not [one for one in shown if word in one[1] and one[1] != "is_sealed"], word


@pytest.mark.parametrize("table", PERSONAL, ids=lambda table: str(table.name))
def test_a_table_says_what_becomes_of_its_rows(table: Table) -> None:
    """Each reference to an account lets go of it: with the row, or without."""
    for key in table.foreign_keys:
        if key.column.table is accounts:
            stays = table.name in ENDED or (table.name, key.parent.name) in LET_GO
            expected = "SET NULL" if stays else "CASCADE"
            assert key.ondelete == expected, f"{table.name}.{key.parent.name}"


def test_deletion_leaves_no_row_in_any_table(database: DatabaseLocation) -> None:
    async def delete(records: Records) -> dict[str, list[dict[str, Any]]]:
        await records.accounts.delete(id_of("ada"))
        return await everything(records)

    left = filled(database, delete)

    for name, rows in left.items():
        marks = [str(value) for row in rows for value in row.values()]
        about_ada = [mark for mark in marks if "ada-" in mark or f"'{id_of('ada')}'" in mark]
        assert name in ENDED or about_ada == [], name
        assert not [row for row in rows if id_of("ada") in row.values()], name


def test_deletion_leaves_what_others_have(database: DatabaseLocation) -> None:
    async def delete(records: Records) -> dict[str, list[dict[str, Any]]]:
        before = await everything(records)
        await records.accounts.delete(id_of("ada"))
        after = await everything(records)
        return {
            name: [row for row in before[name] if "eve-" in str(row) and row not in after[name]]
            for name in before
        }

    assert not any(filled(database, delete).values())
