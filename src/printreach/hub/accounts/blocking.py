"""Blocking of accounts: the owner is signed out, no request reaches the printers, no one is
notified.

Its agents stay linked and connected and all data stays, so that everything is as before once an
operator unblocks it. Each reader of the store checks `Account.is_blocked` itself.
"""

from dataclasses import replace
from datetime import datetime

from printreach.hub.accounts.invitations import end_invitations
from printreach.hub.accounts.sessions import end_all
from printreach.ports import Notice, Topic
from printreach.rules.accounts import Account
from printreach.rules.accounts.mail_links import MailPurpose
from printreach.store.store import Records


async def block(records: Records, account: Account, at: datetime) -> Account:
    """Block the account, inside a unit of work. One that is blocked already keeps its time."""
    account_id = account.account_id
    blocked = replace(account, blocked_at=account.blocked_at or at)
    await records.accounts.set_blocked(account_id, blocked.blocked_at)
    await records.steps.drop(account_id)
    await records.mail_links.drop(account_id, list(MailPurpose))
    # Queued notifications would arrive long afterwards. Webhooks drop theirs one by one.
    for destination in await records.notifications.destinations(account_id):
        await records.notifications.drop_all(destination.destination_id)
    await end_all(records, account_id, at)
    if account.is_admin:
        await end_invitations(records)
    return blocked


async def unblock(records: Records, account: Account, at: datetime) -> Account:
    """Unblock the account, inside a unit of work. Browsers stay signed out."""
    await records.accounts.set_blocked(account.account_id, None)
    await records.notify(Notice(Topic.ACCOUNT, account.account_id), at)
    return replace(account, blocked_at=None)
