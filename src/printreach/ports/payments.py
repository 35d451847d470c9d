"""Who sells supporter status, and what is kept of who pays."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from printreach.rules.payments import Payer, Subscription


class PaymentsUnavailable(Exception):
    """The provider could not be reached, or refused: what, in a sentence without secrets."""


class NotThere(PaymentsUnavailable):
    """The provider has answered that it knows nothing of that id."""


class ForgedCall(Exception):
    """A call that is not the provider's, or an old one played again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """What can be bought. currency: three small letters. period: "month", "year", "week", "day"."""

    offer_id: str
    amount: Decimal
    currency: str
    period: str
    period_count: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """What somebody is about to buy. paid_url, left_url: of ours, to come back to."""

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
    """What became of it. customer_id: who paid there."""

    is_open: bool
    customer_id: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class PaymentCall:
    """The provider says that something changed. customer_id: for whom; None: nothing of ours.

    charge_id: about that payment, where it doesn't say whose it was.
    """

    event_id: str
    customer_id: str | None
    charge_id: str | None = None


class Payments(Protocol):
    """A payment provider. What waits for it raises PaymentsUnavailable."""

    async def offers(self) -> Sequence[Offer]:
        """What is sold, in the operator's order; looked up again after a while."""
        ...

    async def begin_checkout(self, order: Order) -> Checkout: ...

    async def checkout(self, checkout_id: str) -> CheckoutNow | None:
        """None where the provider knows none of that id."""
        ...

    async def close_checkout(self, checkout_id: str) -> None:
        """Nobody can pay there any more."""
        ...

    async def managing_url(self, customer_id: str, return_url: str) -> str:
        """Where a customer changes card or plan and cancels, for a few minutes."""
        ...

    async def subscriptions(self, customer_id: str) -> Sequence[Subscription]:
        """All that a customer has or had, as they are now."""
        ...

    async def customer_of(self, charge_id: str) -> str | None:
        """Who made that payment, where it is known."""
        ...

    async def cancel(self, subscription_id: str) -> None:
        """End it now; no more money is taken."""
        ...

    def read_call(self, body: bytes, signature: str) -> PaymentCall:
        """Check that the provider sent it just now. Raises ForgedCall."""
        ...


class PaymentRecords(Protocol):
    """What is kept of payers; cards and addresses never are."""

    async def payer(self, account_id: str) -> Payer | None: ...
    async def put_payer(self, payer: Payer) -> None: ...
    async def known_payers(self) -> list[str]:
        """The accounts of whom the provider can tell something."""
        ...

    async def note_customer(self, customer_id: str, unknown_at: datetime | None) -> None:
        """The provider has said that it knows none such; None: it knows them."""
        ...

    async def unknown(self) -> list[Payer]:
        """Those of whom the provider knows nothing."""
        ...

    async def forget_customer(self, account_id: str) -> None:
        """Who pays next is a new customer. What was paid counts to its end, and not beyond."""
        ...

    async def running(self) -> list[Subscription]:
        """Of all accounts, those that are not over."""
        ...

    async def account_of(self, customer_id: str) -> str | None: ...

    async def subscriptions(self, account_id: str) -> list[Subscription]:
        """Those begun last come first; ended ones included."""
        ...

    async def put(self, account_id: str, subscription: Subscription, asked_at: datetime) -> None:
        """Ignored where a later question was answered before.

        asked_at: when the provider was asked, not when it answered: so what was asked later knows
        all that the earlier answer knew.
        """
        ...

    async def has_heard(self, event_id: str) -> bool: ...
    async def note_heard(self, event_id: str, at: datetime) -> None: ...
    async def forget_heard(self, before: datetime) -> None: ...
