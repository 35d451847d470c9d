"""A world in which supporter status is sold, by Stripe's own library and a fake of its API."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from printreach.backends.pay_stripe import stripe_payments
from printreach.hub.payments import Billing
from printreach.rules.accounts import Account, SupporterPolicy
from printreach.rules.payments import StripeAccount
from tests.fakes.stripe.books import Object
from tests.fakes.stripe.server import KEY, MONTHLY, SECRET, FakeStripe, sign
from tests.hub.world import OpenWorld, World

GRANTED = SupporterPolicy.GRANTED


@dataclass
class Shop:
    """A world in which supporter status is sold. ada: her account, as she signed up."""

    world: World
    billing: Billing
    fake: FakeStripe
    ada: Account

    async def buy(self, account: Account | None = None) -> str:
        """A page to pay on."""
        url = await self.billing.buy(account or self.ada, MONTHLY, "/back")
        assert isinstance(url, str), url
        return url

    async def pay(self) -> Object:
        """Somebody pays; nobody has heard of it yet."""
        return self.fake.books.pay((await self.buy()).rsplit("/", 1)[-1])

    async def hear(self, kind: str, about: Object, event_id: str) -> None:
        body = self.fake.event(kind, about, event_id)
        await self.billing.hear(body.encode(), sign(body))

    async def supporter(self) -> Object:
        """Ada has paid, and the call came."""
        subscription = await self.pay()
        await self.hear("customer.subscription.created", subscription, "evt_begun")
        return subscription

    async def account(self) -> Account:
        found = await self.world.store.read(
            lambda records: records.accounts.get(self.ada.account_id)
        )
        assert found is not None
        return found

    async def is_supporter(self) -> bool:
        return (await self.billing.standing(await self.account())).is_supporter


class OpenShop:
    def __init__(self, open_world: OpenWorld, fake: FakeStripe) -> None:
        self._open_world = open_world
        self._fake = fake

    @asynccontextmanager
    async def __call__(self, supporters: SupporterPolicy = GRANTED) -> AsyncIterator[Shop]:
        prices = (MONTHLY,)
        account = StripeAccount(
            secret_key=KEY, webhook_secret=SECRET, prices=prices, api_url=self._fake.url
        )
        async with (
            self._open_world(supporters=supporters) as world,
            stripe_payments(account, world.clock) as payments,
        ):
            billing = Billing(core=world.core, payments=payments)
            yield Shop(world, billing, self._fake, await world.add_account())
