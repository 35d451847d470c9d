"""Accounts: created, listed, given supporter status, blocked, deleted."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from printreach.hub.accounts.invitations import end_invitations
from printreach.hub.accounts.sessions import end_all
from printreach.hub.apps import remove_app
from printreach.hub.audit_log import note
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.hub.payments import Billing
from printreach.languages import N_
from printreach.ports import Notice, Topic
from printreach.rules.accounts import Account, parse_email
from printreach.rules.accounts.mails import MailPurpose
from printreach.rules.accounts.passwords import problem_with_password
from printreach.rules.connections.credentials import new_record_id
from printreach.rules.operators import Operator, OperatorAct
from printreach.store.store import Records

LAST_OPERATOR: Final = Denied(Reason.INVALID, N_("There has to be at least one operator."))
_LAST_LEAVES: Final = Denied(
    Reason.INVALID,
    N_(
        "Nobody else operates this service. Make somebody else an operator first, then delete this "
        "account."
    ),
)
_PAYING_NOW: Final = Denied(
    Reason.STEP_OVER, N_("A payment was started at the same time. Nothing was deleted. Try again.")
)


@dataclass(frozen=True, kw_only=True, slots=True)
class LastOperator:
    """The last operator of the service. leaves_others: there are other accounts."""

    leaves_others: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Accounts:
    """The use cases about accounts. billing: None where payments were never configured."""

    core: Core
    billing: Billing | None = None

    async def add(
        self,
        email: str,
        password: str,
        *,
        is_admin: bool = False,
        supporter: bool = False,
        by: Operator | None = None,
    ) -> Account | Denied:
        """Create an account as an operator, who vouches for its address.

        supporter: with supporter status that does not end.
        """
        address = parse_email(email)
        if address is None:
            return Denied(Reason.INVALID, f"{email!r} is not an e-mail address.")
        problem = problem_with_password(password, address, self.core.passwords.is_common)
        if problem is not None:
            return Denied(Reason.INVALID, problem)
        at = self.core.clock.now()
        account = Account(
            account_id=new_record_id(self.core.token_bytes),
            email=address,
            password_hash=await self.core.passwords.hash(password, "operator"),
            is_admin=is_admin,
            supporter_granted=supporter,
            supporter_until=None,
            created_at=at,
            verified_at=at,
        )

        async def add(records: Records) -> Account | Denied:
            if await records.accounts.with_email(address) is not None:
                return Denied(Reason.ACCOUNT_EXISTS, f"There is an account {address} already.")
            await records.accounts.add(account)
            await self.core.default_mail_destination.put(records, account.account_id, at)
            what = " ".join(["operator"] * is_admin + ["supporter"] * supporter)
            await note(records, by, at, OperatorAct.ACCOUNT_ADDED, account.email, what)
            return account

        return await self.core.store.write(add)

    async def get(self, account_id: str) -> Account | None:
        """Return the account as it is now."""
        return await self.core.store.read(lambda records: records.accounts.get(account_id))

    async def all(self) -> list[Account]:
        """Return every account, by address."""
        return await self.core.store.read(lambda records: records.accounts.all())

    async def set_supporter(
        self,
        email: str,
        *,
        granted: bool,
        until: datetime | None = None,
        by: Operator | None = None,
    ) -> Account | Denied:
        """Grant supporter status, until a time or for good, or take it back."""
        at = self.core.clock.now()

        async def change(records: Records) -> Account | Denied:
            account = await account_with(records, email)
            if isinstance(account, Denied):
                return account
            await records.accounts.set_supporter(account.account_id, granted=granted, until=until)
            await records.notify(Notice(Topic.ACCOUNT, account.account_id), at)
            what = ("on" if until is None else f"until {until.isoformat()}") if granted else "off"
            await note(records, by, at, OperatorAct.SUPPORTER_CHANGED, account.email, what)
            return await account_with(records, email)

        return await self.core.store.write(change)

    async def delete(self, email: str, by: Operator | None = None) -> Account | Denied:
        """Delete all data of an account; its connections end, its agents are unlinked.

        The last operator cannot be deleted while other accounts exist. Its payment is ended first,
        or nothing is deleted, because afterwards nobody could end it.
        """
        at = self.core.clock.now()
        doomed = await self.core.store.read(lambda records: account_with(records, email))
        if isinstance(doomed, Denied):
            return doomed
        if await self.core.store.read(lambda records: _leaves_nobody(records, doomed)):
            return _LAST_LEAVES
        refused = None
        if self.billing is not None:
            by_operator = by is not None
            refused = await self.billing.end(doomed.account_id, by_operator=by_operator)
        if refused is not None:
            return refused

        async def delete(records: Records) -> Account | Denied:
            account = await account_with(records, email)
            if isinstance(account, Denied):
                return account
            if await _leaves_nobody(records, account):
                return _LAST_LEAVES
            if self.billing and await self.billing.is_beginning(records, account.account_id):
                return _PAYING_NOW
            for printer in await records.printers.of_account(account.account_id):
                await records.notify(Notice(Topic.PRINTER, printer.printer_id), at)
            await records.connections.revoke_all_of_account(account.account_id, at)
            for app in await records.apps.of_owner(account.account_id):
                await remove_app(records, app.app_id, at)
            await records.accounts.delete(account.account_id)
            if account.is_admin:
                await end_invitations(records)
            nobody = f"deleted account {account.account_id}"
            await records.operating.forget_subject(account.email, nobody)
            await note(records, by, at, OperatorAct.ACCOUNT_DELETED, nobody)
            await records.notify(Notice(Topic.ACCOUNT, account.account_id), at)
            return account

        return await self.core.store.write(delete)

    async def last_operator(self, account: Account) -> LastOperator | None:
        """Return what follows if this account is deleted; None if it isn't the last operator's."""
        return await self.core.store.read(lambda records: _last_operator(records, account))


async def _last_operator(records: Records, account: Account) -> LastOperator | None:
    if not account.is_admin or await records.operating.other_operators(account.account_id):
        return None
    return LastOperator(leaves_others=await records.operating.are_others(account.account_id))


async def _leaves_nobody(records: Records, account: Account) -> bool:
    """Return whether deleting this account would leave others without an operator."""
    last = await _last_operator(records, account)
    return last is not None and last.leaves_others


async def account_with(records: Records, email: str) -> Account | Denied:
    """Return the account with that address, regardless of case."""
    account = await records.accounts.with_email(parse_email(email) or email)
    if account is None:
        return Denied(Reason.NO_SUCH_ACCOUNT, f"There is no account {email}.")
    return account


async def block(records: Records, account: Account, at: datetime) -> Account:
    """Block the account, inside a unit of work. One that is blocked already keeps its time.

    Its owner is signed out, no request reaches its printers, and no one is notified. Its agents
    stay linked and connected and all data stays, so that everything is as before once an operator
    unblocks it. Each reader of the store checks `Account.is_blocked` itself.
    """
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
