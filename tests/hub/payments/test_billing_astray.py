"""Payments that go astray: disputes, subscriptions that halt, calls that never came."""

from dataclasses import replace
from datetime import timedelta

import pytest

from printreach.hub.denied import Reason
from printreach.rules.accounts import Account, SupporterPolicy
from printreach.rules.payments import Payer, PaymentState
from tests.fakes.loop import on_a_loop
from tests.fakes.stripe.server import MONTHLY
from tests.hub.operators.test_operating import GRACE
from tests.hub.payments.billing_world import OpenShop, Shop
from tests.hub.world import ADA, BOB, denied


@on_a_loop
async def test_a_dispute_suspends_and_what_is_won_counts_again(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        subscription = await shop.supporter()
        seen = []
        for number, word in enumerate(("needs_response", "won", "lost")):
            dispute = shop.fake.books.dispute(subscription, word)
            await shop.hear("charge.dispute.updated", dispute, f"evt_{number}")
            seen.append(await shop.is_supporter())

        assert seen == [False, True, False]


@on_a_loop
async def test_a_dispute_about_a_payment_of_nobody_is_left_alone(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        await shop.supporter()
        await shop.hear("charge.dispute.created", {"id": "dp_9", "charge": "ch_other"}, "evt_9")

        assert await shop.is_supporter()


@pytest.mark.parametrize("word", ["unpaid", "paused"])
def test_what_halts_counts_no_more_and_counts_again_once_it_goes_on(
    open_shop: OpenShop, word: str
) -> None:
    @on_a_loop
    async def body() -> None:
        async with open_shop() as shop:
            subscription = await shop.supporter()
            subscription["status"] = word
            await shop.hear("customer.subscription.updated", subscription, "evt_halted")
            assert not await shop.is_supporter()

            subscription["status"] = "active"
            await shop.hear("customer.subscription.updated", subscription, "evt_again")
            assert await shop.is_supporter()

    body()


@on_a_loop
async def test_who_has_one_that_halts_settles_it_before_another_is_sold(
    open_shop: OpenShop,
) -> None:
    async with open_shop() as shop:
        subscription = await shop.supporter()
        subscription["status"] = "unpaid"

        refused = denied(await shop.billing.buy(shop.ada, MONTHLY, "/back"))

        assert refused.reason is Reason.INVALID
        assert "Settle or cancel it first" in refused.sentence


@on_a_loop
async def test_one_that_halts_is_cancelled_with_its_account(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        subscription = await shop.supporter()
        subscription["status"] = "unpaid"

        assert await shop.billing.end(shop.ada.account_id) is None
        assert subscription["status"] == "canceled"


@on_a_loop
async def test_a_day_later_what_no_call_told_of_is_known(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        await shop.pay()
        assert await shop.billing.reconcile() == 1
        assert await shop.is_supporter()

        shop.fake.books.end(next(iter(shop.fake.books.subscriptions.values())))
        await shop.billing.reconcile()
        assert not await shop.is_supporter()


@on_a_loop
async def test_where_the_provider_is_away_the_comparison_waits(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        await shop.supporter()
        shop.fake.is_away = True

        await shop.billing.reconcile()

        assert await shop.is_supporter()


async def one_is_unknown(shop: Shop) -> tuple[Account, Account]:
    """Two accounts as they are compared; the provider knows nothing of the first one's customer."""
    every = [shop.ada, await shop.world.add_account(BOB)]
    first, second = sorted(every, key=lambda account: account.account_id)
    stale = Payer(account_id=first.account_id, customer_id="cus_deleted")
    await shop.world.store.write(lambda records: records.payments.put_payer(stale))
    return first, second


@on_a_loop
async def test_a_customer_of_whom_the_provider_knows_nothing_keeps_no_other_from_being_compared(
    open_shop: OpenShop,
) -> None:
    async with open_shop() as shop:
        _, second = await one_is_unknown(shop)
        shop.fake.books.pay((await shop.buy(second)).rsplit("/", 1)[-1])

        assert await shop.billing.reconcile() == 2
        paid = await shop.world.store.read(
            lambda records: records.payments.subscriptions(second.account_id)
        )
        assert [one.state for one in paid] == [PaymentState.PAID]


@on_a_loop
async def test_an_account_of_which_the_provider_knows_nothing_can_be_deleted(
    open_shop: OpenShop,
) -> None:
    async with open_shop() as shop:
        first, _ = await one_is_unknown(shop)

        assert await shop.billing.end(first.account_id) is None


@on_a_loop
async def test_but_not_where_a_payment_may_still_be_taken(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        await shop.supporter()
        shop.fake.books.customers.clear()

        refused = denied(await shop.billing.end(shop.ada.account_id))

        assert "can no longer end it" in refused.sentence
        assert await shop.billing.end(shop.ada.account_id, by_operator=True) is None


def switched_off(shop: Shop) -> Shop:
    """The operator has taken the settings of the provider away."""
    return replace(shop, billing=replace(shop.billing, payments=None))


@on_a_loop
async def test_with_payment_switched_off_what_was_paid_counts_to_its_end(
    open_shop: OpenShop,
) -> None:
    async with open_shop() as opened:
        subscription, shop = await opened.supporter(), switched_off(opened)
        assert await shop.is_supporter()
        assert [one.subscription_id for one in await shop.billing.unseen()] == [subscription["id"]]

        until = (await shop.account()).paid_until
        assert until is not None
        shop.world.clock.at = until
        assert not await shop.is_supporter()
        assert await shop.billing.unseen() == []


@on_a_loop
async def test_with_payment_switched_off_nobody_deletes_an_account_that_is_still_charged(
    open_shop: OpenShop,
) -> None:
    async with open_shop() as opened:
        await opened.supporter()
        accounts = replace(opened.world.accounts, billing=switched_off(opened).billing)

        assert denied(await accounts.delete(ADA)).reason is Reason.PAYMENTS_AWAY
        assert isinstance(await accounts.delete(ADA, by=GRACE), Account)


@on_a_loop
async def test_where_everybody_is_a_supporter_who_still_pays_is_known(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        await shop.supporter()
        assert await shop.billing.unseen() == ()
        free = replace(
            shop.billing, core=replace(shop.world.core, supporters=SupporterPolicy.EVERYONE)
        )

        assert len(await free.unseen()) == 1
        shop.world.clock.advance(timedelta(days=38))
        assert await free.unseen() == []
