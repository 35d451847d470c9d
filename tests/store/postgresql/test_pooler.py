"""PgBouncer in transaction mode may stand between the service and its database."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from printreach.store.location import PostgresqlLocation
from printreach.store.store import Records, Store, open_store
from tests.fakes.clock import NOON
from tests.fakes.events import some_events
from tests.fakes.loop import on_a_loop
from tests.requirements_of_tests import need
from tests.rigs.postgresql import USER, other_user
from tests.rigs.programs import Program
from tests.rigs.waiting import accepts_connections, free_port
from tests.store.records import store_all

pytestmark = pytest.mark.peer

CONFIG = """
[databases]
* = host={folder}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
{user}
"""


@pytest.fixture
def pooled(postgresql_location: PostgresqlLocation, tmp_path: Path) -> Iterator[PostgresqlLocation]:
    """The database by way of a PgBouncer that has three connections to it."""
    found = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    need("PgBouncer", found is not None, "apt-get install pgbouncer")
    assert found is not None
    database = urlsplit(postgresql_location.url)
    folder = database.query.removeprefix("host=").replace("%2F", "/")
    port = free_port()
    user = other_user()
    config = Path(folder) / f"pgbouncer-{port}.ini"
    config.write_text(
        CONFIG.format(
            folder=f"{folder} user={USER}", port=port, user=f"user = {user}" if user else ""
        )
    )
    program = Program("pgbouncer", [found, config], logs=tmp_path)
    with program:
        program.wait_until("listening", lambda: accepts_connections(port) or None, 30)
        url = f"postgresql://{USER}@127.0.0.1:{port}{database.path}?sslmode=disable"
        yield PostgresqlLocation(url, postgresql_location.data_dir)


@pytest.mark.peer
@on_a_loop
async def test_units_of_work_and_readings_take_turns_at_few_connections(
    pooled: PostgresqlLocation,
) -> None:
    events = some_events(30)

    async def append(store: Store, number: int) -> None:
        async def work(records: Records) -> None:
            await records.events.append("p1", [events[number]], NOON)
            await asyncio.sleep(0.01)  # so that others are served by another connection

        await store.write(work)

    async with open_store(pooled) as one, open_store(pooled) as other:
        await store_all(one)
        stores = (one, other)
        await asyncio.gather(
            *(append(stores[n % 2], n) for n in range(len(events))),
            *(stores[n % 2].read(lambda records: records.accounts.all()) for n in range(100)),
        )

        pending = await one.read(lambda records: records.events.awaiting_fan_out(100))
    assert {one.event.event_id for one in pending.events} == {one.event_id for one in events}
