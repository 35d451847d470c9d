"""A database on a server is migrated like a file, by one of the nodes that start together."""

import asyncio
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, text
from sqlalchemy.util import greenlet_spawn

from printreach.store.location import PostgresqlLocation
from printreach.store.migrate import HEAD, DatabaseTooNew
from printreach.store.postgresql import engine_at_start
from printreach.store.store import open_store
from printreach.store.tables import metadata
from tests.fakes.loop import on_a_loop
from tests.rigs.postgresql import PostgresqlServer, ask

pytestmark = pytest.mark.peer


def differences(connection: Connection) -> list[object]:
    context = MigrationContext.configure(connection, opts={"compare_type": True})
    return list(compare_metadata(context, metadata))


@on_a_loop
async def test_a_migrated_database_has_the_tables_of_the_code(
    postgresql_location: PostgresqlLocation,
) -> None:
    engine = engine_at_start(postgresql_location)

    def look() -> list[object]:
        with engine.connect() as connection:
            return differences(connection)

    assert await greenlet_spawn(look) == []


@pytest.mark.slow
def test_nodes_that_start_together_migrate_once(
    postgresql: PostgresqlServer, tmp_path: Path
) -> None:
    @on_a_loop
    async def body(url: str) -> None:
        async def start(number: int) -> str | None:
            location = PostgresqlLocation(url, tmp_path / str(number))
            async with open_store(location) as store:
                found: str | None = await store.read(
                    lambda records: records.connection.scalar(
                        text("SELECT string_agg(version_num, ' ') FROM alembic_version")
                    )
                )
                return found

        assert await asyncio.gather(*(start(number) for number in range(3))) == [HEAD] * 3

    with postgresql.database() as url:
        body(url)


def test_a_database_of_a_newer_version_is_refused_with_a_sentence(
    postgresql_location: PostgresqlLocation,
) -> None:
    @on_a_loop
    async def body() -> None:
        with pytest.raises(DatabaseTooNew, match=r"newer version of Printreach .*9999"):
            async with open_store(postgresql_location):
                pass

    newer = "UPDATE alembic_version SET version_num = '9999'"
    ask(postgresql_location.url, lambda connection: connection.execute(newer))
    body()
