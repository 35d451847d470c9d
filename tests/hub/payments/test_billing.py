"""Supporter status that is paid for, from the page to pay on to the last call."""

import asyncio
import threading
from dataclasses import fields, replace
from datetime import timedelta

import pytest

from printreach.hub.accounts import Accounts
from printreach.hub.denied import Denied, Reason
from printreach.hub.payments import PROVIDER_AWAY, Billing
from printreach.ports import Notice, Topic
from printreach.ports.payments import ForgedCall, PaymentsUnavailable
from printreach.rules.accounts import Account, SupporterPolicy
from printreach.rules.payments import LATE_TIME, Subscription
from printreach.rules.rate_limits import TooSoon
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.fakes.stripe.books import Object
from tests.fakes.stripe.server import MONTHLY, sign
from tests.hub.payments.billing_world import OpenShop, Shop
from tests.hub.world import ADA, BOB, denied

MONTH = timedelta(days=30)


@on_a_loop
async def test_who_paid_is_a_supporter_until_the_next_payment_is_long_overdue(
    open_shop: OpenShop,
) -> None:
    async with open_shop() as shop:
        assert not await shop.is_supporter()
        await shop.supporter()

        assert (await shop.account()).paid_until == NOON + MONTH + LATE_TIME
        shop.world.clock.advance(MONTH + LATE_TIME - timedelta(seconds=1))
        assert await shop.is_supporter()
        shop.world.clock.advance(timedelta(seconds=1))
        assert not await shop.is_supporter()


