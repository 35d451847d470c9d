"""Wrong link codes lock an account's linking, for a while."""

from datetime import UTC, datetime, timedelta

from printreach.rules.printers import NO_TRIES, LinkTries, after_wrong_try, is_locked

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def wrong_tries(count: int, *, ending: datetime = NOON) -> LinkTries:
    tries = NO_TRIES
    for seconds_before in reversed(range(count)):
        tries = after_wrong_try(tries, ending - timedelta(seconds=seconds_before))
    return tries


def test_nine_wrong_tries_lock_nothing() -> None:
    assert not is_locked(wrong_tries(9), NOON)


def test_the_tenth_wrong_try_locks_linking_for_fifteen_minutes() -> None:
    tries = wrong_tries(10)

    assert is_locked(tries, NOON)
    assert is_locked(tries, NOON + timedelta(minutes=15) - timedelta(microseconds=1))
    assert not is_locked(tries, NOON + timedelta(minutes=15))


def test_after_the_lock_ten_more_tries_are_free() -> None:
    once_more = after_wrong_try(wrong_tries(10), NOON + timedelta(minutes=15))

    assert once_more.wrong == 1


def test_tries_that_are_long_past_do_not_add_up() -> None:
    later = NOON + timedelta(minutes=16)

    assert not is_locked(after_wrong_try(wrong_tries(9), later), later)
