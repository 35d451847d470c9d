"""The payment provider, and what is stored of who pays."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from printreach.rules.payments import Subscription


class PaymentsUnavailable(Exception):
    """The provider could not be reached, or refused: what, in a sentence without secrets."""


class UnknownToProvider(PaymentsUnavailable):
    """The provider has answered that it does not know that id."""


class ForgedCall(Exception):
    """A webhook that is not the provider's, or an old one replayed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """An offer for sale. currency: three small letters. period: "month", "year", "week", "day"."""

    offer_id: str
    amount: Decimal
    currency: str
    period: str
    period_count: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """A purchase to be made. paid_url, left_url: our pages to return to."""

    account_id: str
    email: str
    customer_id: str | None
    offer_id: str
    paid_url: str
    left_url: str


@dataclass(frozen=True, slots=True)
class Checkout:
    """A page of the provider on which one person pays once."""

    checkout_id: str
    url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckoutNow:
    """The present state of a checkout. customer_id: who paid there."""

    is_open: bool
    customer_id: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class PaymentCall:
    """The provider reports a change. customer_id: whose; None: none of ours.

    charge_id: of the payment, where the provider does not say whose it was.
    """

    event_id: str
    customer_id: str | None
    charge_id: str | None = None


class Payments(Protocol):
    """A payment provider. Each coroutine raises PaymentsUnavailable."""

    async def offers(self) -> Sequence[Offer]:
        """Return what is sold, in the operator's order; looked up again after a while."""
        ...

    async def begin_checkout(self, order: Order) -> Checkout: ...

    async def checkout(self, checkout_id: str) -> CheckoutNow | None:
        """Return the checkout; None if the provider does not know that id."""
        ...

    async def close_checkout(self, checkout_id: str) -> None:
        """Close the page, so that no payment is possible there any more."""
        ...

    async def managing_url(self, customer_id: str, return_url: str) -> str:
        """Return the page where a customer changes card or plan and cancels, valid for some
        minutes."""
        ...

    async def subscriptions(self, customer_id: str) -> Sequence[Subscription]:
        """Return all subscriptions that a customer has or had, in their present state."""
        ...

    async def customer_of(self, charge_id: str) -> str | None:
        """Return who made that payment, if it is known."""
        ...

    async def cancel(self, subscription_id: str) -> None:
        """End the subscription now; no more money is taken."""
        ...

    def read_call(self, body: bytes, signature: str) -> PaymentCall:
        """Verify that the provider sent it just now, and parse it. Raises ForgedCall."""
        ...
