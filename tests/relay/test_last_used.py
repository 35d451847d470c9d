"""The times when connections were last used: noted by each request, written at an interval."""

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta

from printreach.relay.admission import BATCH, LastUsedRecorder
from printreach.rules.connections import ConnectionKind
from tests.fakes.clock import NOON, FakeClock
from tests.fakes.grants import MemoryGrants
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import relay

SECOND = timedelta(seconds=1)


@on_a_loop
async def test_a_use_is_written_by_the_end_of_the_node_at_the_latest() -> None:
    async with relay() as rig:
        await rig.agent()
        used, unused = rig.connect("app-used"), rig.connect("app-unused")
        async with calling(rig.port) as caller:
            caller.send(request(used.host, used.bearer))
            assert (await caller.answer()).status == 200
        assert rig.grants.used == {}  # no request writes to the store

        await rig.begin_stop(0.0)
        assert rig.grants.used == {used.unique_id: NOON}
        assert unused.unique_id not in rig.grants.used


@on_a_loop
async def test_a_request_without_the_right_credentials_is_no_use() -> None:
    async with relay() as rig:
        await rig.agent()
        access = rig.connect()
        async with calling(rig.port) as caller:
            caller.send(request(access.host, b"Authorization: Bearer stolen"))
            assert (await caller.answer()).status == 606

        await rig.begin_stop(0.0)
        assert rig.grants.used == {}


@on_a_loop
async def test_many_uses_are_written_once_with_the_latest_time() -> None:
    clock = FakeClock()
    grants = MemoryGrants(clock)
    uses = LastUsedRecorder(grants, clock, list)
    uses.note("app-one")
    clock.advance(SECOND)
    uses.note("app-one")
    await uses.write()
    assert grants.used == {"app-one": NOON + SECOND}

    grants.used.clear()
    await uses.write()
    assert grants.used == {}
    await uses.close()


@on_a_loop
async def test_a_connection_with_a_running_request_is_in_use() -> None:
    clock = FakeClock()
    grants = MemoryGrants(clock)
    uses = LastUsedRecorder(grants, clock, lambda: ["app-webcam"])
    uses.note("app-webcam")
    clock.advance(SECOND)
    await uses.write()
    assert grants.used == {"app-webcam": NOON + SECOND}
    await uses.close()


@on_a_loop
async def test_the_services_own_requests_are_no_use() -> None:
    clock = FakeClock()
    grants = MemoryGrants(clock)
    uses = LastUsedRecorder(grants, clock, list)
    uses.note(f"{ConnectionKind.INTERNAL}-printer")
    await uses.close()

    assert grants.used == {}


@on_a_loop
async def test_uses_that_the_store_rejects_are_written_the_next_time() -> None:
    clock = FakeClock()
    grants = MemoryGrants(clock)
    uses = LastUsedRecorder(grants, clock, list)
    names = {f"app-{number}" for number in range(BATCH + 1)}
    for name in names:
        uses.note(name)
    grants.is_broken = True
    await uses.write()
    grants.is_broken = False

    await uses.close()
    assert grants.used.keys() == names


class SlowAtFirst(MemoryGrants):
    """Takes nothing before it is asked a second time."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self.was_asked = asyncio.Event()

    async def connections_used(self, used: Mapping[str, datetime]) -> None:
        if not self.was_asked.is_set():
            self.was_asked.set()
            await asyncio.Event().wait()
        await super().connections_used(used)


@on_a_loop
async def test_uses_whose_writing_the_end_of_the_node_interrupts_are_written() -> None:
    grants = SlowAtFirst(FakeClock())
    uses = LastUsedRecorder(grants, FakeClock(), list)
    uses.note("app-one")
    writing = asyncio.create_task(uses.write())
    await grants.was_asked.wait()
    writing.cancel()
    await asyncio.gather(writing, return_exceptions=True)

    await uses.close()
    assert grants.used.keys() == {"app-one"}
