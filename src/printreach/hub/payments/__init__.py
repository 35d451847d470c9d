"""Paid supporter status: bought, reported by the provider, managed, ended."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.hub.payments.settling import settle
from printreach.languages import N_
from printreach.ports.payments import Offer, Order, Payments, PaymentsUnavailable, UnknownToProvider
from printreach.rules.accounts import Account, SupporterPolicy, may_connect_apps
from printreach.rules.payments import (
    LATE_TIME,
    Payer,
    PaymentState,
    Subscription,
    is_going_on,
    longest_paid,
    paid_until,
)
from printreach.rules.rate_limits import Limit, TooSoon
from printreach.store.store import Records

CALLS_KEPT: Final = timedelta(days=30)
PAY_BY_ACCOUNT: Final = Limit(name="pay", at_once=20, every=timedelta(seconds=30))
"""Each such request asks the provider two or three times."""
PROVIDER_AWAY: Final = Denied(
    Reason.PAYMENTS_AWAY, N_("The payment provider didn't answer. Try again in a minute.")
)
CUSTOMER_UNKNOWN: Final = Denied(
    Reason.INVALID,
    N_(
        "The payment provider no longer knows about your payments. Ask whoever runs this service "
        "to put that right. You weren't charged."
    ),
)
_NO_OFFER: Final = Denied(Reason.INVALID, N_("Choose one of the plans."))
_PAYS_ALREADY: Final = Denied(
    Reason.PAYS_ALREADY, N_("You already pay. You weren't charged again.")
)
_HALTED: Final = Denied(
    Reason.INVALID,
    N_(
        "You have a subscription that is paused or was not paid. Settle or cancel it first, under "
        "“Manage cards and receipts, or cancel” on the page of your supporter status."
    ),
)
_RUNS_UNSEEN: Final = Denied(
    Reason.PAYMENTS_AWAY,
    N_(
        "A payment for this account is still running, and this service can no longer end it. Ask "
        "whoever runs it to do that first. Nothing was deleted."
    ),
)
_TWO_AT_ONCE: Final = Denied(
    Reason.STEP_OVER, N_("You started two payments at the same time. Try again, just once.")
)
_NEVER_PAID: Final = Denied(Reason.INVALID, N_("Nothing was ever paid for this account."))

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class SupporterStanding:
    """The state of an account's supporter status, for the pages that show it.

    subscription: the one that lasts longest, or else the latest one.
    """

    is_for_all: bool
    is_supporter: bool
    is_granted: bool
    subscription: Subscription | None
    is_sold: bool

    @property
    def goes_on(self) -> bool:
        """Return whether the subscription renews itself."""
        return self.subscription is not None and is_going_on(self.subscription)


@dataclass(frozen=True, kw_only=True, slots=True)
class Billing:
    """The use cases about payment. payments: None where nothing is sold."""

    core: Core
    payments: Payments | None

    @property
    def is_sold(self) -> bool:
        """Return whether it can be bought now."""
        return self.payments is not None and self.core.supporters is not SupporterPolicy.EVERYONE

    async def offers(self) -> Sequence[Offer] | Denied:
        """Return what can be bought; nothing where nothing is sold."""
        if self.payments is None or not self.is_sold:
            return ()
        try:
            return await self.payments.offers()
        except PaymentsUnavailable as error:
            _log.warning("could not load prices from the payment provider: %s", error)
            return PROVIDER_AWAY

    async def standing(self, account: Account) -> SupporterStanding:
        """Return what a page shows of it, without asking the provider."""
        subscriptions = await self.core.store.read(
            lambda records: records.payments.subscriptions(account.account_id)
        )
        return SupporterStanding(
            is_for_all=self.core.supporters is SupporterPolicy.EVERYONE,
            is_supporter=may_connect_apps(self.core.supporters, account, self.core.clock.now()),
            is_granted=may_connect_apps(
                SupporterPolicy.GRANTED, replace(account, paid_until=None), self.core.clock.now()
            ),
            subscription=_that_counts(subscriptions),
            is_sold=self.is_sold,
        )

    async def buy(self, account: Account, offer_id: str, way_back: str) -> str | Denied | TooSoon:
        """Return the URL of the page to pay on. way_back: our page to return to, which calls
        look().

        At most one page of the provider is open for an account, so nobody pays twice.
        """
        if self.payments is None or not self.is_sold:
            return _NO_OFFER
        refused = self.core.caller_tries.take(PAY_BY_ACCOUNT, account.account_id)
        if refused is not None:
            return refused
        try:
            return await self._buy(self.payments, account, offer_id, way_back)
        except UnknownToProvider:
            return CUSTOMER_UNKNOWN
        except PaymentsUnavailable as error:
            _log.warning("could not start a checkout: %s", error)
            return PROVIDER_AWAY

    async def look(self, account: Account) -> Denied | TooSoon | None:
        """Ask the provider about this account, since its webhook may come later."""
        if self.payments is None:
            return None
        refused = self.core.caller_tries.take(PAY_BY_ACCOUNT, account.account_id)
        if refused is not None:
            return refused
        try:
            await self._look(self.payments, account.account_id, closes=False)
        except UnknownToProvider:
            return CUSTOMER_UNKNOWN
        except PaymentsUnavailable as error:
            _log.warning("could not look up a payment at the payment provider: %s", error)
            return PROVIDER_AWAY
        return None

    async def manage(self, account: Account) -> str | Denied | TooSoon:
        """Return the provider's page where an account changes its card or cancels."""
        payer = await self._payer(account.account_id)
        if self.payments is None or payer.customer_id is None:
            return _NEVER_PAID
        refused = self.core.caller_tries.take(PAY_BY_ACCOUNT, account.account_id)
        if refused is not None:
            return refused
        try:
            way_back = f"{self.core.addresses.base_url}/account/supporter?back=managed"
            return await self.payments.managing_url(payer.customer_id, way_back)
        except UnknownToProvider:
            await self._note_unknown(payer.customer_id)
            return CUSTOMER_UNKNOWN
        except PaymentsUnavailable as error:
            _log.warning("could not open the customer portal: %s", error)
            return PROVIDER_AWAY

    async def hear(self, body: bytes, signature: str) -> None:
        """Process a webhook of the provider. Raises ForgedCall, PaymentsUnavailable.

        It is marked as processed only after it was acted on, so a failed one may come again.
        """
        if self.payments is None:
            raise PaymentsUnavailable(N_("Nothing is sold here."))
        call = self.payments.read_call(body, signature)
        if await self.core.store.read(lambda records: records.payments.has_heard(call.event_id)):
            return
        customer_id = call.customer_id
        if call.charge_id is not None:
            customer_id = await self.payments.customer_of(call.charge_id)
        if customer_id is not None:
            await self._settle_where_known(self.payments, customer_id)
        at = self.core.clock.now()

        async def note(records: Records) -> None:
            await records.payments.forget_heard(at - CALLS_KEPT)
            await records.payments.note_heard(call.event_id, at)

        await self.core.store.write(note)

    async def reconcile(self) -> int:
        """Ask the provider about everybody who pays or was about to, since webhooks get lost.

        Returns how many were asked about. Those without an answer are left to the next run.
        """
        if self.payments is None:
            return 0
        payers = await self.core.store.read(lambda records: records.payments.known_payers())
        for count, account_id in enumerate(payers):
            try:
                await self._look(self.payments, account_id, closes=False)
            except UnknownToProvider as error:
                _log.warning("the provider doesn't know who pays for %s: %s", account_id, error)
            except PaymentsUnavailable as error:
                _log.warning("could not compare payments with the provider's yet: %s", error)
                return count
        return len(payers)

    async def unknown(self) -> Sequence[Payer]:
        """Return accounts whose customers the provider does not know, for the operator to mend."""
        return await self.core.store.read(lambda records: records.payments.unknown())

    async def is_unknown(self, account_id: str) -> bool | Denied:
        """Return whether the provider still does not know an account's customer."""
        if self.payments is None:
            return Denied(Reason.INVALID, N_("Nothing is sold here, so nobody can be asked."))
        try:
            await self._look(self.payments, account_id, closes=True)
        except UnknownToProvider:
            return True
        except PaymentsUnavailable as error:
            _log.warning("could not look up a customer at the payment provider: %s", error)
            return PROVIDER_AWAY
        return False

    async def unseen(self) -> Sequence[Subscription]:
        """Return subscriptions that go on at the provider while nothing is sold here.

        They are shown to the operator. Since the provider is not asked any more, each counts until
        the paid period is over.
        """
        if self.is_sold:
            return ()
        at = self.core.clock.now()
        running = await self.core.store.read(lambda records: records.payments.running())
        return [subscription for subscription in running if _takes_money(subscription, at)]

    async def end(self, account_id: str, *, by_operator: bool = False) -> Denied | None:
        """End the payments of an account, before it is deleted; afterwards nobody could.

        by_operator: the caller can end it at the provider, where the provider is not asked any more
        or does not know the customer.
        """
        if self.payments is None:
            return None if by_operator else await self._end_unseen(account_id)
        try:
            for subscription in await self._look(self.payments, account_id, closes=True):
                if subscription.state is not PaymentState.OVER:
                    await self.payments.cancel(subscription.subscription_id)
        except UnknownToProvider as error:
            _log.warning("the provider doesn't know who pays for %s: %s", account_id, error)
            return None if by_operator else await self._end_unseen(account_id)
        except PaymentsUnavailable as error:
            _log.warning("a payment could not be ended: %s", error)
            return Denied(
                Reason.PAYMENTS_AWAY,
                N_(
                    "The payment provider didn't answer, and the payment would continue. Nothing "
                    "was deleted. Try again in a minute."
                ),
            )
        return None

    async def is_beginning(self, records: Records, account_id: str) -> bool:
        """Return whether another tab has opened a page to pay on since payments were ended."""
        payer = await records.payments.payer(account_id)
        return self.payments is not None and payer is not None and payer.checkout_id is not None

    async def _end_unseen(self, account_id: str) -> Denied | None:
        mine = await self.core.store.read(
            lambda records: records.payments.subscriptions(account_id)
        )
        is_running = any(_takes_money(subscription, self.core.clock.now()) for subscription in mine)
        return _RUNS_UNSEEN if is_running else None

    async def _buy(
        self, payments: Payments, account: Account, offer_id: str, way_back: str
    ) -> str | Denied:
        if offer_id not in {offer.offer_id for offer in await payments.offers()}:
            return _NO_OFFER
        known = await self._look(payments, account.account_id, closes=True)
        if any(
            subscription.state is PaymentState.HALTED and is_going_on(subscription)
            for subscription in known
        ):
            return _HALTED
        if any(map(is_going_on, known)):
            return _PAYS_ALREADY
        before = await self._payer(account.account_id)
        checkout = await payments.begin_checkout(
            Order(
                account_id=account.account_id,
                email=account.email,
                customer_id=before.customer_id,
                offer_id=offer_id,
                paid_url=f"{self.core.addresses.base_url}{way_back}?back=paid",
                left_url=f"{self.core.addresses.base_url}{way_back}",
            )
        )
        if not await self._put_checkout(before, checkout.checkout_id):
            await payments.close_checkout(checkout.checkout_id)
            return _TWO_AT_ONCE
        return checkout.url

    async def _look(
        self, payments: Payments, account_id: str, *, closes: bool
    ) -> Sequence[Subscription]:
        """Return the account's subscriptions at the provider.

        closes: also close an open payment page.
        """
        payer = await self._payer(account_id)
        customer_id = payer.customer_id
        if payer.checkout_id is not None:
            now = await payments.checkout(payer.checkout_id)
            customer_id = (now.customer_id if now else None) or customer_id
            is_open = now is not None and now.is_open
            if is_open and closes:
                await payments.close_checkout(payer.checkout_id)
            if closes or not is_open:
                await self._put_checkout(payer, None)
        if customer_id is None:
            return ()
        return await self._settle(payments, customer_id)

    async def _settle(self, payments: Payments, customer_id: str) -> Sequence[Subscription]:
        """Store what holds for a customer now."""
        asked_at = self.core.clock.now()
        try:
            found = await payments.subscriptions(customer_id)
        except UnknownToProvider:
            await self._note_unknown(customer_id)
            raise

        async def write(records: Records) -> None:
            await settle(records, customer_id, found, asked_at)
            await records.payments.note_customer(customer_id, None)

        await self.core.store.write(write)
        return found

    async def _settle_where_known(self, payments: Payments, customer_id: str) -> None:
        """Settle, unless the customer is unknown: the webhook would be repeated for days."""
        try:
            await self._settle(payments, customer_id)
        except UnknownToProvider as error:
            _log.warning(
                "a payment webhook was about a customer that the provider doesn't know: %s", error
            )

    async def _note_unknown(self, customer_id: str) -> None:
        """Mark the customer as unknown.

        Only an operator can tell a deleted one from a wrong API key.
        """
        at = self.core.clock.now()
        await self.core.store.write(lambda records: records.payments.note_customer(customer_id, at))

    async def _put_checkout(self, before: Payer, checkout_id: str | None) -> bool:
        """Store which page the account pays on; False if another was opened meanwhile."""

        async def put(records: Records) -> bool:
            now = await records.payments.payer(before.account_id) or before
            if now.checkout_id != before.checkout_id:
                return False
            await records.payments.put_payer(replace(now, checkout_id=checkout_id))
            return True

        return await self.core.store.write(put)

    async def _payer(self, account_id: str) -> Payer:
        found = await self.core.store.read(lambda records: records.payments.payer(account_id))
        return found or Payer(account_id=account_id)


def _takes_money(subscription: Subscription, at: datetime) -> bool:
    """Return whether it renews, as far as known: one overdue for long ended without a webhook."""
    return is_going_on(subscription) and at < subscription.period_ends_at + LATE_TIME


def _that_counts(subscriptions: Sequence[Subscription]) -> Subscription | None:
    """Return the subscription that lasts longest; the latest one if none is in force."""
    end = longest_paid(subscriptions)
    counting = [
        subscription
        for subscription in subscriptions
        if end is not None and paid_until(subscription) == end
    ]
    return next(iter([*counting, *subscriptions]), None)
