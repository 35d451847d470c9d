"""The watch over a print: when it looks, what it keeps, and when it warns."""

import asyncio

import pytest

from printreach.contract.app_answers import WatchState
from printreach.contract.events import EventType
from printreach.contract.status import State
from printreach.ports.scoring import PictureUnreadable, ScorerBusy, ScorerUnavailable
from printreach.rules.detection.detector import watch_status
from printreach.rules.watch import GIVEN_UP_AFTER
from printreach.rules.watch.choices import Region, WatchSettings
from tests.fakes.loop import on_a_loop
from tests.fakes.printer_http import OFFLINE
from tests.hub.watch.world import (
    BAD,
    NO_CAMERA,
    PRINT,
    SECOND,
    watching,
)
from tests.hub.world import PRINTER_ID, OpenWorld

WARNING, PAUSED = EventType.POSSIBLE_FAILURE, EventType.PAUSED_BY_DETECTOR


# --- when it looks --------------------------------------------------------------------------------


@on_a_loop
async def test_a_print_is_looked_at_from_its_start_to_its_end(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        await here.goes_on(100)
        assert here.scorer.shown == 5

        await here.happens(EventType.COMPLETE)
        await here.goes_on(100)

        assert here.scorer.shown == 5


@on_a_loop
async def test_a_print_under_suspicion_is_looked_at_more_often(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        await here.goes_on(60)
        before = here.scorer.shown
        await here.goes_on(40, BAD, every_s=5)

        assert here.scorer.shown - before >= 5


@on_a_loop
async def test_a_busy_detector_is_asked_less_often(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        here.scorer.load = 1.0
        await here.goes_on(120)

        assert here.scorer.shown == 2


@pytest.mark.parametrize(
    "refusal", [ScorerBusy("full"), ScorerUnavailable("none"), PictureUnreadable("corrupt")]
)
def test_what_gives_no_score_is_tried_again_after_a_while(
    open_world: OpenWorld, refusal: Exception
) -> None:
    async def main() -> None:
        async with watching(open_world) as here:
            assert isinstance(refusal, ScorerBusy | ScorerUnavailable | PictureUnreadable)
            here.scorer.refusal = refusal
            await here.goes_on(600, every_s=20)
            assert 2 <= here.scorer.shown <= 12
            assert await here.looks() == []

            here.scorer.refusal = None
            await here.goes_on(300, every_s=60)
            assert await here.looks() != []

    asyncio.run(main())


@on_a_loop
async def test_nothing_is_looked_at_while_a_print_stands(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        await here.goes_on(20)
        here.machine.pauses()
        await here.happens(EventType.PAUSED)
        shown = here.scorer.shown
        await here.goes_on(300, every_s=60)
        assert here.scorer.shown == shown

        here.machine.prints()
        await here.happens(EventType.RESUMED)
        await here.goes_on(10)

        assert here.scorer.shown == shown + 1


@on_a_loop
async def test_nothing_is_looked_at_while_the_bed_heats(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        here.machine.prints(State.WARMING_UP)
        await here.goes_on(60)
        assert here.machine.cameras == []

        here.machine.prints()
        await here.goes_on(10)
        assert len(here.machine.cameras) == 1


@on_a_loop
async def test_a_printer_without_a_camera_is_asked_for_a_picture_every_ten_minutes(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world) as here:
        here.machine.camera = NO_CAMERA
        await here.goes_on(1800, every_s=60)

        assert len(here.machine.cameras) == 3
        assert await here.said() is None


@on_a_loop
async def test_a_printer_that_is_away_costs_little_and_is_given_up_in_the_end(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world) as here:
        here.machine.statuses[PRINTER_ID] = OFFLINE
        await here.goes_on(600, every_s=30)
        assert 8 <= here.machine.asks[PRINTER_ID] <= 12

        here.world.clock.advance(GIVEN_UP_AFTER)
        await here.look()
        asks = here.machine.asks[PRINTER_ID]
        await here.goes_on(600, every_s=60)
        assert here.machine.asks[PRINTER_ID] == asks

        here.machine.prints()
        await here.happens(EventType.PROGRESS)
        await here.goes_on(10)
        assert here.scorer.shown == 1


@on_a_loop
async def test_a_print_whose_end_nobody_told_is_over_at_the_next_look(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world) as here:
        here.machine.prints(State.IDLE)
        await here.goes_on(600, every_s=60)

        assert here.machine.asks[PRINTER_ID] == 1


@on_a_loop
async def test_a_print_whose_start_nobody_told_takes_the_place_of_the_one_before(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world) as here:
        await here.goes_on(40)
        here.machine.prints(print_id="print-2")
        await here.goes_on(60)

        assert len(await here.looks("print-2")) >= 1
        assert len(await here.looks()) == 1


@on_a_loop
async def test_of_a_print_that_is_left_alone_no_picture_is_taken(open_world: OpenWorld) -> None:
    async with watching(open_world, WatchSettings(off_for_print=PRINT)) as here:
        await here.goes_on(300, every_s=60)
        assert here.machine.cameras == []
        said = await here.said()
        assert said is not None
        assert watch_status(said, State.PRINTING).state is WatchState.DISABLED_FOR_THIS_PRINT

        await here.choose(WatchSettings())
        await here.goes_on(10)
        assert len(here.machine.cameras) == 1


@on_a_loop
async def test_where_the_watch_is_off_nothing_is_said(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        await here.goes_on(60)
        assert await here.said() is not None

        await here.choose(WatchSettings(enabled=False))
        shown = here.scorer.shown
        await here.goes_on(300, every_s=60)

        assert here.scorer.shown == shown
        assert await here.said() is None


@on_a_loop
async def test_what_is_switched_off_during_a_look_is_not_kept(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        here.machine.on_picture = lambda: here.choose(WatchSettings(enabled=False))
        await here.look()
        await here.goes_on(10)

        assert len(here.machine.cameras) == 1
        assert await here.looks() == []
        assert await here.said() is None


@on_a_loop
async def test_what_is_chosen_while_there_is_no_picture_counts_at_once(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world) as here:
        here.machine.camera = NO_CAMERA
        here.machine.on_picture = lambda: here.choose(WatchSettings(off_for_print=PRINT))
        await here.goes_on(20)
        said = await here.said()

        assert said is not None
        assert said.is_suppressed


@on_a_loop
async def test_it_looks_with_the_chosen_camera_and_not_at_what_is_masked(
    open_world: OpenWorld,
) -> None:
    region = Region(0.0, 0.0, 0.5, 0.5)
    async with watching(open_world, WatchSettings(camera=2, masked=(region,))) as here:
        await here.goes_on(10)

        assert here.machine.cameras == ["2"]
        assert here.scorer.masked == (region,)


# --- what it keeps --------------------------------------------------------------------------------


@pytest.mark.slow
@on_a_loop
async def test_a_good_print_leaves_a_look_a_minute_and_one_picture(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        await here.goes_on(600, every_s=20)

        assert here.scorer.shown == 30
        assert 10 <= len(await here.looks()) <= 12
        last = await here.last()
        assert last is not None
        assert last.picture is not None
        assert here.pictures() == 1


@on_a_loop
async def test_agents_and_apps_hear_of_each_look(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        await here.goes_on(100, every_s=20)
        said = await here.said()

        assert said is not None
        assert len(said.score_history) == 5
        assert said.interval_sec == 20
        assert said.last_score == said.score_history[-1] < 20
        assert said.time_since_last_warn_sec is None
        assert watch_status(said, State.PRINTING).state is WatchState.ACTIVE


@on_a_loop
async def test_old_looks_are_forgotten(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        await here.goes_on(60)
        here.world.clock.advance(8 * 24 * 3600 * SECOND)
        await here.rounds.tidy()

        assert await here.looks() == []
