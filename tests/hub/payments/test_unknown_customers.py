"""A customer whom the payment provider doesn't know: said, shown to operators, and mended."""

from dataclasses import replace

from printreach.hub.denied import Denied, Reason
from printreach.store.listings import Search
from tests.fakes.loop import on_a_loop
from tests.fakes.stripe.books import Object
from tests.fakes.stripe.server import MONTHLY
from tests.hub.operators.test_operating import GRACE, operating
from tests.hub.payments.billing_world import OpenShop, Shop
from tests.hub.world import denied


async def forget(shop: Shop) -> Denied | None:
    desk = replace(operating(shop.world), billing=shop.billing)
    return await desk.forget_customer(shop.ada.account_id, GRACE)


async def unknown_supporter(shop: Shop) -> Object:
    """Ada has paid, and her customer was deleted at the provider."""
    subscription = await shop.supporter()
    shop.fake.books.customers.clear()
    await shop.billing.reconcile()
    return subscription


@on_a_loop
async def test_who_is_unknown_to_the_provider_is_told_so_and_not_to_try_again(
    open_shop: OpenShop,
) -> None:
    async with open_shop() as shop:
        await unknown_supporter(shop)
        refused = [
            await shop.billing.buy(shop.ada, MONTHLY, "/back"),
            await shop.billing.look(shop.ada),
            await shop.billing.manage(shop.ada),
        ]

        assert {denied(one).reason for one in refused} == {Reason.INVALID}
        assert {"whoever runs this service" in denied(one).sentence for one in refused} == {True}


@on_a_loop
async def test_operators_see_whom_the_provider_does_not_know_and_since_when(
    open_shop: OpenShop,
) -> None:
    async with open_shop() as shop:
        assert await shop.billing.unknown() == []
        since = shop.world.clock.now()
        await unknown_supporter(shop)
        await shop.billing.reconcile()
        [payer] = await shop.billing.unknown()

        assert payer.account_id == shop.ada.account_id
        assert payer.unknown_since == since


@on_a_loop
async def test_a_customer_that_the_provider_knows_again_is_as_before(open_shop: OpenShop) -> None:
    """The settings named another account of the provider for a while."""
    async with open_shop() as shop:
        await shop.supporter()
        customers = dict(shop.fake.books.customers)
        shop.fake.books.customers.clear()
        await shop.billing.reconcile()
        shop.fake.books.customers.update(customers)

        assert denied(await forget(shop)).reason is Reason.INVALID
        assert await shop.billing.unknown() == []
        assert await shop.is_supporter()


@on_a_loop
async def test_an_operator_forgets_a_customer_and_the_account_can_pay_anew(
    open_shop: OpenShop,
) -> None:
    async with open_shop() as shop:
        await unknown_supporter(shop)

        assert await forget(shop) is None
        assert await shop.billing.unknown() == []
        assert await shop.is_supporter()
        assert not (await shop.billing.standing(await shop.account())).goes_on
        assert await shop.buy()
        acts = await operating(shop.world).acts(Search())
        assert acts.rows[0].act.value == "customer-forgotten"


@on_a_loop
async def test_while_the_provider_is_away_no_customer_is_forgotten(open_shop: OpenShop) -> None:
    async with open_shop() as shop:
        await unknown_supporter(shop)
        shop.fake.is_away = True

        assert denied(await forget(shop)).reason is Reason.PAYMENTS_AWAY
        assert len(await shop.billing.unknown()) == 1


@on_a_loop
async def test_a_call_about_a_customer_that_was_deleted_counts_as_heard(
    open_shop: OpenShop,
) -> None:
    async with open_shop() as shop:
        subscription = await unknown_supporter(shop)
        await shop.hear("customer.subscription.updated", subscription, "evt_gone")

        heard = await shop.world.store.read(lambda records: records.payments.has_heard("evt_gone"))
        assert heard
