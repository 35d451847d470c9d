"""How many attempts a target may have, by how it has behaved."""

import asyncio
from collections.abc import Awaitable, Callable

from printreach.hub.webhooks.delivery_limiter import (
    FIRST_SLOTS,
    MAX_SLOTS,
    MAX_WAITING_FOR_ONE,
    MIN_SHARE,
    QUICK_MS,
    SLOTS,
    DeliveryLimiter,
    Slots,
    TargetSpeed,
)

FOREVER_S = 60.0
GOOD, BAD = "https://good.example:443", "https://bad.example:443"


def take_all(limiter: DeliveryLimiter, origin: str) -> list[Slots]:
    return [limiter.take(origin, 1) for _ in range(limiter.free_slots(origin))]


def attempt(limiter: DeliveryLimiter, origin: str, *, answered_in_ms: int | None) -> None:
    limiter.end(limiter.take(origin, 1), answered_in_ms=answered_in_ms)


def test_a_target_that_answers_gets_more_attempts_up_to_its_share() -> None:
    limiter = DeliveryLimiter()
    shares = []
    for _ in range(8):
        shares.append(limiter.free_slots(GOOD))
        attempt(limiter, GOOD, answered_in_ms=5)

    assert shares[0] == FIRST_SLOTS[TargetSpeed.NEW]
    assert shares[:3] == [2, 4, 8]
    assert shares[-1] > MAX_SLOTS - MIN_SHARE


def test_a_target_that_hangs_falls_back_to_few() -> None:
    limiter = DeliveryLimiter()
    for _ in range(8):
        attempt(limiter, BAD, answered_in_ms=5)
    attempt(limiter, BAD, answered_in_ms=None)

    assert limiter.free_slots(BAD) == FIRST_SLOTS[TargetSpeed.SLOW]


def test_a_slow_answer_counts_as_slow_and_a_quick_failure_does_not() -> None:
    limiter = DeliveryLimiter()
    attempt(limiter, BAD, answered_in_ms=QUICK_MS + 1)
    attempt(limiter, GOOD, answered_in_ms=QUICK_MS)

    assert limiter.take(BAD, 1).speed is TargetSpeed.SLOW
    assert limiter.take(GOOD, 1).speed is TargetSpeed.QUICK


def test_however_many_targets_hang_those_that_answer_keep_their_room() -> None:
    limiter = DeliveryLimiter()
    limiter.register(GOOD, TargetSpeed.QUICK)
    for number in range(1000):
        origin = f"https://bad{number}.example:443"
        limiter.register(origin, TargetSpeed.SLOW if number % 2 else TargetSpeed.NEW)
        take_all(limiter, origin)

    assert limiter.free_slots("https://new.example:443") == 0
    assert limiter.free_slots(GOOD) == FIRST_SLOTS[TargetSpeed.QUICK]


def test_room_comes_back_with_each_attempt_that_ends() -> None:
    limiter = DeliveryLimiter()
    limiter.register(BAD, TargetSpeed.SLOW)
    for _ in range(3 * SLOTS[TargetSpeed.SLOW]):
        for slot in take_all(limiter, BAD):
            limiter.end(slot, answered_in_ms=None)

    assert limiter.free_slots(BAD) == FIRST_SLOTS[TargetSpeed.SLOW]


def test_an_attempt_leaves_the_room_that_it_took_though_its_target_has_moved() -> None:
    limiter = DeliveryLimiter()
    first, second = take_all(limiter, BAD)
    limiter.end(first, answered_in_ms=None)
    limiter.end(second, answered_in_ms=5)

    taken = [
        len(take_all(limiter, f"https://new{n}.example:443")) for n in range(SLOTS[TargetSpeed.NEW])
    ]
    assert sum(taken) == SLOTS[TargetSpeed.NEW]


def test_the_more_queues_wait_for_a_target_the_later_each_looks_again() -> None:
    limiter = DeliveryLimiter()
    waits = [limiter.park(BAD, 0.0) for _ in range(1000)]

    assert waits == sorted(waits)
    assert waits[0] < 2
    assert waits[-1] > 50
    assert limiter.park(BAD, 26.0) < waits[-1] / 2 + 2


def test_a_target_that_answers_again_has_nobody_waiting_long() -> None:
    limiter = DeliveryLimiter()
    for _ in range(1000):
        limiter.park(BAD, 0.0)
    attempt(limiter, BAD, answered_in_ms=5)

    assert limiter.park(BAD, 0.0) < 2


