"""Nothing is forgotten for its age by a clock that has just jumped."""

from datetime import timedelta

import pytest

from printreach.hub.clock_jumps import CONFIRMED_AFTER_S, JUMP, ClockJumpGuard
from tests.fakes.clock import FakeClock
from tests.fakes.loop import on_a_loop

AN_HOUR = timedelta(hours=1)


class Passing:
    """Time that goes by, and a pass that forgets what is old."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.lived_s = 1000.0
        self.passes = 0
        watch = ClockJumpGuard(self.clock, lambda: self.lived_s)
        self.run = watch.guarded(self._forget)

    async def after(self, lived: timedelta, *, jump: timedelta = timedelta(0)) -> int:
        """How many passes there have been when so much time has gone by."""
        self.lived_s += lived.total_seconds()
        self.clock.advance(lived + jump)
        await self.run()
        return self.passes

    async def _forget(self) -> None:
        self.passes += 1


@on_a_loop
async def test_a_clock_that_goes_as_time_goes_is_believed() -> None:
    passing = Passing()

    assert await passing.after(AN_HOUR) == 1
    assert await passing.after(100 * AN_HOUR, jump=JUMP / 2) == 2


@pytest.mark.parametrize("jump", [timedelta(days=400), timedelta(days=-400)])
@on_a_loop
async def test_after_a_jump_nothing_is_forgotten_for_a_day(
    jump: timedelta, caplog: pytest.LogCaptureFixture
) -> None:
    passing, a_day = Passing(), timedelta(seconds=CONFIRMED_AFTER_S)

    assert await passing.after(AN_HOUR, jump=jump) == 0
    assert await passing.after(AN_HOUR) == 0
    assert "Nothing old is removed for a day" in caplog.text
    assert await passing.after(a_day) == 1


@on_a_loop
async def test_a_clock_that_is_set_right_again_is_a_jump_too() -> None:
    passing = Passing()
    await passing.after(AN_HOUR, jump=timedelta(days=200))

    assert await passing.after(23 * AN_HOUR, jump=timedelta(days=-200)) == 0
    assert await passing.after(2 * AN_HOUR) == 0
