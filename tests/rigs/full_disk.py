"""Disks that are full: a database that may not grow, and a process whose files may not."""

import resource
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from sqlalchemy import text

from printreach.ports import StoreUnavailable
from printreach.store.store import Records, Store
from tests.requirements_of_tests import need

_NO_LIMIT = 0xFFFFFFFE
_PIECES = (4000, 400, 40)


@asynccontextmanager
async def full_database(store: Store) -> AsyncIterator[None]:
    """SQLite finds no room for another page; what fits on a page that is there goes on fitting."""
    await store.write(_stop_growing)
    for size in _PIECES:
        while await _fits(store, size):
            pass
    try:
        yield
    finally:
        await store.write(_may_grow)


@contextmanager
def no_room_for_files(pid: int = 0, at_most: int = 1) -> Iterator[None]:
    """The process (this one) writes no file beyond that size, as on a disk without room."""
    need("prlimit(2)", sys.platform == "linux", "these tests run on Linux")
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (at_most, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


async def _stop_growing(records: Records) -> None:
    run = records.connection.execute
    await run(text("CREATE TABLE IF NOT EXISTS filler (x BLOB)"))
    pages = (await run(text("PRAGMA page_count"))).scalar_one()
    await run(text(f"PRAGMA max_page_count = {pages}"))


async def _fits(store: Store, size: int) -> bool:
    async def fill(records: Records) -> None:
        await records.connection.execute(text(f"INSERT INTO filler VALUES (zeroblob({size}))"))

    try:
        await store.write(fill)
    except StoreUnavailable:
        return False
    return True


async def _may_grow(records: Records) -> None:
    await records.connection.execute(text(f"PRAGMA max_page_count = {_NO_LIMIT}"))
