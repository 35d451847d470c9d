"""An app's webhook: its filter, its lifetime, and the effect of an attempt's outcome.

Time and randomness come in as arguments.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from printreach.languages import N_, in_english

LIFETIME: Final = timedelta(days=180)
"""The lifetime since the last successful SetNotificationWebhook."""
DISABLED_AFTER: Final = timedelta(days=5)
"""The time without a success after which a webhook is disabled."""
FEWEST_FAILURES: Final = 10
"""The fewest failures that disable a webhook: one schedule's worth.

A clock that was set forward by a week must not disable a webhook that failed once.
"""
RETRY_DELAYS: Final = (
    timedelta(seconds=5),
    timedelta(seconds=30),
    timedelta(minutes=2),
    timedelta(minutes=10),
    timedelta(hours=1),
    timedelta(hours=3),
    timedelta(hours=8),
    timedelta(hours=16),
    timedelta(hours=24),
)
JITTER: Final = 0.2
"""The random part of a delay, so that retries after an outage are spread."""
LONGEST_DELAY: Final = RETRY_DELAYS[-1] * (1 + JITTER)
GONE: Final = 410
MAX_QUEUED: Final = 5000
"""The most queued calls of one webhook: some fifty days of a busy printer, or a flood."""
MAX_LOGGED: Final = 2000
"""The most finished calls of one webhook that can be viewed."""
TOO_MANY: Final = in_english(
    "More than %(calls)s calls waited, so the oldest were dropped.", calls=MAX_QUEUED
)


class DeliveryState(StrEnum):
    """The states of a delivery."""

    QUEUED = "queued"
    DELIVERED = "delivered"
    GIVEN_UP = "given-up"
    """Every attempt failed, or the webhook ended before."""
    DROPPED = "dropped"
    """It was a Progress and is stale, the filter excludes it by now, or too many waited."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Webhook:
    """One App Connection's webhook.

    event_filter: the event types that are wanted; empty wants all.
    failing_since, failures: the first failed attempt since the last success, and how many.
    """

    connection_id: str
    url: str
    event_filter: tuple[int, ...]
    set_at: datetime
    failing_since: datetime | None = None
    failures: int = 0
    last_success_at: datetime | None = None
    disabled_at: datetime | None = None
    disabled_reason: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Delivery:
    """An event that is queued for a webhook.

    attempts: those made so far. has_newer_progress: it is a Progress, and a newer one of the same
    print is due or was, whatever has come of it. has_told_end: it is a Progress, and the receiver
    was told of the print's end.
    """

    delivery_id: int
    event_id: str
    event_type: int
    body: bytes
    attempts: int
    has_newer_progress: bool
    has_told_end: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The outcome of one attempt.

    http_status: of the answer; None where none came, and then error says why.
    retry_after: what the receiver asked for.
    """

    http_status: int | None
    duration_ms: int
    error: str | None = None
    retry_after: timedelta | None = None

    @property
    def is_success(self) -> bool:
        return self.http_status is not None and 200 <= self.http_status < 300


@dataclass(frozen=True, kw_only=True, slots=True)
class NewDelivery:
    """A delivery to be queued. body: as it will be sent. at: when the event happened."""

    connection_id: str
    event_id: str
    event_type: int
    print_id: str
    at: datetime
    body: bytes = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempted:
    """The outcome of a delivery.

    outcome: of an attempt; None if none was made. reason: why it ended without a success. due_at:
    of the next attempt, while it is queued.
    """

    delivery_id: int
    state: DeliveryState
    attempts: int
    at: datetime
    outcome: Outcome | None = None
    reason: str | None = None
    due_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedDelivery:
    """A delivery as people see it: without the body."""

    delivery_id: int
    connection_id: str
    event_id: str
    event_type: int
    at: datetime
    state: DeliveryState
    attempts: int
    attempted_at: datetime | None
    http_status: int | None
    duration_ms: int | None
    error: str | None
    due_at: datetime | None


def is_live(webhook: Webhook, at: datetime) -> bool:
    """True while it may be called; the last instant is excluded."""
    return at < webhook.set_at + LIFETIME


def is_active(webhook: Webhook, at: datetime) -> bool:
    """True while events are sent to it."""
    return is_live(webhook, at) and webhook.disabled_at is None


def wants(webhook: Webhook, event_type: int) -> bool:
    """True where the filter lets that type through."""
    return not webhook.event_filter or event_type in webhook.event_filter


def retry_delay(
    attempts: int, jitter: float, retry_after: timedelta | None = None
) -> timedelta | None:
    """Return the wait after that number of failed attempts; None: give up.

    jitter: random, 0 to 1. retry_after: waited for if longer, but never beyond the longest delay.
    """
    if attempts > len(RETRY_DELAYS):
        return None
    delay = RETRY_DELAYS[attempts - 1] * (1 + JITTER * jitter)
    return delay if retry_after is None else min(max(delay, retry_after), LONGEST_DELAY)


def after_success(webhook: Webhook, at: datetime) -> Webhook:
    """Reset the failures after a success."""
    return replace(webhook, failing_since=None, failures=0, last_success_at=at)


def after_failure(webhook: Webhook, outcome: Outcome, at: datetime) -> Webhook:
    """Count one more failure, which may disable the webhook."""
    since = webhook.failing_since
    if since is None or since > at:  # the clock was set back
        since = at
    failed = replace(webhook, failing_since=since, failures=webhook.failures + 1)
    if webhook.disabled_at is not None:
        return failed
    if failed.failures < FEWEST_FAILURES or at - since < DISABLED_AFTER:
        return failed
    days = DISABLED_AFTER.days
    reason = in_english(
        "No attempt succeeded for %(days)s days. The last one: %(sentence)s",
        days=days,
        sentence=in_words(outcome),
    )
    return replace(failed, disabled_at=at, disabled_reason=reason)


def in_words(outcome: Outcome) -> str:
    """Describe an attempt in one sentence."""
    if outcome.error is not None:
        return outcome.error
    return in_english("The receiver answered %(status)s.", status=outcome.http_status)


def problem_with_delivery(webhook: Webhook, delivery: Delivery) -> str | None:
    """Return why a delivery that is due is not made after all; None: make it."""
    if not wants(webhook, delivery.event_type):
        return N_("The webhook's filter excludes this type by now.")
    if delivery.has_newer_progress:
        return N_("A newer progress of this print was due.")
    if delivery.has_told_end:
        return N_("The receiver was told of this print's end.")
    return None
