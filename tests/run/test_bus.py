"""Old notices are deleted whichever bus delivers them."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

from printreach.backends import bus_nats
from printreach.backends.bus_rows import MEMORY
from printreach.ports import Notice, Topic
from printreach.run.dependencies import bus_of, store_of
from printreach.run.settings import settings_from
from printreach.store.store import Records
from printreach.store.tables import notices
from tests.fakes.clock import FakeClock
from tests.fakes.loop import on_a_loop

PATIENCE_S = 30.0


async def count(records: Records) -> int | None:
    return await records.connection.scalar(select(func.count()).select_from(notices))


@pytest.mark.parametrize("nats_url", ["", "nats://127.0.0.1:1"])
def test_old_notices_are_deleted(
    nats_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus_nats, "FIRST_CONNECTION_S", 0.0)
    environ = {"PRINTREACH_DATA_DIR": str(tmp_path), "PRINTREACH_NATS_URL": nats_url}
    settings = settings_from(environ)

    @on_a_loop
    async def body() -> None:
        clock = FakeClock()
        long_ago = clock.now() - MEMORY - timedelta(seconds=1)
        async with store_of(settings) as store:
            await store.write(lambda records: records.notify(Notice(Topic.PRINTER, "p1"), long_ago))
            async with bus_of(settings, store, clock), asyncio.timeout(PATIENCE_S):
                while await store.read(count):  # noqa: ASYNC110 - rows tell nobody of themselves
                    await asyncio.sleep(0)

    body()
