"""Supporter status sold by Stripe: Checkout, its customer portal, and its webhooks.

A webhook only says that something changed; the present state is then asked of Stripe. So webhooks
that come twice, late or out of order do no harm.
"""

from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final, TypeVar

import msgspec
import stripe
from stripe import Invoice, InvoicePayment, StripeClient

from printreach.contract.codec import BAD_JSON
from printreach.ports import Clock
from printreach.ports.payments import (
    Checkout,
    CheckoutNow,
    ForgedCall,
    Offer,
    Order,
    PaymentCall,
    PaymentsUnavailable,
    UnknownToProvider,
)
from printreach.rules.payments import PaymentState, StripeAccount, Subscription

T = TypeVar("T")

ACCOUNT: Final = "printreach_account"
"""The metadata of a subscription that says for which account it was bought."""
TIMEOUT_S: Final = 8.0
RETRIES: Final = 1
"""By the library, with an idempotency key, so that nothing is created twice."""
TOLERANCE_S: Final = 300
"""The largest age of a signature; Stripe signs each repeated call again."""
OFFERS_KEPT: Final = timedelta(minutes=10)

_STATES: Final[Mapping[str, PaymentState]] = {
    "active": PaymentState.PAID,
    "trialing": PaymentState.PAID,
    "past_due": PaymentState.LATE,
    "incomplete": PaymentState.WAITING,
    "incomplete_expired": PaymentState.OVER,
    "canceled": PaymentState.OVER,
}
"""Every other word means that nothing is paid now, and that it may go on: "unpaid", where Stripe
gave up collecting, "paused", and words that Stripe may add."""
_CALLS: Final = ("checkout.session.", "customer.subscription.", "invoice.", "charge.refunded")
_DISPUTES: Final = "charge.dispute."
_HARMLESS: Final = frozenset({"won", "prevented"})
"""Disputes in which the money stayed or came back; so do those that begin as an inquiry
("warning_…")."""

# Amounts are in the smallest unit of a currency: docs.stripe.com/currencies.
_DIGITS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga"), 0),
    **dict.fromkeys(("pyg", "rwf", "ugx", "vnd", "vuv", "xaf", "xof", "xpf"), 0),
    **dict.fromkeys(("bhd", "jod", "kwd", "omr", "tnd"), 3),
}
"""Decimal digits, where there are not two."""


class _Object(msgspec.Struct):
    customer: str | dict[str, object] | None = None
    charge: str | dict[str, object] | None = None


class _Data(msgspec.Struct):
    object: _Object


class _Event(msgspec.Struct):
    """The parts of an event that are used; the others differ by the version of the API."""

    id: str
    type: str
    data: _Data


