"""The worker's loops: a pass at each hint, and one every so often."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from printreach.ports import Notice, StoreUnavailable, Topic
from printreach.run.worker import LOOK_EVERY_S, Loop
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.fakes.memory_bus import MemoryBus

HINTS = frozenset({Topic.INBOX})


class Work:
    """What a loop does. fault: raised by each pass."""

    def __init__(self) -> None:
        self.passes = 0
        self.fault: Exception | None = None
        self.loop = Loop("work", self.run_pass, hints=HINTS)

    async def run_pass(self) -> None:
        self.passes += 1
        if self.fault is not None:
            raise self.fault


@asynccontextmanager
async def running(work: Work) -> AsyncIterator[None]:
    task = asyncio.create_task(work.loop.run())
    try:
        await asyncio.sleep(0)
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@on_a_hasty_loop
async def test_a_pass_is_made_at_the_start_and_every_few_seconds() -> None:
    work = Work()
    async with running(work):
        assert work.passes == 1
        await asyncio.sleep(LOOK_EVERY_S * 3.5)

        assert work.passes == 4


@on_a_hasty_loop
async def test_a_hint_calls_for_one_at_once_and_another_topic_does_not() -> None:
    work, bus = Work(), MemoryBus()
    bus.subscribe(work.loop.on_notice, *work.loop.hints)
    async with running(work):
        await bus.publish(Notice(Topic.ACCOUNT, "ada"))
        await asyncio.sleep(0.1)
        assert work.passes == 1

        await bus.publish(Notice(Topic.INBOX, ""))
        await asyncio.sleep(0.1)

        assert work.passes == 2


@on_a_hasty_loop
async def test_a_pass_that_fails_ends_nothing() -> None:
    work = Work()
    for fault in (StoreUnavailable("away"), ValueError("a fault of ours")):
        work.fault = fault
        async with running(work):
            before = work.passes
            work.loop.wake()
            await asyncio.sleep(0.1)

            assert work.passes == before + 1