def test_queues_that_never_came_back_make_nobody_wait() -> None:
    """Another worker has them by now, or their webhook is gone."""
    limiter = DeliveryLimiter()
    waits = [limiter.park(BAD, now * 60.0) for now in range(1000)]

    assert waits[-1] < 2


def test_parked_queues_of_a_target_that_answers_look_again_as_fast_as_it_answers() -> None:
    limiter = DeliveryLimiter()
    for _ in range(8):
        attempt(limiter, GOOD, answered_in_ms=100)
    waits = [limiter.park(GOOD, 0.0) for _ in range(320)]

    assert waits[0] < 0.5
    assert waits[-1] < 2


def test_queues_wait_for_slots_in_turn() -> None:
    async def test(limiter: DeliveryLimiter) -> None:
        limiter.register(GOOD, TargetSpeed.QUICK)
        taken = take_all(limiter, GOOD)
        first = asyncio.create_task(limiter.wait(GOOD, 1, FOREVER_S))
        second = asyncio.create_task(limiter.wait(GOOD, 16, FOREVER_S))
        await asyncio.sleep(0)
        limiter.give_back(taken[0])
        got = await first

        assert got is not None
        assert got.count == 1
        assert not second.done()
        assert limiter.take(GOOD, 1).count == 0
        for slot in taken[1:4]:
            limiter.give_back(slot)
        got = await second
        assert got is not None
        assert got.count == 1

    run_in_loop(test)


def test_no_queue_waits_at_a_target_that_hangs_nor_where_many_wait() -> None:
    async def test(limiter: DeliveryLimiter) -> None:
        limiter.register(BAD, TargetSpeed.SLOW)
        limiter.register(GOOD, TargetSpeed.QUICK)
        take_all(limiter, BAD)
        taken = take_all(limiter, GOOD)
        waiting = [
            asyncio.create_task(limiter.wait(GOOD, 1, FOREVER_S))
            for _ in range(MAX_WAITING_FOR_ONE)
        ]
        await asyncio.sleep(0)

        assert await limiter.wait(BAD, 1, FOREVER_S) is None
        assert await limiter.wait(GOOD, 1, FOREVER_S) is None
        for slot in taken:
            limiter.end(slot, answered_in_ms=5)
        assert sum(task.done() for task in waiting) == 0  # they run when this lets them
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert sum(task.done() for task in waiting) > MAX_SLOTS - MIN_SHARE
        for task in waiting:
            task.cancel()

    run_in_loop(test)


def test_a_queue_that_gives_up_waiting_takes_no_slot_with_it() -> None:
    async def test(limiter: DeliveryLimiter) -> None:
        limiter.register(GOOD, TargetSpeed.QUICK)
        taken = take_all(limiter, GOOD)
        late = await limiter.wait(GOOD, 1, 0.0)
        stopped = asyncio.create_task(limiter.wait(GOOD, 1, FOREVER_S))
        await asyncio.sleep(0)
        for slot in taken:
            limiter.give_back(slot)
        stopped.cancel()
        await asyncio.gather(stopped, return_exceptions=True)

        assert late is None
        assert limiter.free_slots(GOOD) == FIRST_SLOTS[TargetSpeed.QUICK]

    run_in_loop(test)


def run_in_loop(test: Callable[[DeliveryLimiter], Awaitable[None]]) -> None:
    async def run() -> None:
        await test(DeliveryLimiter())

    asyncio.run(run())


def test_a_queue_gets_the_slot_that_another_target_frees_once_all_were_taken() -> None:
    async def test() -> None:
        limiter = DeliveryLimiter()
        taken: list[Slots] = []
        for number in range(SLOTS[TargetSpeed.QUICK] // MAX_SLOTS):
            busy = f"https://busy{number}.example:443"
            limiter.register(busy, TargetSpeed.QUICK)
            for _ in range(8):
                attempt(limiter, busy, answered_in_ms=5)
            taken += take_all(limiter, busy)
        limiter.register(GOOD, TargetSpeed.QUICK)
        waiting = asyncio.create_task(limiter.wait(GOOD, 1, FOREVER_S))
        await asyncio.sleep(0)

        limiter.end(taken[0], answered_in_ms=5)

        async with asyncio.timeout(5):
            slots = await waiting
        assert slots is not None
        assert (slots.origin, slots.count) == (GOOD, 1)

    asyncio.run(test())
