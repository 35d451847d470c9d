"""Applies what a payment provider reports to the supporter status of accounts."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from printreach.ports import Notice, Topic
from printreach.rules.payments import Payer, Subscription, longest_paid
from printreach.store.store import Records

_log = logging.getLogger(__name__)


async def settle(
    records: Records, customer_id: str, found: Sequence[Subscription], asked_at: datetime
) -> None:
    """Store what a customer has, and what that means for the accounts it was bought for.

    asked_at: when the provider was asked. An answer older than one that was stored changes nothing.
    """
    known = await records.payments.account_of(customer_id)
    owners: set[str] = set()
    for subscription in found:
        account_id = subscription.account_id or known
        if account_id is None or await records.accounts.get(account_id) is None:
            # Another installation may use the same account at the provider.
            _log.warning("no account here has the subscription %s", subscription.subscription_id)
            continue
        await records.payments.put(account_id, subscription, asked_at)
        owners.add(account_id)
    for account_id in sorted(owners):
        if known is None:
            payer = await records.payments.payer(account_id) or Payer(account_id=account_id)
            await records.payments.put_payer(replace(payer, customer_id=customer_id))
            known = account_id
        await _pass_on(records, account_id, asked_at)


async def _pass_on(records: Records, account_id: str, at: datetime) -> None:
    """Set the end of paid supporter status to the longest of what was paid."""
    account = await records.accounts.get(account_id)
    until = longest_paid(await records.payments.subscriptions(account_id))
    if account is not None and account.paid_until != until:
        await records.accounts.set_paid_until(account_id, until)
        await records.notify(Notice(Topic.ACCOUNT, account_id), at)
