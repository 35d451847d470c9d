"""Turns at reading: callers share readers fairly, and the service has some of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from printreach.limiters.fair_semaphore import CURRENT_SHARE, Share, TooBusy
from printreach.store.engine import OF_CALLERS, OF_SERVICE
from printreach.store.readers import MAX_WAITING
from printreach.store.store import Records, Store, open_store
from tests.relay.loop import on_a_loop

CROWD, ALONE = Share("crowd"), Share("alone")


class Reading:
    """Reads that take as long as a test wants. begun: the shares they are of, in order."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.begun: list[str] = []
        self.may_end = asyncio.Semaphore(0)
        self.tasks: list[asyncio.Task[None]] = []

    async def come(self, share: Share | None, count: int = 1, *, begin: int = 0) -> None:
        """Ask for reads, of which so many begin at once."""
        until = len(self.begun) + begin
        for _ in range(count):
            self.tasks.append(asyncio.create_task(self._read(share)))
        await self._settle(until)

    async def end_one(self, *, begin: int = 0) -> None:
        until = len(self.begun) + begin
        self.may_end.release()
        await self._settle(until)

    async def _settle(self, until: int) -> None:
        """Wait until so many have begun, however busy the machine is; then whether more do."""
        for _ in range(2_000):
            if len(self.begun) >= until:
                break
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)

    async def _read(self, share: Share | None) -> None:
        CURRENT_SHARE.set(share)

        async def work(_records: Records) -> None:
            self.begun.append(share.key if share is not None else "service")
            await self.may_end.acquire()

        await self.store.read(work)


@asynccontextmanager
async def reading(path: Path) -> AsyncIterator[Reading]:
    async with open_store(path / "database.sqlite3") as store:
        here = Reading(store)
        yield here
        for task in here.tasks:
            task.cancel()
        await asyncio.gather(*here.tasks, return_exceptions=True)


def test_one_with_many_reads_delays_another_by_one_turn(tmp_path: Path) -> None:
    @on_a_loop
    async def body() -> None:
        async with reading(tmp_path) as here:
            await here.come(CROWD, 50, begin=OF_CALLERS)
            await here.come(ALONE)
            assert here.begun == ["crowd"] * OF_CALLERS
            await here.end_one(begin=1)
            assert here.begun[-1] == "alone"

    body()


def test_callers_leave_readers_to_the_service(tmp_path: Path) -> None:
    @on_a_loop
    async def body() -> None:
        async with reading(tmp_path) as here:
            await here.come(CROWD, 50, begin=OF_CALLERS)
            await here.come(None, OF_SERVICE, begin=OF_SERVICE)
            assert here.begun.count("service") == OF_SERVICE

    body()


def test_a_relays_reads_are_the_services_whoever_caused_them(tmp_path: Path) -> None:
    @on_a_loop
    async def body() -> None:
        async with reading(tmp_path) as here:
            await here.come(CROWD, 50, begin=OF_CALLERS)
            CURRENT_SHARE.set(CROWD)

            async def work(_records: Records) -> str:
                return "read"

            assert await here.store.read_for_service(work) == "read"
            assert CURRENT_SHARE.get() is CROWD

    body()


def test_a_read_whose_caller_left_before_its_turn_is_dropped(tmp_path: Path) -> None:
    @on_a_loop
    async def body() -> None:
        async with reading(tmp_path) as here:
            await here.come(CROWD, OF_CALLERS + 1, begin=OF_CALLERS)
            here.tasks[-1].cancel()
            await here.come(ALONE)
            await here.end_one(begin=1)
            await here.end_one()
            await here.end_one()
            assert here.begun == ["crowd"] * OF_CALLERS + ["alone"]

    body()


def test_a_crowd_that_fills_the_queue_is_asked_to_come_back_and_others_are_not(
    tmp_path: Path,
) -> None:
    @on_a_loop
    async def body() -> None:
        async with reading(tmp_path) as here:
            await here.come(CROWD, OF_CALLERS + MAX_WAITING + 1, begin=OF_CALLERS)
            await here.come(ALONE)
            refused = [task for task in here.tasks if task.done()]
            assert len(refused) == 2
            assert all(isinstance(task.exception(), TooBusy) for task in refused)
            assert not here.tasks[-1].done()

    body()


def test_who_leaves_in_the_middle_of_a_read_leaves_a_reader_that_works(tmp_path: Path) -> None:
    @on_a_loop
    async def body() -> None:
        async with reading(tmp_path) as here:

            async def look(records: Records) -> object:
                return await records.accounts.get("nobody")

            CURRENT_SHARE.set(ALONE)
            for _ in range(20):
                task = asyncio.create_task(here.store.read(look))
                await asyncio.sleep(0.0005)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            found = await asyncio.gather(*(here.store.read(look) for _ in range(20)))
            assert found == [None] * 20

    body()
