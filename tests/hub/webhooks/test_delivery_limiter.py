"""How many attempts a target may have, by how it has behaved."""

from printreach.hub.webhooks.delivery_limiter import (
    FIRST_SLOTS,
    MAX_SLOTS,
    QUICK_MS,
    SLOTS,
    DeliveryLimiter,
    TargetSpeed,
)

GOOD, BAD = "https://good.example:443", "https://bad.example:443"


def begin_all(limiter: DeliveryLimiter, origin: str) -> list[TargetSpeed]:
    return [limiter.begin(origin) for _ in range(limiter.free_slots(origin))]


def test_a_target_that_answers_gets_more_attempts_up_to_its_share() -> None:
    limiter = DeliveryLimiter()
    shares = []
    for _ in range(8):
        shares.append(limiter.free_slots(GOOD))
        limiter.end(GOOD, limiter.begin(GOOD), answered_in_ms=5)

    assert shares[0] == FIRST_SLOTS[TargetSpeed.NEW]
    assert shares[:3] == [2, 4, 8]
    assert shares[-1] == MAX_SLOTS


def test_a_target_that_hangs_falls_back_to_few() -> None:
    limiter = DeliveryLimiter()
    for _ in range(8):
        limiter.end(BAD, limiter.begin(BAD), answered_in_ms=5)
    limiter.end(BAD, limiter.begin(BAD), answered_in_ms=None)

    assert limiter.free_slots(BAD) == FIRST_SLOTS[TargetSpeed.SLOW]


def test_a_slow_answer_counts_as_slow_and_a_quick_failure_does_not() -> None:
    limiter = DeliveryLimiter()
    limiter.end(BAD, limiter.begin(BAD), answered_in_ms=QUICK_MS + 1)
    limiter.end(GOOD, limiter.begin(GOOD), answered_in_ms=QUICK_MS)

    assert limiter.begin(BAD) is TargetSpeed.SLOW
    assert limiter.begin(GOOD) is TargetSpeed.QUICK


def test_however_many_targets_hang_those_that_answer_keep_their_room() -> None:
    limiter = DeliveryLimiter()
    limiter.register(GOOD, TargetSpeed.QUICK)
    for number in range(1000):
        origin = f"https://bad{number}.example:443"
        limiter.register(origin, TargetSpeed.SLOW if number % 2 else TargetSpeed.NEW)
        begin_all(limiter, origin)

    assert limiter.free_slots("https://new.example:443") == 0
    assert limiter.free_slots(GOOD) == FIRST_SLOTS[TargetSpeed.QUICK]


def test_room_comes_back_with_each_attempt_that_ends() -> None:
    limiter = DeliveryLimiter()
    limiter.register(BAD, TargetSpeed.SLOW)
    for _ in range(3 * SLOTS[TargetSpeed.SLOW]):
        for speed in begin_all(limiter, BAD):
            limiter.end(BAD, speed, answered_in_ms=None)

    assert limiter.free_slots(BAD) == FIRST_SLOTS[TargetSpeed.SLOW]


def test_an_attempt_leaves_the_room_that_it_took_though_its_target_has_moved() -> None:
    limiter = DeliveryLimiter()
    first, second = begin_all(limiter, BAD)
    limiter.end(BAD, first, answered_in_ms=None)
    limiter.end(BAD, second, answered_in_ms=5)

    taken = [
        len(begin_all(limiter, f"https://new{n}.example:443"))
        for n in range(SLOTS[TargetSpeed.NEW])
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
    limiter.end(BAD, limiter.begin(BAD), answered_in_ms=5)

    assert limiter.park(BAD, 0.0) < 2


def test_queues_that_never_came_back_make_nobody_wait() -> None:
    """Another worker has them by now, or their webhook is gone."""
    limiter = DeliveryLimiter()
    waits = [limiter.park(BAD, now * 60.0) for now in range(1000)]

    assert waits[-1] < 2