@on_a_loop
async def test_a_payment_brings_app_connections_back_as_they_were(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        await shop.world.apps.add("demo", "Demo", ["https://demo.example/"])
        await shop.world.link_printer()
        made = await shop.world.connect_app()
        name = made.url.removeprefix("https://").split(".")[0]
        before = await shop.world.grants.grant(name)
        subscription = await shop.supporter()
        paid = await shop.world.grants.grant(name)
        shop.fake.books.end(subscription)
        await shop.hear("customer.subscription.deleted", subscription, "evt_over")
        over = await shop.world.grants.grant(name)

        assert before is not None
        assert paid is not None
        assert over is not None
        assert (before.owner_is_supporter, paid.owner_is_supporter, over.owner_is_supporter) == (
            *(False, True, False),
        )
        assert before.digests == paid.digests == over.digests
        told = [one for one in await shop.world.notices() if one.topic is Topic.ACCOUNT]
        assert told == [Notice(Topic.ACCOUNT, shop.ada.account_id)] * 2


@on_a_loop
async def test_a_renewal_extends_it(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        subscription = await shop.supporter()
        shop.fake.books.renew(subscription)
        await shop.hear("invoice.paid", subscription, "evt_renewed")

        assert (await shop.account()).paid_until == NOON + 2 * MONTH + LATE_TIME


@on_a_loop
async def test_a_payment_that_fails_leaves_a_week(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        subscription = await shop.supporter()
        shop.fake.books.renew(subscription, paid=False)
        await shop.hear("invoice.payment_failed", subscription, "evt_failed")

        assert (await shop.account()).paid_until == NOON + MONTH + LATE_TIME


@on_a_loop
async def test_what_was_cancelled_lasts_to_its_end_and_not_longer(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        subscription = await shop.supporter()
        shop.fake.books.cancel_at_end(subscription)
        await shop.hear("customer.subscription.updated", subscription, "evt_cancelled")

        assert (await shop.account()).paid_until == NOON + MONTH
        standing = await shop.billing.standing(await shop.account())
        assert not standing.goes_on


@on_a_loop
async def test_a_refund_ends_it_at_once(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        subscription = await shop.supporter()
        shop.fake.books.refund(subscription)
        charge = {"id": "ch_1", "customer": subscription["customer"]}
        await shop.hear("charge.refunded", charge, "evt_refund")

        assert (await shop.account()).paid_until is None


@on_a_loop
async def test_a_grant_of_the_operator_outlives_a_payment(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        subscription = await shop.supporter()
        await shop.world.accounts.set_supporter(ADA, granted=True)
        shop.fake.books.end(subscription)
        await shop.hear("customer.subscription.deleted", subscription, "evt_over")

        assert await shop.is_supporter()


@on_a_loop
async def test_calls_in_the_wrong_order_end_in_what_holds_now(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        subscription = await shop.pay()
        shop.fake.books.end(subscription)
        await shop.hear("customer.subscription.deleted", subscription, "evt_2")
        # What the earlier call says was true once.
        await shop.hear("invoice.paid", {**subscription, "status": "active"}, "evt_1")

        assert not await shop.is_supporter()


@on_a_loop
async def test_a_call_that_comes_again_asks_for_nothing(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        subscription = await shop.supporter()
        asked = len(shop.fake.asked)
        await shop.hear("customer.subscription.created", subscription, "evt_begun")

        assert len(shop.fake.asked) == asked


@on_a_loop
async def test_a_call_that_could_not_be_acted_on_may_come_again(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        subscription = await shop.pay()
        shop.fake.is_away = True
        with pytest.raises(PaymentsUnavailable):
            await shop.hear("invoice.paid", subscription, "evt_1")
        shop.fake.is_away = False
        await shop.hear("invoice.paid", subscription, "evt_1")

        assert await shop.is_supporter()


@on_a_loop
async def test_a_forged_call_changes_nothing(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        subscription = await shop.pay()
        body = shop.fake.event("invoice.paid", subscription)
        asked = len(shop.fake.asked)

        with pytest.raises(ForgedCall):
            await shop.billing.hear(body.encode(), sign(body, secret="whsec_guessed"))
        assert len(shop.fake.asked) == asked
        assert not await shop.is_supporter()


@on_a_loop
async def test_an_answer_that_comes_late_takes_nothing_back(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        subscription = await shop.pay()
        [now] = await _subscriptions(shop, subscription)
        shop.world.clock.advance(timedelta(seconds=1))
        shop.fake.books.end(subscription)
        await shop.hear("customer.subscription.deleted", subscription, "evt_2")
        before = NOON + timedelta(milliseconds=500)
        await shop.world.store.write(
            lambda records: records.payments.put(shop.ada.account_id, now, before)
        )

        [kept] = await shop.world.store.read(
            lambda records: records.payments.subscriptions(shop.ada.account_id)
        )
        assert kept.state.value == "over"


async def _subscriptions(shop: Shop, subscription: Object) -> list[Subscription]:
    assert shop.billing.payments is not None
    return list(await shop.billing.payments.subscriptions(subscription["customer"]))


@on_a_loop
async def test_a_subscription_of_nobody_here_is_left_alone(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        subscription = await shop.pay()
        subscription["metadata"] = {"printreach_account": "of another installation"}
        await shop.hear("invoice.paid", subscription, "evt_1")

        assert not await shop.is_supporter()
        assert subscription["status"] == "active"


@on_a_loop
async def test_coming_back_from_paying_counts_before_the_call_comes(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        await shop.pay()

        assert await shop.billing.look(shop.ada) is None
        assert await shop.is_supporter()


@on_a_loop
async def test_nobody_pays_on_two_pages(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        first = await shop.buy()
        await shop.buy()

        states = [one["status"] for one in shop.fake.books.sessions.values()]
        assert states == ["expired", "open"]
        assert first.endswith(next(iter(shop.fake.books.sessions)))


@on_a_loop
async def test_of_two_pages_that_begin_at_once_one_is_closed(open_shop: OpenShop) -> None:
    both_asked = threading.Barrier(2, timeout=60)
    async with open_shop() as shop:
        shop.fake.before_answer = lambda path: _meet(both_asked, path)
        both = await asyncio.gather(
            *(shop.billing.buy(shop.ada, MONTHLY, "/back") for _ in range(2))
        )

        assert sorted(isinstance(one, str) for one in both) == [False, True]
        states = [one["status"] for one in shop.fake.books.sessions.values()]
        assert sorted(states) == ["expired", "open"]


def _meet(both_asked: threading.Barrier, path: str) -> None:
    """Neither page is made before both were asked for."""
    if path == "/v1/checkout/sessions":
        both_asked.wait()


@on_a_loop
async def test_who_pays_is_not_sold_another_though_the_call_never_came(
    open_shop: OpenShop,
) -> None:
    async with open_shop() as shop:
        await shop.pay()

        refusal = denied(await shop.billing.buy(shop.ada, MONTHLY, "/back"))
        assert refusal.reason is Reason.PAYS_ALREADY
        assert len(shop.fake.books.subscriptions) == 1
        assert await shop.is_supporter()


@on_a_loop
async def test_who_cancelled_may_buy_again_as_the_same_customer(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        shop.fake.books.cancel_at_end(await shop.supporter())
        again = await shop.pay()

        assert len(shop.fake.books.customers) == 1
        assert again["customer"] in shop.fake.books.customers


@on_a_loop
async def test_only_what_is_offered_is_sold(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        refusal = denied(await shop.billing.buy(shop.ada, "price_of_a_cent", "/back"))

        assert refusal.reason is Reason.INVALID
        assert shop.fake.books.sessions == {}


@on_a_loop
async def test_where_everyone_is_a_supporter_nothing_is_sold(open_shop: OpenShop) -> None:
    async with open_shop(SupporterPolicy.EVERYONE) as shop:
        assert await shop.billing.offers() == ()
        assert isinstance(await shop.billing.buy(shop.ada, MONTHLY, "/back"), Denied)


@on_a_loop
async def test_one_person_does_not_keep_the_provider_busy(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        answers = [await shop.billing.look(shop.ada) for _ in range(30)]

        assert isinstance(answers[-1], TooSoon)


@on_a_loop
async def test_only_who_ever_paid_has_something_to_manage(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        assert isinstance(await shop.billing.manage(shop.ada), Denied)
        await shop.supporter()

        assert await shop.billing.manage(shop.ada) == f"{shop.fake.url}/portal/p"
        bob = await shop.world.add_account(BOB)
        assert isinstance(await shop.billing.manage(bob), Denied)


def accounts_of(shop: Shop) -> Accounts:
    return Accounts(core=shop.world.core, billing=shop.billing)


@on_a_loop
async def test_a_deleted_account_pays_no_more(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        subscription = await shop.supporter()
        deleted = await accounts_of(shop).delete(ADA)

        assert isinstance(deleted, Account)
        assert subscription["status"] == "canceled"


@on_a_loop
async def test_a_page_to_pay_on_closes_with_its_account(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        await shop.buy()
        await accounts_of(shop).delete(ADA)

        [session] = shop.fake.books.sessions.values()
        assert session["status"] == "expired"


class BuysInAnotherTab(Billing):
    """Its owner begins to pay, once, while the account is about to be deleted."""

    has_bought = False

    async def end(self, account_id: str, *, by_operator: bool = False) -> Denied | None:
        refused = await super().end(account_id, by_operator=by_operator)
        if not BuysInAnotherTab.has_bought:
            BuysInAnotherTab.has_bought = True
            account = await self.core.store.read(lambda records: records.accounts.get(account_id))
            assert account is not None
            assert isinstance(await self.buy(account, MONTHLY, "/back"), str)
        return refused


@on_a_loop
async def test_no_account_goes_while_a_page_to_pay_on_is_open(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        has = {one.name: getattr(shop.billing, one.name) for one in fields(Billing)}
        accounts = replace(accounts_of(shop), billing=BuysInAnotherTab(**has))

        assert denied(await accounts.delete(ADA)).reason is Reason.STEP_OVER
        assert isinstance(await accounts.delete(ADA), Account)
        states = [one["status"] for one in shop.fake.books.sessions.values()]
        assert states == ["expired"]


@on_a_loop
async def test_an_account_whose_payment_cannot_be_ended_is_not_deleted(
    open_shop: OpenShop,
) -> None:
    async with open_shop() as shop:
        await shop.supporter()
        shop.fake.is_away = True
        refusal = denied(await accounts_of(shop).delete(ADA))

        assert refusal.reason is Reason.PAYMENTS_AWAY
        assert await shop.is_supporter()


@pytest.mark.slow
@on_a_loop
async def test_where_the_provider_is_away_it_is_said(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        await shop.supporter()
        shop.fake.is_away = True
        bob = replace(shop.ada, account_id="bob")

        assert await shop.billing.look(shop.ada) == PROVIDER_AWAY
        assert await shop.billing.manage(shop.ada) == PROVIDER_AWAY
        assert await shop.billing.look(bob) is None
