"""Statements whose cost must not grow with all printers or accounts of the service."""

from typing import Any, cast

import pytest
from sqlalchemy import Executable, select, text
from sqlalchemy.dialects import postgresql as dialects

from printreach.store.async_engine import AsyncConnection
from printreach.store.location import PostgresqlLocation
from printreach.store.printers import PrinterRecords
from printreach.store.prints import snapshots
from printreach.store.store import Records, open_store
from tests.fakes.loop import on_a_loop

pytestmark = pytest.mark.peer


class Noting:
    """A connection that notes a statement and finds nothing."""

    statement: Any

    async def execute(self, statement: Executable) -> list[Any]:
        self.statement = statement
        return []


async def not_served() -> Any:
    """Return what each relay asks every half minute of the printers that are connected to it."""
    noting = Noting()
    await PrinterRecords(cast("AsyncConnection", noting)).not_served(["p1", "p2"])
    return noting.statement


async def gone() -> Any:
    """Return what each worker asks every minute."""
    return select(snapshots._GONE.subquery())


@pytest.mark.slow
@pytest.mark.parametrize("made", [not_served, gone])
@on_a_loop
async def test_no_row_is_looked_for_in_a_list_of_all(
    postgresql_location: PostgresqlLocation, made: Any
) -> None:
    shape = dialects.dialect()  # type: ignore[no-untyped-call]
    statement = (await made()).compile(dialect=shape, compile_kwargs={"literal_binds": True})

    async def explain(records: Records) -> list[str]:
        rows = await records.connection.execute(text(f"EXPLAIN {statement}"))
        return [row[0] for row in rows]

    async with open_store(postgresql_location) as store:
        plan = await store.read(explain)

    assert any("Scan" in step for step in plan)
    # A list that fits no hash table is read again for each row.
    assert not [step for step in plan if "NOT" in step and "SubPlan" in step]
