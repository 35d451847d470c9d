"""What the watch said of a print outlives the process that said it."""

from datetime import timedelta

import pytest

from printreach.backends.detector_memory import MemoryDetectorStates
from printreach.contract.events import EventType
from printreach.contract.status import DetectorStatus
from printreach.hub.watch import CachedDetectorStates
from printreach.ports.relaying import DetectorReport
from printreach.rules.watch.choices import WatchSettings
from tests.fakes.loop import on_a_loop
from tests.fakes.memory_bus import MemoryBus
from tests.hub.watch.world import PRINT, WatchWorld, watching
from tests.hub.world import PRINTER_ID, OpenWorld

LATER = timedelta(seconds=90)


def after_a_restart(here: WatchWorld) -> CachedDetectorStates:
    """Of a process that has heard nothing yet."""
    return CachedDetectorStates(
        heard=MemoryDetectorStates(MemoryBus()), store=here.world.store, clock=here.world.clock
    )


@on_a_loop
async def test_after_a_restart_the_last_look_is_told_with_its_age(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        await here.look()
        before = await here.said()
        here.world.clock.advance(LATER)
        said = await after_a_restart(here).latest(PRINTER_ID)

        assert before is not None
        assert said is not None
        assert said.print_id == PRINT
        assert said.at == here.world.clock.now()
        assert said.status.score_history == before.score_history != []
        assert said.status.time_since_last_score_sec == LATER.total_seconds()


@on_a_loop
async def test_what_was_heard_since_the_restart_goes_first(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        await here.look()
        states = after_a_restart(here)
        news = DetectorReport(
            print_id=PRINT, status=DetectorStatus(last_score=77.0), at=here.world.clock.now()
        )
        await states.put(PRINTER_ID, news)

        assert await states.latest(PRINTER_ID) == news


@on_a_loop
async def test_of_a_print_that_is_over_nothing_is_told(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        await here.look()
        await here.happens(EventType.COMPLETE)

        assert await after_a_restart(here).latest(PRINTER_ID) is None


@on_a_loop
async def test_of_a_printer_that_is_not_looked_at_any_more_no_print_is_told(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world) as here:
        await here.look()
        await here.choose(WatchSettings(enabled=False))
        said = await after_a_restart(here).latest(PRINTER_ID)

        assert said is not None
        assert said.print_id == ""


@on_a_loop
async def test_of_a_print_that_is_left_alone_that_is_told(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        await here.choose(WatchSettings(off_for_print=PRINT))
        said = await after_a_restart(here).latest(PRINTER_ID)

        assert said is not None
        assert said.status.is_suppressed


@pytest.mark.slow
@on_a_loop
async def test_of_a_printer_of_nobody_nothing_is_told(open_world: OpenWorld) -> None:
    async with watching(open_world) as here:
        await here.look()
        await here.world.printers.remove(PRINTER_ID)

        assert await after_a_restart(here).latest(PRINTER_ID) is None
