"""Stripe's own library against a fake of its API: checkouts, subscriptions and webhooks."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TypeVar

import pytest

from printreach.backends.pay_stripe import OFFERS_KEPT, StripePayments, stripe_payments
from printreach.ports.payments import Checkout, ForgedCall, Order, PaymentCall, PaymentsUnavailable
from printreach.rules.payments import PaymentState, StripeAccount, Subscription
from tests.fakes.clock import NOON, FakeClock
from tests.fakes.stripe.server import KEY, MONTHLY, SECRET, YEARLY, FakeStripe, fake_stripe, sign

T = TypeVar("T")

ORDER = Order(
    account_id="ada",
    email="ada@example.org",
    customer_id=None,
    offer_id=MONTHLY,
    paid_url="https://reach.example/paid",
    left_url="https://reach.example/left",
)


@pytest.fixture
def fake() -> Iterator[FakeStripe]:
    with fake_stripe(lambda: int(NOON.timestamp())) as running:
        yield running


def account(fake: FakeStripe, *prices: str) -> StripeAccount:
    return StripeAccount(
        secret_key=KEY,
        webhook_secret=SECRET,
        prices=prices or (YEARLY, MONTHLY),
        api_url=fake.url,
    )


@asynccontextmanager
async def opened(fake: FakeStripe, *prices: str) -> AsyncIterator[StripePayments]:
    async with stripe_payments(account(fake, *prices), FakeClock()) as payments:
        yield payments


def ask(fake: FakeStripe, work: Callable[[StripePayments], Awaitable[T]], *prices: str) -> T:
    async def run() -> T:
        async with opened(fake, *prices) as payments:
            return await work(payments)

    return asyncio.run(run())


def bought(fake: FakeStripe, **change: str) -> tuple[Checkout, Subscription]:
    """A checkout on which somebody paid, and what it came to."""

    async def buy(payments: StripePayments) -> tuple[Checkout, Subscription]:
        checkout = await payments.begin_checkout(replace(ORDER, **change))
        made = fake.books.pay(checkout.checkout_id)
        [subscription] = await payments.subscriptions(made["customer"])
        return checkout, subscription

    return ask(fake, buy)


def state_now(fake: FakeStripe, customer_id: str) -> Subscription:
    [found] = ask(fake, lambda payments: payments.subscriptions(customer_id))
    return found


def test_what_is_sold_comes_in_the_operators_order(fake: FakeStripe) -> None:
    offers = ask(fake, lambda payments: payments.offers())

    assert [(one.offer_id, one.amount, one.period) for one in offers] == [
        (YEARLY, Decimal("30.00"), "year"),
        (MONTHLY, Decimal("3.00"), "month"),
    ]


@pytest.mark.parametrize(("currency", "amount"), [("jpy", "300"), ("kwd", "0.3"), ("usd", "3")])
def test_an_amount_has_as_many_digits_as_its_currency(
    fake: FakeStripe, currency: str, amount: str
) -> None:
    fake.books.add_price("price_other", 300, "month", currency)

    [offer] = ask(fake, lambda payments: payments.offers(), "price_other")

    assert offer.amount == Decimal(amount)


def test_prices_are_asked_for_again_only_after_a_while(fake: FakeStripe) -> None:
    clock = FakeClock()

    async def twice() -> int:
        async with stripe_payments(account(fake), clock) as payments:
            await payments.offers()
            await payments.offers()
            before = len(fake.asked)
            clock.advance(OFFERS_KEPT)
            await payments.offers()
            return before

    assert asyncio.run(twice()) == 2
    assert len(fake.asked) == 4


def test_a_price_that_does_not_recur_is_not_sold(fake: FakeStripe) -> None:
    fake.books.prices[MONTHLY] |= {"recurring": None, "type": "one_time"}

    with pytest.raises(PaymentsUnavailable, match="recurs"):
        ask(fake, lambda payments: payments.offers(), MONTHLY)


def test_a_subscription_knows_for_whom_it_was_bought(fake: FakeStripe) -> None:
    _, subscription = bought(fake)

    assert subscription.account_id == "ada"
    assert subscription.state is PaymentState.PAID
    assert subscription.begun_at == subscription.period_begins_at == NOON
    assert subscription.period_ends_at == NOON + timedelta(days=30)
    assert subscription.ends_at is None


def test_a_checkout_tells_who_paid_there(fake: FakeStripe) -> None:
    checkout, subscription = bought(fake)

    now = ask(fake, lambda payments: payments.checkout(checkout.checkout_id))

    assert now is not None
    assert (now.is_open, now.customer_id) == (False, subscription.customer_id)


def test_a_checkout_that_was_closed_takes_no_payment(fake: FakeStripe) -> None:
    async def close(payments: StripePayments) -> Checkout:
        checkout = await payments.begin_checkout(ORDER)
        await payments.close_checkout(checkout.checkout_id)
        return checkout

    checkout = ask(fake, close)

    assert fake.books.sessions[checkout.checkout_id]["status"] == "expired"


def test_a_checkout_that_nobody_knows_is_none(fake: FakeStripe) -> None:
    assert ask(fake, lambda payments: payments.checkout("cs_other")) is None


def test_who_paid_before_stays_the_same_customer(fake: FakeStripe) -> None:
    _, first = bought(fake)

    _, second = _buy_again(fake, first)

    assert second == first.customer_id


def _buy_again(fake: FakeStripe, first: Subscription) -> tuple[str, str]:
    async def buy(payments: StripePayments) -> tuple[str, str]:
        order = replace(ORDER, customer_id=first.customer_id)
        checkout = await payments.begin_checkout(order)
        made = fake.books.pay(checkout.checkout_id)
        return made["id"], made["customer"]

    return ask(fake, buy)


def test_a_renewal_that_is_not_paid_is_late(fake: FakeStripe) -> None:
    _, before = bought(fake)
    fake.books.renew(fake.books.subscriptions[before.subscription_id], paid=False)

    now = state_now(fake, before.customer_id)

    assert now.state is PaymentState.LATE
    assert now.period_begins_at == before.period_ends_at


def test_what_was_cancelled_says_when_it_ends(fake: FakeStripe) -> None:
    _, before = bought(fake)
    fake.books.cancel_at_end(fake.books.subscriptions[before.subscription_id])

    now = state_now(fake, before.customer_id)

    assert now.state is PaymentState.PAID
    assert now.ends_at == before.period_ends_at


def test_what_was_given_back_counts_as_refunded(fake: FakeStripe) -> None:
    _, before = bought(fake)
    fake.books.refund(fake.books.subscriptions[before.subscription_id])

    assert state_now(fake, before.customer_id).state is PaymentState.REFUNDED


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("trialing", PaymentState.PAID),
        ("past_due", PaymentState.LATE),
        ("incomplete", PaymentState.WAITING),
        ("incomplete_expired", PaymentState.OVER),
        ("canceled", PaymentState.OVER),
        ("unpaid", PaymentState.HALTED),
        ("paused", PaymentState.HALTED),
        ("thought_of_later", PaymentState.HALTED),
    ],
)
def test_each_word_of_stripes_has_its_meaning(
    fake: FakeStripe, word: str, state: PaymentState
) -> None:
    _, before = bought(fake)
    fake.books.subscriptions[before.subscription_id]["status"] = word

    assert state_now(fake, before.customer_id).state is state


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("needs_response", PaymentState.DISPUTED),
        ("under_review", PaymentState.DISPUTED),
        ("appeal_under_review", PaymentState.DISPUTED),
        ("lost", PaymentState.REFUNDED),
        ("won", PaymentState.PAID),
        ("prevented", PaymentState.PAID),
        ("warning_needs_response", PaymentState.PAID),
        ("warning_closed", PaymentState.PAID),
    ],
)
def test_a_dispute_counts_by_how_it_stands(
    fake: FakeStripe, word: str, state: PaymentState
) -> None:
    _, before = bought(fake)
    fake.books.dispute(fake.books.subscriptions[before.subscription_id], word)

    assert state_now(fake, before.customer_id).state is state


def test_a_call_about_a_dispute_leads_to_who_paid(fake: FakeStripe) -> None:
    _, before = bought(fake)
    dispute = fake.books.dispute(fake.books.subscriptions[before.subscription_id])
    body = fake.event("charge.dispute.created", dispute)
    call = read(fake, body, sign(body))

    assert (call.customer_id, call.charge_id) == (None, dispute["charge"])
    assert ask(fake, lambda pay: pay.customer_of(dispute["charge"])) == before.customer_id
    assert ask(fake, lambda pay: pay.customer_of("ch_of_nobody")) is None


def test_cancelling_ends_it_now_and_twice_does_no_harm(fake: FakeStripe) -> None:
    _, before = bought(fake)

    async def cancel(payments: StripePayments) -> None:
        await payments.cancel(before.subscription_id)
        del fake.books.subscriptions[before.subscription_id]
        await payments.cancel(before.subscription_id)

    assert before.state is PaymentState.PAID
    ask(fake, cancel)
    assert fake.books.subscriptions == {}


def test_a_customer_is_led_to_where_they_manage_it(fake: FakeStripe) -> None:
    _, subscription = bought(fake)

    url = ask(
        fake,
        lambda payments: payments.managing_url(subscription.customer_id, "https://reach.example/"),
    )

    assert url == f"{fake.url}/portal/p"


def test_where_stripe_is_away_nothing_of_the_key_is_told(fake: FakeStripe) -> None:
    fake.is_away = True

    with pytest.raises(PaymentsUnavailable) as raised:
        ask(fake, lambda payments: payments.offers())

    assert "503" in str(raised.value)
    assert "sk_test" not in str(raised.value)
    assert KEY not in repr(account(fake))
    assert SECRET not in repr(account(fake))


def read(fake: FakeStripe, body: str | bytes, signature: str) -> PaymentCall:
    async def read(payments: StripePayments) -> PaymentCall:
        return payments.read_call(body if isinstance(body, bytes) else body.encode(), signature)

    return ask(fake, read)


def test_a_signed_call_says_whom_to_ask_about(fake: FakeStripe) -> None:
    body = fake.event("invoice.paid", {"id": "in_1", "customer": "cus_1"})

    assert read(fake, body, sign(body)) == PaymentCall(event_id="evt_1", customer_id="cus_1")


@pytest.mark.parametrize(
    ("kind", "about"),
    [
        ("payout.paid", {"id": "po_1", "customer": "cus_1"}),
        ("invoice.paid", {"id": "in_1"}),
        ("invoice.paid", {"id": "in_1", "customer": {"id": "cus_1"}}),
    ],
)
def test_a_call_about_something_else_is_about_nobody(
    fake: FakeStripe, kind: str, about: dict[str, object]
) -> None:
    body = fake.event(kind, about)

    assert read(fake, body, sign(body)).customer_id is None


EVENT = json.dumps({"id": "evt_1", "type": "invoice.paid", "data": {"object": {"customer": "c"}}})


@pytest.mark.parametrize(
    ("body", "signature"),
    [
        pytest.param(EVENT, "", id="none"),
        pytest.param(EVENT, "t=1", id="without a signature"),
        pytest.param(EVENT, "nonsense", id="unreadable"),
        pytest.param(EVENT, sign(EVENT, secret="whsec_other"), id="of another secret"),
        pytest.param(EVENT + " ", sign(EVENT), id="of another body"),
        pytest.param(EVENT, sign(EVENT, at=time.time() - 3600), id="an hour old"),
        pytest.param(EVENT, sign(EVENT).replace("v1=", "v0="), id="of an older scheme"),
        pytest.param(EVENT, sign(EVENT) + "\xe9", id="not ASCII"),
        pytest.param(b"\xff\xfe", sign("x"), id="not text"),
        pytest.param("[1]", sign("[1]"), id="not an event"),
        pytest.param("{}", sign("{}"), id="empty"),
    ],
)
def test_a_call_that_is_not_stripes_is_forged(
    fake: FakeStripe, body: str | bytes, signature: str
) -> None:
    with pytest.raises(ForgedCall):
        read(fake, body, signature)
