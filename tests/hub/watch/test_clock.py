"""What a clock that jumps does to a print that is being looked at."""

import pytest

from printreach.hub.watch.rounds import WatchRounds
from tests.fakes.loop import on_a_loop
from tests.hub.watch.test_pause import PAUSED, PAUSES, WARNING, fail
from tests.hub.watch.world import watching
from tests.hub.world import OpenWorld


@pytest.mark.slow
@on_a_loop
async def test_a_clock_that_jumps_ahead_during_an_order_interrupts_nothing(
    open_world: OpenWorld,
) -> None:
    """The claim has lapsed by the clock, and the look that holds it goes on."""
    async with watching(open_world, PAUSES) as here:
        claimed = []

        async def jump() -> None:
            here.world.clock.advance(2 * WatchRounds.lease)
            claimed.append(await here.rounds.begin_due())
            here.machine.pauses()

        here.machine.on_order = jump
        await fail(here)
        told = await here.told()

        assert claimed == [0]
        assert [event.event_type for event in told] == [WARNING, PAUSED]
        assert not any(event.error for event in told)