class StripePayments:
    """ports.payments.Payments. Created by stripe_payments."""

    def __init__(self, account: StripeAccount, client: StripeClient, clock: Clock) -> None:
        self._account = account
        self._api = client.v1
        self._clock = clock
        self._offers: tuple[datetime, list[Offer]] | None = None

    async def offers(self) -> Sequence[Offer]:
        at = self._clock.now()
        if self._offers is None or at >= self._offers[0] + OFFERS_KEPT:
            self._offers = at, [await self._offer(price_id) for price_id in self._account.prices]
        return self._offers[1]

    async def begin_checkout(self, order: Order) -> Checkout:
        params: stripe.params.checkout.SessionCreateParams = {
            "mode": "subscription",
            "line_items": [{"price": order.offer_id, "quantity": 1}],
            "client_reference_id": order.account_id,
            "subscription_data": {"metadata": {ACCOUNT: order.account_id}},
            "success_url": order.paid_url,
            "cancel_url": order.left_url,
        }
        if order.customer_id is not None:
            params["customer"] = order.customer_id
        else:
            params["customer_email"] = order.email
        session = await _asked(self._api.checkout.sessions.create_async(params))
        if session.url is None:
            raise PaymentsUnavailable("Stripe made a checkout without a page.")
        return Checkout(session.id, session.url)

    async def checkout(self, checkout_id: str) -> CheckoutNow | None:
        try:
            session = await _asked(self._api.checkout.sessions.retrieve_async(checkout_id))
        except UnknownToProvider:
            return None
        return CheckoutNow(is_open=session.status == "open", customer_id=_id(session.customer))

    async def close_checkout(self, checkout_id: str) -> None:
        await _asked(self._api.checkout.sessions.expire_async(checkout_id))

    async def managing_url(self, customer_id: str, return_url: str) -> str:
        session = await _asked(
            self._api.billing_portal.sessions.create_async(
                {"customer": customer_id, "return_url": return_url}
            )
        )
        return session.url

    async def subscriptions(self, customer_id: str) -> Sequence[Subscription]:
        found = await _asked(
            self._api.subscriptions.list_async(
                {"customer": customer_id, "status": "all", "limit": 100}
            )
        )
        return [await self._subscription(one) for one in found.data]

    async def customer_of(self, charge_id: str) -> str | None:
        try:
            charge = await _asked(self._api.charges.retrieve_async(charge_id))
        except UnknownToProvider:
            return None
        return _id(charge.customer)

    async def cancel(self, subscription_id: str) -> None:
        try:
            await _asked(self._api.subscriptions.cancel_async(subscription_id))
        except UnknownToProvider:
            pass  # it takes no money any more, which is what was wanted

    def read_call(self, body: bytes, signature: str) -> PaymentCall:
        try:
            # The library compares signatures as text, which has to be ASCII.
            signature.encode("ascii")
            stripe.WebhookSignature.verify_header(
                body, signature, self._account.webhook_secret, TOLERANCE_S
            )
            event = msgspec.json.decode(body, type=_Event)
        except (stripe.SignatureVerificationError, UnicodeError, *BAD_JSON) as error:
            raise ForgedCall(type(error).__name__) from None
        about = event.data.object
        is_ours, is_dispute = event.type.startswith(_CALLS), event.type.startswith(_DISPUTES)
        return PaymentCall(
            event_id=event.id,
            customer_id=about.customer if is_ours and isinstance(about.customer, str) else None,
            charge_id=about.charge if is_dispute and isinstance(about.charge, str) else None,
        )

    async def _offer(self, price_id: str) -> Offer:
        price = await _asked(self._api.prices.retrieve_async(price_id))
        if price.recurring is None or price.unit_amount is None:
            raise PaymentsUnavailable(f"The price {price_id} is not one that recurs.")
        return Offer(
            offer_id=price.id,
            amount=Decimal(price.unit_amount).scaleb(-_DIGITS.get(price.currency, 2)),
            currency=price.currency,
            period=price.recurring.interval,
            period_count=price.recurring.interval_count,
        )

    async def _subscription(self, found: stripe.Subscription) -> Subscription:
        state = _STATES.get(found.status, PaymentState.HALTED)
        invoice = _id(found.latest_invoice)
        if state is PaymentState.PAID and invoice:
            state = await self._state_of_payment(invoice)
        # Since 2025 the period belongs to the items; what we sell has one item.
        item = found["items"].data[0]
        ends_at = found.cancel_at
        if ends_at is None and found.cancel_at_period_end:
            ends_at = item.current_period_end
        return Subscription(
            subscription_id=found.id,
            customer_id=_id(found.customer) or "",
            account_id=_account(found.metadata.to_dict()),
            state=state,
            begun_at=_time(found.start_date),
            period_begins_at=_time(item.current_period_start),
            period_ends_at=_time(item.current_period_end),
            ends_at=None if ends_at is None else _time(ends_at),
        )

    async def _state_of_payment(self, invoice_id: str) -> PaymentState:
        """Return whether this period is paid, or its payment was returned since."""
        payments = await _asked(
            self._api.invoice_payments.list_async(
                {
                    "invoice": invoice_id,
                    "status": "paid",
                    "expand": ["data.payment.payment_intent.latest_charge", "data.payment.charge"],
                }
            )
        )
        charges = [_charge(one) for one in payments.data]
        # An invoice paid outside of Stripe, or of amount zero, has no payment.
        states = [PaymentState.PAID if one is None else await self._kept(one) for one in charges]
        if PaymentState.DISPUTED in states:
            return PaymentState.DISPUTED
        is_back = bool(states) and all(one is PaymentState.REFUNDED for one in states)
        return PaymentState.REFUNDED if is_back else PaymentState.PAID

    async def _kept(self, charge: stripe.Charge) -> PaymentState:
        if charge.refunded:
            return PaymentState.REFUNDED
        if not charge.disputed:
            return PaymentState.PAID
        disputes = await _asked(self._api.disputes.list_async({"charge": charge.id, "limit": 100}))
        words = {one.status for one in disputes.data if not _is_harmless(one.status)}
        if words - {"lost"}:
            return PaymentState.DISPUTED
        return PaymentState.REFUNDED if words else PaymentState.PAID


@asynccontextmanager
async def stripe_payments(account: StripeAccount, clock: Clock) -> AsyncIterator[StripePayments]:
    """Open Stripe's client; its connections end with the context."""
    http = stripe.HTTPXClient(timeout=TIMEOUT_S)
    client = StripeClient(
        account.secret_key,
        http_client=http,
        base_addresses={"api": account.api_url},
        max_network_retries=RETRIES,
    )
    try:
        yield StripePayments(account, client, clock)
    finally:
        await http.close_async()  # type: ignore[no-untyped-call]  # the library leaves it untyped


async def _asked(answer: Awaitable[T]) -> T:
    """Wait for an answer.

    Stripe's message may contain parts of a key, so only its code is passed on.
    """
    try:
        return await answer
    except stripe.StripeError as error:
        kind = UnknownToProvider if error.code == "resource_missing" else PaymentsUnavailable
        details = " ".join(str(one) for one in (error.http_status, error.code) if one)
        raise kind(f"Stripe gave {type(error).__name__} {details}".rstrip() + ".") from None


def _charge(paid: InvoicePayment) -> stripe.Charge | None:
    """Return the charge; Stripe fills one of two fields."""
    intent = getattr(paid.payment, "payment_intent", None)
    charge = getattr(paid.payment, "charge", None)
    if isinstance(intent, stripe.PaymentIntent):
        charge = intent.latest_charge
    return charge if isinstance(charge, stripe.Charge) else None


def _is_harmless(word: str) -> bool:
    return word in _HARMLESS or word.startswith("warning_")


def _id(reference: str | stripe.Customer | Invoice | None) -> str | None:
    """Return the id of what is given by its id, or as a whole object."""
    return reference if reference is None or isinstance(reference, str) else reference.id


def _account(metadata: Mapping[str, str]) -> str | None:
    return next((value for key, value in metadata.items() if key == ACCOUNT), None)


def _time(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
