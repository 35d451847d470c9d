"""The owner's answer about an alarm ends it for agents, apps and pages."""

import pytest

from printreach.contract.status import DetectorStatus
from printreach.rules.watch.choices import Judgement, WatchPause, WatchSettings
from tests.fakes.loop import on_a_loop
from tests.hub.watch.world import BAD, BROKEN_CAMERA, GOOD, PRINT, SECOND, WatchWorld, watching
from tests.hub.world import PRINTER_ID, OpenWorld

pytestmark = pytest.mark.slow


async def says_fine(here: WatchWorld) -> None:
    await here.judge(
        Judgement(
            printer_id=PRINTER_ID,
            print_id=PRINT,
            camera=None,
            at=here.world.clock.now(),
            was_failure=False,
        )
    )


async def status(here: WatchWorld) -> DetectorStatus:
    said = await here.said()
    assert said is not None
    return said


@pytest.mark.parametrize("has_picture", [True, False])
@pytest.mark.parametrize("is_paused", [True, False])
@on_a_loop
async def test_a_no_ends_the_alarm_at_once(
    open_world: OpenWorld, has_picture: bool, is_paused: bool
) -> None:
    async with watching(open_world) as here:
        await here.goes_on(100, GOOD)
        await here.goes_on(90, BAD)
        assert (await status(here)).time_since_last_warn_sec is not None
        if not has_picture:
            here.machine.camera = BROKEN_CAMERA
        if is_paused:
            here.machine.pauses()

        await says_fine(here)
        here.world.clock.advance(SECOND)
        assert await here.look() == 1

        assert (await status(here)).time_since_last_warn_sec is None


@on_a_loop
async def test_an_answer_that_comes_before_a_pause_is_ordered_prevents_it(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world, WatchSettings(pauses=WatchPause())) as here:
        await here.goes_on(100, GOOD)
        await here.goes_on(60, BAD)
        assert (await status(here)).time_since_last_warn_sec is not None
        asked = 0

        async def answer() -> None:
            nonlocal asked
            asked += 1
            if asked % 2 == 0:  # the second question of a look precedes a pause
                await says_fine(here)

        here.machine.on_ask = answer
        for _ in range(12):
            asked = 0
            await here.goes_on(10, BAD)

        assert here.machine.orders == []


@on_a_loop
async def test_an_answer_that_is_undone_has_the_alarm_stand_again(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        await here.goes_on(100, GOOD)
        await here.goes_on(90, BAD)
        await says_fine(here)
        here.world.clock.advance(SECOND)
        await here.look()
        assert (await status(here)).time_since_last_warn_sec is None

        at = here.world.clock.now()
        await here.world.store.write(
            lambda records: records.watches.undo_judgement(PRINTER_ID, PRINT, at)
        )
        here.world.clock.advance(SECOND)
        assert await here.look() == 1

        assert (await status(here)).time_since_last_warn_sec is not None
