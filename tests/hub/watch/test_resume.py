"""Pauses of a print that its owner resumed: after a while, and twice at most."""

from datetime import timedelta

import pytest

from printreach.contract.events import EventType
from printreach.rules.watch import MAX_PAUSES
from tests.fakes.loop import on_a_loop
from tests.hub.watch.test_pause import PAUSED, PAUSES, WARNING, fail, obeys, resume
from tests.hub.watch.world import BAD, GOOD, watching
from tests.hub.world import OpenWorld


@pytest.mark.slow
@on_a_loop
async def test_a_print_that_its_owner_resumed_is_paused_again_only_after_the_whole_time(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world, PAUSES) as here:
        obeys(here)
        await fail(here)
        await here.goes_on(300, every_s=60)
        await resume(here)
        resumed_at = here.world.clock.now()
        await here.goes_on(50)
        assert len(here.machine.orders) == 1

        while len(here.machine.orders) < 2:
            assert here.world.clock.now() < resumed_at + timedelta(minutes=10)
            await here.goes_on(10)
        assert here.world.clock.now() >= resumed_at + timedelta(seconds=60)


@pytest.mark.slow
@on_a_loop
async def test_a_resume_that_no_event_told_of_is_seen(open_world: OpenWorld) -> None:
    async with watching(open_world, PAUSES) as here:
        obeys(here)
        await fail(here)
        here.machine.prints()
        await here.goes_on(120, every_s=60)
        shown = here.scorer.shown
        await here.goes_on(40)

        assert here.scorer.shown > shown
        assert len(here.machine.orders) == 1


@pytest.mark.slow
@on_a_loop
async def test_after_two_pauses_that_were_taken_back_it_only_warns(open_world: OpenWorld) -> None:
    async with watching(open_world, PAUSES) as here:
        obeys(here)
        await fail(here)
        for _ in range(MAX_PAUSES + 2):
            await resume(here)
            await here.goes_on(160, BAD)

        assert len(here.machine.orders) == MAX_PAUSES
        assert (await here.kinds()).count(PAUSED) == MAX_PAUSES

        await resume(here)
        await here.goes_on(300, GOOD, every_s=20)
        await here.goes_on(120, BAD)
        assert (await here.kinds())[-1] == WARNING
        assert len(here.machine.orders) == MAX_PAUSES


@on_a_loop
async def test_suspicion_from_before_somebody_elses_pause_does_not_count(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world, PAUSES) as here:
        await here.goes_on(80, GOOD, every_s=20)
        await here.goes_on(60, BAD)
        here.machine.pauses()
        await here.happens(EventType.PAUSED)
        await here.goes_on(60, every_s=60)
        await resume(here)
        await here.goes_on(50)

        assert here.machine.orders == []
