"""A database that one process has open twice, while another process comes and goes."""

import asyncio
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from printreach.ports import Notice, Topic
from printreach.store.store import Store, open_store
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop

pytestmark = pytest.mark.sqlite
ANOTHER_PROCESS = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(connection.execute("SELECT count(*) FROM notices").fetchone()[0])
connection.close()
"""


async def count_in_another_process(database: Path) -> int:
    """Open the database, count its notices, and close it: what an administration command does."""
    argv = [sys.executable, "-c", ANOTHER_PROCESS, str(database)]
    done = await asyncio.to_thread(
        subprocess.run, argv, check=True, capture_output=True, text=True, timeout=60
    )
    return int(done.stdout)


async def give_notice(store: Store) -> None:
    notice = Notice(Topic.PRINTER, secrets.token_hex(4))
    await store.write(lambda records: records.notify(notice, NOON))


@on_a_loop
async def test_another_process_that_leaves_takes_no_file_from_a_process_with_two_stores(
    database: Path,
) -> None:
    log = database.with_name(f"{database.name}-wal")
    async with open_store(database) as one:
        await give_notice(one)
        async with open_store(database) as other:
            await give_notice(other)
            inode = log.stat().st_ino
            assert await count_in_another_process(database) == 2
            assert log.exists()
            assert log.stat().st_ino == inode

            await give_notice(one)
            assert await count_in_another_process(database) == 3
