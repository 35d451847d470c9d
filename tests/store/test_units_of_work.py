"""The state of the database after a unit of work."""

import gc
from datetime import UTC, datetime, timedelta
from pathlib import Path
from weakref import ref

from printreach.backends.clock import SystemClock
from printreach.ports import Notice, Topic
from printreach.store.location import DatabaseLocation
from printreach.store.store import Records, open_store
from tests.relay.loop import on_a_loop


def test_records_are_freed_with_their_unit_without_the_garbage_collector(tmp_path: Path) -> None:
    seen: list[ref[Records]] = []

    async def look(records: Records) -> None:
        seen.append(ref(records))

    async def give_notice(records: Records) -> None:
        seen.append(ref(records))
        await records.notify(Notice(Topic.INBOX, ""), SystemClock().now())

    @on_a_loop
    async def work() -> None:
        async with open_store(tmp_path / "database.sqlite3") as store:
            await store.read(look)
            await store.write(give_notice)
            await store.read(look)
            assert [one() for one in seen] == [None, None, None]

    gc.disable()
    try:
        work()
    finally:
        gc.enable()


@on_a_loop
async def test_the_databases_clock_tells_utc(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        said = await store.read(lambda records: records.time())
    assert said.tzinfo is UTC
    assert abs(datetime.now(UTC) - said) < timedelta(seconds=1.5)
