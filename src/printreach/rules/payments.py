"""Supporter status that is paid for: the account at a provider, and until when it is given."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, assert_never

LATE_TIME: Final = timedelta(days=7)
"""The time by which a payment may be late: providers try a card several times before they give up,
and their call may be late, too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StripeAccount:
    """The operator's account at Stripe.

    prices: ids of recurring ones, in the order of the pages. api_url: another one for tests.
    """

    secret_key: str = field(repr=False)
    webhook_secret: str = field(repr=False)
    prices: tuple[str, ...]
    api_url: str


class PaymentState(StrEnum):
    """The state of a subscription, whatever the provider calls it."""

    PAID = "paid"
    LATE = "late"
    """The period has begun, and its payment failed so far."""
    WAITING = "waiting"
    """The first payment is under way."""
    REFUNDED = "refunded"
    """The payment of this period was given back, or lost in a dispute."""
    DISPUTED = "disputed"
    """The payer's bank has taken the payment of this period back, and it is not decided yet."""
    HALTED = "halted"
    """It is unpaid, and continues once its payer settles that with the provider."""
    OVER = "over"


@dataclass(frozen=True, kw_only=True, slots=True)
class Subscription:
    """A subscription as the provider reports it.

    account_id: for whom it was bought; None where it wasn't bought here.
    ends_at: when it ends by itself, where it was cancelled.
    """

    subscription_id: str
    customer_id: str
    account_id: str | None
    state: PaymentState
    begun_at: datetime
    period_begins_at: datetime
    period_ends_at: datetime
    ends_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Payer:
    """An account that pays or was about to, as the provider knows it.

    checkout_id: the page of the provider on which it was to pay last. unknown_since: when the
    provider first answered that it knows no such customer.
    """

    account_id: str
    customer_id: str | None = None
    checkout_id: str | None = None
    unknown_since: datetime | None = None


def paid_until(subscription: Subscription) -> datetime | None:
    """Return the first instant at which it gives nothing more; None where it gives nothing now."""
    match subscription.state:
        case PaymentState.PAID:
            return subscription.ends_at or subscription.period_ends_at + LATE_TIME
        case PaymentState.LATE:
            return subscription.period_begins_at + LATE_TIME
        case PaymentState.WAITING | PaymentState.REFUNDED | PaymentState.OVER:
            return None
        case PaymentState.DISPUTED | PaymentState.HALTED:
            return None
        case _:
            assert_never(subscription.state)


def longest_paid(subscriptions: Iterable[Subscription]) -> datetime | None:
    """Return until when the best of the subscriptions counts."""
    ends = [end for end in map(paid_until, subscriptions) if end is not None]
    return max(ends, default=None)


def is_going_on(subscription: Subscription) -> bool:
    """Whether it would or could take money again.

    Such an account can't buy another subscription.
    """
    return subscription.state is not PaymentState.OVER and subscription.ends_at is None
