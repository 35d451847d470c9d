"""Payers and subscriptions, as rows."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select, update

from printreach.rules.payments import Payer, PaymentState, Subscription
from printreach.store.accounts.tables import payers, payment_calls, subscriptions
from printreach.store.columns import TableRecords, columns_for, insert

_PAYER = columns_for(Payer, payers)
_SUBSCRIPTION = columns_for(Subscription, subscriptions)


class PaymentRecords(TableRecords):
    """The stored data of payers; never cards or addresses."""

    async def payer(self, account_id: str) -> Payer | None:
        return await self._first(Payer, select(*_PAYER).where(payers.c.account_id == account_id))

    async def put_payer(self, payer: Payer) -> None:
        values = asdict(payer)
        await self._connection.execute(
            insert(payers)
            .values(**values)
            .on_conflict_do_update(index_elements=[payers.c.account_id], set_=values)
        )

    async def known_payers(self) -> list[str]:
        """Return the accounts that have a customer at the provider."""
        found = await self._connection.execute(
            select(payers.c.account_id)
            .where(payers.c.customer_id.is_not(None) | payers.c.checkout_id.is_not(None))
            .order_by(payers.c.account_id)
        )
        return list(found.scalars())

    async def note_customer(self, customer_id: str, unknown_at: datetime | None) -> None:
        """Mark a customer as unknown to the provider since then; None: it is known."""
        is_news = payers.c.unknown_since.is_(None) == (unknown_at is not None)
        await self._connection.execute(
            update(payers)
            .where(payers.c.customer_id == customer_id, is_news)
            .values(unknown_since=unknown_at)
        )

    async def unknown(self) -> list[Payer]:
        """Return the payers whom the provider does not know."""
        return await self._all(
            Payer,
            select(*_PAYER)
            .where(payers.c.unknown_since.is_not(None))
            .order_by(payers.c.unknown_since, payers.c.account_id),
        )

    async def forget_customer(self, account_id: str) -> None:
        """Forget the customer: the account pays next as a new one.

        What was paid counts to its end.
        """
        await self._connection.execute(
            update(subscriptions)
            .where(subscriptions.c.account_id == account_id, subscriptions.c.ends_at.is_(None))
            .values(ends_at=subscriptions.c.period_ends_at)
        )
        await self.put_payer(Payer(account_id=account_id))

    async def running(self) -> list[Subscription]:
        """Return the subscriptions of all accounts that are not over."""
        return await self._all(
            _subscription,
            select(*_SUBSCRIPTION)
            .where(subscriptions.c.state != PaymentState.OVER.value)
            .order_by(subscriptions.c.subscription_id),
        )

    async def account_of(self, customer_id: str) -> str | None:
        found = await self._connection.execute(
            select(payers.c.account_id).where(payers.c.customer_id == customer_id)
        )
        return found.scalar_one_or_none()

    async def subscriptions(self, account_id: str) -> list[Subscription]:
        """Return the account's subscriptions, including ended ones, latest first."""
        return await self._all(
            _subscription,
            select(*_SUBSCRIPTION)
            .where(subscriptions.c.account_id == account_id)
            .order_by(subscriptions.c.begun_at.desc(), subscriptions.c.subscription_id),
        )

    async def put(self, account_id: str, subscription: Subscription, asked_at: datetime) -> None:
        """Store a subscription; ignored if the answer to a later question was stored before.

        asked_at: when the provider was asked, not when it answered: a later question includes all
        that an earlier answer told.
        """
        values = asdict(subscription) | {
            "account_id": account_id,
            "state": subscription.state.value,
            "asked_at": asked_at,
        }
        await self._connection.execute(
            insert(subscriptions)
            .values(**values)
            .on_conflict_do_update(
                index_elements=[subscriptions.c.subscription_id],
                set_=values,
                where=subscriptions.c.asked_at <= asked_at,
            )
        )

    async def has_heard(self, event_id: str) -> bool:
        return await self._exists(
            select(payment_calls.c.event_id).where(payment_calls.c.event_id == event_id)
        )

    async def note_heard(self, event_id: str, at: datetime) -> None:
        if not await self.has_heard(event_id):
            await self._connection.execute(insert(payment_calls).values(event_id=event_id, at=at))

    async def forget_heard(self, before: datetime) -> None:
        await self._connection.execute(delete(payment_calls).where(payment_calls.c.at < before))


def _subscription(*, state: str, **row: Any) -> Subscription:
    return Subscription(**row, state=PaymentState(state))
