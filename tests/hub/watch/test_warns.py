"""How often the watch warns; what a killed worker leaves to the next; whose print it is."""

import asyncio

import pytest

from printreach.contract.events import EventType
from printreach.hub.watch import EventPictures
from printreach.hub.watch.rounds import DEGRADED, LOOKS_AT_ONCE, WatchRounds
from printreach.rules.watch import WARNED_FOR
from printreach.rules.watch.choices import Judgement, WatchSettings
from printreach.rules.watch.memory import WatchedPrint, WatchMemory
from printreach.store.prints.events import StoredEvent
from tests.fakes.loop import on_a_loop
from tests.hub.watch.world import (
    BAD,
    BROKEN_CAMERA,
    GOOD,
    PRINT,
    SECOND,
    PowerCut,
    WatchWorld,
    watching,
)
from tests.hub.world import BOB, PRINTER_ID, OpenWorld

WARNING = EventType.POSSIBLE_FAILURE


# --- warnings -------------------------------------------------------------------------------------


async def fail(here: WatchWorld) -> None:
    """It prints well for a while, then fails."""
    await here.goes_on(100, GOOD)
    await here.goes_on(90, BAD)


@pytest.mark.slow
@on_a_loop
async def test_a_failing_print_is_warned_of_once(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        await fail(here)
        [event] = await here.told()
        assert event.event_type == WARNING
        assert (event.print_id, event.file_name, event.progress) == (PRINT, "benchy.gcode", 42)
        assert here.machine.orders == []

        await here.goes_on(WARNED_FOR.total_seconds() / 2, every_s=60)

        assert await here.kinds() == [WARNING]
        said = await here.said()
        assert said is not None
        assert said.time_since_last_warn_sec is not None
        assert said.time_since_last_warn_sec > 900


@pytest.mark.slow
@on_a_loop
async def test_a_warning_keeps_its_picture_and_sends_it_with_the_event(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world) as here:
        await fail(here)
        await here.goes_on(300, GOOD, every_s=20)
        [alarm] = await here.alarms()
        assert alarm.look.warned
        assert alarm.evidence == ((BAD, BAD), (BAD, BAD))
        assert here.pictures() == 2
        stored = await stored_event(here)

        pictures = EventPictures(here.world.core, here.parts.snapshots)

        assert await pictures.take(stored) == alarm.picture


@on_a_loop
async def test_an_alarm_knows_the_camera_that_it_came_from(open_world: OpenWorld) -> None:
    async with watching(open_world, WatchSettings(camera=1)) as here:
        await fail(here)
        await here.choose(WatchSettings(camera=2))

        assert [alarm.camera for alarm in await here.alarms()] == [1]


@on_a_loop
async def test_a_look_is_of_the_camera_that_was_chosen_when_it_began(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world, WatchSettings(camera=1)) as here:
        here.machine.on_picture = lambda: here.choose(WatchSettings(camera=2))
        await here.look()
        last = await here.last()

        assert here.machine.cameras == ["1"]
        assert last is not None
        assert last.camera == 1


async def stored_event(here: WatchWorld) -> StoredEvent:
    store = here.world.store
    awaiting = await store.read(lambda records: records.events.awaiting_fan_out(9))
    [stored] = awaiting.events
    return stored


@pytest.mark.slow
@on_a_loop
async def test_a_print_that_was_good_again_is_warned_of_anew(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        await fail(here)
        await here.goes_on(300, GOOD, every_s=20)
        await here.goes_on(90, BAD)

        assert await here.kinds() == [WARNING, WARNING]


async def seconds_until_warned(here: WatchWorld) -> int:
    await here.goes_on(80, GOOD, every_s=20)
    for number in range(1, 30):
        await here.goes_on(5, BAD, every_s=5)
        if await here.told():
            return number * 5
    raise AssertionError("it was never warned of")


def test_false_alarms_of_a_camera_make_it_less_sensitive(
    open_world: OpenWorld, open_other_world: OpenWorld
) -> None:
    async def main() -> None:
        async with watching(open_world, WatchSettings(warning_level=1)) as here:
            without = await seconds_until_warned(here)
        async with watching(open_other_world, WatchSettings(warning_level=1)) as here:
            await here.judge(
                Judgement(
                    printer_id=PRINTER_ID,
                    print_id=PRINT,
                    camera=None,
                    at=here.world.clock.now(),
                    was_failure=False,
                )
            )
            assert await seconds_until_warned(here) > without

    asyncio.run(main())


@pytest.mark.slow
@on_a_loop
async def test_a_clock_that_is_moved_back_neither_warns_again_nor_stops_the_watch(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world) as here:
        await fail(here)
        here.world.clock.advance(-24 * 3600 * SECOND)
        await here.goes_on(300, every_s=60)
        assert await here.kinds() == [WARNING]

        await here.goes_on(300, GOOD, every_s=20)
        await here.goes_on(90, BAD)
        assert await here.kinds() == [WARNING, WARNING]


# --- workers --------------------------------------------------------------------------------------


@on_a_loop
async def test_two_workers_look_once(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        other = here.another_worker()
        here.world.clock.advance(SECOND)
        assert sorted([await here.rounds.begin_due(), await other.begin_due()]) == [0, 1]
        await here.rounds.settled()
        await other.settled()

        assert here.scorer.shown == 1


@on_a_loop
async def test_a_worker_that_died_in_mid_look_is_succeeded(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:

        def die() -> None:
            raise PowerCut

        here.machine.on_picture = die
        await here.goes_on(10)
        here.machine.on_picture = lambda: None
        assert await here.look() == 0

        here.world.clock.advance(WatchRounds.lease)
        other = here.another_worker()
        assert await other.begin_due() == 1
        await other.settled()

        assert here.scorer.shown == 1


@pytest.mark.slow
@on_a_loop
async def test_a_warning_is_told_once_however_often_a_worker_dies(open_world: OpenWorld) -> None:
    """Before it is written nothing was told; after it, it isn't told again."""
    async with watching(open_world) as here:
        await here.goes_on(100, GOOD)
        put = here.states.put

        async def die(printer_id: str, report: object) -> None:
            raise PowerCut

        here.states.put = die  # type: ignore[method-assign]  # a death behind each commit
        here.scorer.probability = BAD
        await here.goes_on(200)
        here.states.put = put  # type: ignore[method-assign]  # it lives again
        await here.goes_on(60)

        assert await here.kinds() == [WARNING]


@on_a_loop
async def test_a_camera_that_hangs_keeps_nobody_waiting(open_world: OpenWorld) -> None:
    """Those whose last look came to nothing have few places, and never those of others."""
    async with watching(open_world) as here:
        here.machine.camera = BROKEN_CAMERA
        await here.goes_on(10)
        here.world.clock.advance(60 * SECOND)
        stuck = dict(_stuck(here) for _ in range(LOOKS_AT_ONCE[DEGRADED]))
        here.rounds._running.update(stuck)
        assert await here.rounds.begin_due() == 0

        here.machine.prints(print_id="print-2")
        await here.happens(EventType.STARTED, "print-2")
        assert await here.rounds.begin_due() == 1
        for task in stuck:
            del here.rounds._running[task]
        await here.rounds.settled()


def _stuck(here: WatchWorld) -> tuple[asyncio.Task[None], WatchedPrint]:
    """A look at another printer."""
    watched = WatchedPrint(
        printer_id="another",
        account_id=here.account_id,
        print_id=PRINT,
        token="t",
        memory=WatchMemory(),
        settings=WatchSettings(),
        degraded=True,
    )
    return asyncio.create_task(asyncio.sleep(0)), watched


@on_a_loop
async def test_a_worker_that_stops_ends_what_it_has_begun(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        here.world.clock.advance(SECOND)
        await here.rounds.begin_due()
        await here.rounds.close()

        assert here.scorer.shown == 1
        assert len(await here.looks()) == 1
        assert await here.rounds.begin_due() == 0


# --- whose print ----------------------------------------------------------------------------------


@on_a_loop
async def test_a_printer_that_changes_owner_in_mid_look_leaves_nothing(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world) as here:
        await fail(here)
        await here.world.add_account(BOB)

        async def relink() -> None:
            await here.world.printers.remove(PRINTER_ID)
            await here.world.link_printer(BOB)

        here.machine.on_picture = relink
        here.world.clock.advance(20 * SECOND)
        await here.look()

        here.machine.on_picture = lambda: None
        await here.goes_on(60)
        assert await here.looks() == []
        assert await here.alarms() == []


@on_a_loop
async def test_nothing_is_left_of_an_account_that_is_deleted(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        await fail(here)
        shown = here.scorer.shown
        await here.world.store.write(lambda records: records.accounts.delete(here.account_id))
        await here.goes_on(60)
        assert here.scorer.shown == shown

        await here.parts.snapshots.forget_nobodys()
        assert here.pictures() == 0


@on_a_loop
async def test_events_of_a_former_owner_begin_no_watch(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        await here.world.add_account(BOB)
        await here.world.printers.remove(PRINTER_ID)
        await here.world.link_printer(BOB)
        await here.happens(EventType.PROGRESS)
        await here.goes_on(60)

        assert here.scorer.shown == 0
