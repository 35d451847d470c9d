"""Timers shared by many, by a clock that jumps."""

import asyncio

import pytest

from printreach.tunnel.shared_timer import BATCH, TICK_S, ScheduledCall, SharedTimer
from tests.fakes.hasty_loop import hasty_loop, on_a_hasty_loop, settle


class Calls:
    """The instants at which it was called."""

    def __init__(self) -> None:
        self.at: list[float] = []

    def __call__(self) -> None:
        self.at.append(hasty_loop().time())


@pytest.mark.parametrize("delay_s", [-5.0, 0.0, 0.001, 0.249, 0.25, 0.251, 29.9, 30.0])
def test_a_call_comes_once_never_early_and_at_most_a_tick_late(delay_s: float) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        calls, now = Calls(), hasty_loop().time()
        SharedTimer().call_at(now + delay_s, calls)
        await asyncio.sleep(60.0)

        assert len(calls.at) == 1
        assert delay_s <= calls.at[0] - now <= max(delay_s, 0.0) + TICK_S

    body()


@on_a_hasty_loop
async def test_calls_due_within_one_tick_are_one_timer_of_the_loop() -> None:
    beat, calls, now = SharedTimer(), Calls(), hasty_loop().time()
    timers = hasty_loop().timers
    for number in range(BATCH):
        beat.call_at(now + 30.0 + (number + 1) * TICK_S / BATCH, calls)

    assert hasty_loop().timers == timers + 1
    await asyncio.sleep(30.0 + TICK_S)
    assert len(calls.at) == BATCH


@on_a_hasty_loop
async def test_a_cancelled_call_is_not_called() -> None:
    beat, kept, cancelled = SharedTimer(), Calls(), Calls()
    at = hasty_loop().time() + 1.0
    appointment = beat.call_at(at, cancelled)
    beat.call_at(at, kept)
    appointment.cancel()
    await asyncio.sleep(2.0)

    assert (len(kept.at), len(cancelled.at)) == (1, 0)


@on_a_hasty_loop
async def test_a_call_cancelled_by_an_earlier_one_of_its_tick_is_not_called() -> None:
    beat, second = SharedTimer(), Calls()
    at = hasty_loop().time() + 1.0
    appointments: list[ScheduledCall] = []

    def cancel_the_second() -> None:
        appointments[0].cancel()

    beat.call_at(at, cancel_the_second)
    appointments.append(beat.call_at(at, second))
    await asyncio.sleep(2.0)

    assert second.at == []


@on_a_hasty_loop
async def test_a_call_that_raises_does_not_stop_the_others() -> None:
    def fails() -> None:
        raise ZeroDivisionError

    beat, calls = SharedTimer(), Calls()
    at = hasty_loop().time() + 1.0
    beat.call_at(at, fails)
    beat.call_at(at, calls)
    await asyncio.sleep(2.0)

    assert len(calls.at) == 1


@on_a_hasty_loop
async def test_when_very_many_are_due_others_have_their_turn_in_between() -> None:
    beat, calls, now = SharedTimer(), Calls(), hasty_loop().time()
    for _ in range(10 * BATCH):
        beat.call_at(now + TICK_S, calls)
    await asyncio.sleep(TICK_S)
    await settle()

    assert len(calls.at) == BATCH
    await asyncio.sleep(1.0)
    assert len(calls.at) == 10 * BATCH
    assert len(set(calls.at)) == 10
