"""The events of a webhook, its lifetime, and its retries."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from printreach.rules.webhooks import (
    DISABLED_AFTER,
    FEWEST_FAILURES,
    LIFETIME,
    LONGEST_DELAY,
    RETRY_DELAYS,
    Delivery,
    Outcome,
    Webhook,
    after_failure,
    after_success,
    is_active,
    is_live,
    problem_with_delivery,
    retry_delay,
    wants,
)

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOOK = Webhook(connection_id="c", url="https://hook.example/", event_filter=(), set_at=NOON)
REFUSED = Outcome(http_status=None, duration_ms=3, error="Connection refused.")
ANSWERED_500 = Outcome(http_status=500, duration_ms=3)


def failing(hook: Webhook, at: datetime, times: int) -> Webhook:
    for _ in range(times):
        hook = after_failure(hook, ANSWERED_500, at)
    return hook


def test_a_webhook_lives_for_180_days_the_last_instant_excluded() -> None:
    assert is_live(HOOK, NOON + LIFETIME - timedelta(microseconds=1))
    assert not is_live(HOOK, NOON + LIFETIME)
    assert timedelta(days=180) == LIFETIME


@pytest.mark.parametrize(("given", "wanted"), [((), True), ((3, 6), True), ((3, 99), False)])
def test_an_empty_filter_wants_all_and_any_other_only_what_it_lists(
    given: tuple[int, ...], wanted: bool
) -> None:
    hook = Webhook(connection_id="c", url="", event_filter=given, set_at=NOON)

    assert wants(hook, 6) is wanted


def test_retries_follow_the_schedule_and_then_end() -> None:
    delays = [retry_delay(attempts, 0.0) for attempts in range(1, 11)]

    assert delays == [*RETRY_DELAYS, None]
    seconds = [delay.total_seconds() for delay in RETRY_DELAYS]
    assert seconds == [5, 30, 120, 600, 3600, 10800, 28800, 57600, 86400]


def test_jitter_only_lengthens_and_by_a_fifth_at_most() -> None:
    assert retry_delay(1, 1.0) == timedelta(seconds=6)


def test_a_receiver_may_ask_for_more_time_but_not_for_ever() -> None:
    assert retry_delay(1, 0.0, timedelta(minutes=1)) == timedelta(minutes=1)
    assert retry_delay(4, 0.0, timedelta(minutes=1)) == RETRY_DELAYS[3]
    assert retry_delay(1, 0.0, timedelta(days=400)) == LONGEST_DELAY


@pytest.mark.parametrize(
    ("status", "is_success"), [(200, True), (204, True), (299, True), (300, False), (None, False)]
)
def test_any_2xx_is_success(status: int | None, is_success: bool) -> None:
    assert Outcome(http_status=status, duration_ms=1).is_success is is_success


def test_five_days_without_one_success_disable_it_with_the_reason() -> None:
    early = failing(HOOK, NOON, FEWEST_FAILURES)
    late = after_failure(early, REFUSED, NOON + DISABLED_AFTER)

    assert is_active(early, NOON)
    assert not is_active(late, NOON + DISABLED_AFTER)
    assert late.disabled_reason == (
        "No attempt succeeded for 5 days. The last one: Connection refused."
    )


def test_a_success_begins_the_count_anew() -> None:
    mended = after_success(failing(HOOK, NOON, FEWEST_FAILURES), NOON + timedelta(days=4))
    again = failing(mended, NOON + timedelta(days=6), FEWEST_FAILURES)

    assert is_active(again, NOON + timedelta(days=6))


def test_a_clock_set_forward_by_a_week_does_not_disable_what_failed_once() -> None:
    once = after_failure(HOOK, ANSWERED_500, NOON)

    assert is_active(after_failure(once, ANSWERED_500, NOON + timedelta(days=7)), NOON)


def test_a_clock_set_back_begins_the_count_anew() -> None:
    ahead = failing(HOOK, NOON + timedelta(days=365), FEWEST_FAILURES)
    now = after_failure(ahead, ANSWERED_500, NOON)

    assert now.failing_since == NOON
    assert is_active(now, NOON)


def owed(
    event_type: int = 6, *, has_newer_progress: bool = False, has_told_end: bool = False
) -> Delivery:
    return Delivery(
        delivery_id=1,
        event_id="event-00001",
        event_type=event_type,
        body=b"{}",
        attempts=0,
        has_newer_progress=has_newer_progress,
        has_told_end=has_told_end,
    )


def test_what_is_due_is_sent_as_long_as_the_webhook_wants_it() -> None:
    only_ends = replace(HOOK, event_filter=(2, 3))

    assert problem_with_delivery(HOOK, owed()) is None
    assert problem_with_delivery(only_ends, owed(6)) is not None
    assert problem_with_delivery(only_ends, owed(2)) is None


def test_a_progress_is_dropped_where_a_newer_one_of_its_print_is_due() -> None:
    assert problem_with_delivery(HOOK, owed(has_newer_progress=True)) is not None


def test_a_progress_is_dropped_where_the_end_of_its_print_was_told() -> None:
    assert problem_with_delivery(HOOK, owed(has_told_end=True)) is not None
