"""How many attempts a target may have, by how it has behaved."""

from printreach.hub.webhooks.lanes import FIRST_SHARE, QUICK_MS, QUICK_SHARE, ROOM, Lane, Lanes

GOOD, BAD = "https://good.example:443", "https://bad.example:443"


def begin_all(lanes: Lanes, origin: str) -> list[Lane]:
    return [lanes.begin(origin) for _ in range(lanes.room(origin))]


def test_a_target_that_answers_gets_more_attempts_up_to_its_share() -> None:
    lanes = Lanes()
    shares = []
    for _ in range(8):
        shares.append(lanes.room(GOOD))
        lanes.end(GOOD, lanes.begin(GOOD), answered_in_ms=5)

    assert shares[0] == FIRST_SHARE[Lane.NEW]
    assert shares[:3] == [2, 4, 8]
    assert shares[-1] == QUICK_SHARE


def test_a_target_that_hangs_falls_back_to_few() -> None:
    lanes = Lanes()
    for _ in range(8):
        lanes.end(BAD, lanes.begin(BAD), answered_in_ms=5)
    lanes.end(BAD, lanes.begin(BAD), answered_in_ms=None)

    assert lanes.room(BAD) == FIRST_SHARE[Lane.SLOW]


def test_a_slow_answer_counts_as_slow_and_a_quick_failure_does_not() -> None:
    lanes = Lanes()
    lanes.end(BAD, lanes.begin(BAD), answered_in_ms=QUICK_MS + 1)
    lanes.end(GOOD, lanes.begin(GOOD), answered_in_ms=QUICK_MS)

    assert lanes.begin(BAD) is Lane.SLOW
    assert lanes.begin(GOOD) is Lane.QUICK


def test_however_many_targets_hang_those_that_answer_keep_their_room() -> None:
    lanes = Lanes()
    lanes.meet(GOOD, Lane.QUICK)
    for number in range(1000):
        origin = f"https://bad{number}.example:443"
        lanes.meet(origin, Lane.SLOW if number % 2 else Lane.NEW)
        begin_all(lanes, origin)

    assert lanes.room("https://new.example:443") == 0
    assert lanes.room(GOOD) == FIRST_SHARE[Lane.QUICK]


def test_room_comes_back_with_each_attempt_that_ends() -> None:
    lanes = Lanes()
    lanes.meet(BAD, Lane.SLOW)
    for _ in range(3 * ROOM[Lane.SLOW]):
        for lane in begin_all(lanes, BAD):
            lanes.end(BAD, lane, answered_in_ms=None)

    assert lanes.room(BAD) == FIRST_SHARE[Lane.SLOW]


def test_an_attempt_leaves_the_room_that_it_took_though_its_target_has_moved() -> None:
    lanes = Lanes()
    first, second = begin_all(lanes, BAD)
    lanes.end(BAD, first, answered_in_ms=None)
    lanes.end(BAD, second, answered_in_ms=5)

    taken = [len(begin_all(lanes, f"https://new{n}.example:443")) for n in range(ROOM[Lane.NEW])]
    assert sum(taken) == ROOM[Lane.NEW]


def test_the_more_queues_wait_for_a_target_the_later_each_looks_again() -> None:
    lanes = Lanes()
    waits = [lanes.park(BAD, 0.0) for _ in range(1000)]

    assert waits == sorted(waits)
    assert waits[0] < 2
    assert waits[-1] > 50
    assert lanes.park(BAD, 26.0) < waits[-1] / 2 + 2


def test_a_target_that_answers_again_has_nobody_waiting_long() -> None:
    lanes = Lanes()
    for _ in range(1000):
        lanes.park(BAD, 0.0)
    lanes.end(BAD, lanes.begin(BAD), answered_in_ms=5)

    assert lanes.park(BAD, 0.0) < 2


def test_queues_that_never_came_back_make_nobody_wait() -> None:
    """Another worker has them by now, or their webhook is gone."""
    lanes = Lanes()
    waits = [lanes.park(BAD, now * 60.0) for now in range(1000)]

    assert waits[-1] < 2
