"""What operators see of all accounts, and do to them. Callers check that the caller is one."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from printreach.hub.accounts import LAST_OPERATOR, Accounts, account_with, block, unblock
from printreach.hub.accounts.invitations import Invitations, end_invitations
from printreach.hub.accounts.limits import AccountLimitCases
from printreach.hub.apps import OperatedApps
from printreach.hub.audit_log import note
from printreach.hub.connections import Connections
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.hub.detection.keys import DetectionKeys
from printreach.hub.payments import Billing, SupporterStanding
from printreach.hub.printers import Printers
from printreach.hub.printers.remote_lock import lock, unlock
from printreach.languages import N_
from printreach.ports.payments import Payments
from printreach.rules.accounts import Account
from printreach.rules.accounts.limits import AccountLimits, LimitChanges
from printreach.rules.connections import Connection, ConnectionKind, has_ended
from printreach.rules.detection.address_claims import AddressClaim, claimable_network, is_live
from printreach.rules.operators import ActDone, Operator, OperatorAct
from printreach.rules.payments import Payer
from printreach.store.listings import (
    AccountFilter,
    AccountRow,
    ConnectionRow,
    Counts,
    KeyRow,
    ListPage,
    PrinterRow,
    Search,
)
from printreach.store.store import Records

_OWN_ACCOUNT: Final = Denied(
    Reason.INVALID, N_("That is your own account; its own page deletes it.")
)
_KNOWN: Final = Denied(
    Reason.INVALID, N_("The payment provider knows this account's customer. Nothing was changed.")
)
_OWN_BLOCK: Final = Denied(
    Reason.INVALID, N_("That is your own account; you would lock yourself out.")
)


@dataclass(frozen=True, kw_only=True, slots=True)
class OperatedAccount:
    """One account with all that an operator sees of it."""

    account: Account
    printers: list[PrinterRow]
    connections: list[Connection]
    limits: AccountLimits
    changes: LimitChanges
    standing: SupporterStanding
    payer: Payer | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Operating:
    """The use cases of operators, and those of others that operators may use on any account."""

    core: Core
    accounts: Accounts
    invitations: Invitations
    printers: Printers
    connections: Connections
    apps: OperatedApps
    limits: AccountLimitCases
    billing: Billing
    keys: DetectionKeys

    async def counts(self) -> Counts:
        at = self.core.clock.now()
        return await self.core.store.read(lambda records: records.operating.counts(at))

    async def find_accounts(self, search: Search, show: AccountFilter) -> ListPage[AccountRow]:
        at = self.core.clock.now()
        return await self.core.store.read(
            lambda records: records.operating.accounts(search, show, at)
        )

    async def find_printers(self, search: Search) -> ListPage[PrinterRow]:
        return await self.core.store.read(lambda records: records.operating.printers(search))

    async def find_connections(self, search: Search) -> ListPage[ConnectionRow]:
        at = self.core.clock.now()
        return await self.core.store.read(lambda records: records.operating.connections(search, at))

    async def find_keys(self, search: Search) -> ListPage[KeyRow]:
        return await self.core.store.read(lambda records: records.operating.keys(search))

    async def acts(self, search: Search) -> ListPage[ActDone]:
        return await self.core.store.read(lambda records: records.operating.acts(search))

    async def last_backup(self) -> datetime | None:
        """Return when the last backup was made; None if none was for as long as acts are kept."""
        return await self.core.store.read(
            lambda records: records.operating.latest(OperatorAct.BACKUP_MADE)
        )

    async def note_backup(self, act: OperatorAct, name: str, by: Operator, detail: str) -> None:
        """Note in the audit log that a backup of that name was made or restored."""
        at = self.core.clock.now()
        await self.core.store.write(lambda records: note(records, by, at, act, name, detail))

    async def account(self, account_id: str) -> OperatedAccount | Denied:
        """Return one account with all that is known of it."""
        at = self.core.clock.now()
        account = await self.core.store.read(lambda records: records.accounts.get(account_id))
        if account is None:
            return Denied(Reason.NO_SUCH_ACCOUNT, N_("There is no such account."))
        standing = await self.billing.standing(account)

        async def look(records: Records) -> OperatedAccount:
            return OperatedAccount(
                account=account,
                printers=await records.printers.rows_of_account(account_id),
                connections=[
                    connection
                    for connection in await records.connections.of_account(account_id)
                    if not has_ended(connection, at) and connection.kind is not ConnectionKind.OWN
                ],
                limits=await records.limits.in_force(account_id),
                changes=await records.limits.of_account(account_id),
                standing=standing,
                payer=await records.payments.payer(account_id),
            )

        return await self.core.store.read(look)

    async def printer(self, printer_id: str) -> PrinterRow | Denied:
        """Return one linked printer with its owner."""
        row = await self.core.store.read(lambda records: records.operating.printer(printer_id))
        return row or Denied(Reason.NO_SUCH_PRINTER, N_("There is no such printer."))

    async def key(self, key_id: str) -> KeyRow | Denied:
        """Return one key of the failure-detection API with its owner."""
        row = await self.core.store.read(lambda records: records.operating.key(key_id))
        return row or Denied(Reason.NO_SUCH_KEY, N_("There is no such key."))

    async def connection(self, connection_id: str) -> ConnectionRow | Denied:
        """Return one connection in force with its app, printer and owner."""
        at = self.core.clock.now()
        row = await self.core.store.read(
            lambda records: records.operating.connection(connection_id, at)
        )
        return row or Denied(Reason.NO_SUCH_CONNECTION, N_("There is no such connection."))

    async def forget_customer(self, account_id: str, by: Operator) -> Denied | None:
        """Forget a customer that the payment provider does not know, so that the account can pay as
        a new one."""
        is_unknown = await self.billing.is_unknown(account_id)
        if isinstance(is_unknown, Denied):
            return is_unknown
        if not is_unknown:
            return _KNOWN
        at = self.core.clock.now()

        async def forget(records: Records) -> Denied | None:
            account = await records.accounts.get(account_id)
            payer = await records.payments.payer(account_id)
            if account is None or payer is None or payer.unknown_since is None:
                return _KNOWN
            await records.payments.forget_customer(account_id)
            act = OperatorAct.CUSTOMER_FORGOTTEN
            await note(records, by, at, act, account.email, payer.customer_id or "")
            return None

        return await self.core.store.write(forget)

    async def set_admin(self, email: str, *, is_admin: bool, by: Operator) -> Account | Denied:
        """Make an account an operator's, or take that back; the last operator stays one."""
        at = self.core.clock.now()

        async def change(records: Records) -> Account | Denied:
            account = await account_with(records, email)
            if isinstance(account, Denied):
                return account
            if not is_admin and not await records.operating.other_operators(account.account_id):
                return LAST_OPERATOR
            await records.operating.set_admin(account.account_id, is_admin=is_admin)
            if account.is_admin and not is_admin:
                await end_invitations(records)
            act = OperatorAct.OPERATOR_MADE if is_admin else OperatorAct.OPERATOR_UNMADE
            await note(records, by, at, act, account.email)
            return await account_with(records, email)

        return await self.core.store.write(change)

    async def set_blocked(self, email: str, *, blocked: bool, by: Operator) -> Account | Denied:
        """Block or unblock an account; an operator cannot block their own, nor the last operator's.

        No data is lost: see `hub.accounts.block`.
        """
        at = self.core.clock.now()

        async def change(records: Records) -> Account | Denied:
            account = await account_with(records, email)
            if isinstance(account, Denied):
                return account
            if blocked and account.account_id == by.account_id:
                return _OWN_BLOCK
            others = await records.operating.other_operators(account.account_id)
            if blocked and account.is_admin and not others:
                return LAST_OPERATOR
            act = OperatorAct.ACCOUNT_BLOCKED if blocked else OperatorAct.ACCOUNT_UNBLOCKED
            await note(records, by, at, act, account.email)
            return await (block if blocked else unblock)(records, account, at)

        return await self.core.store.write(change)

    async def set_locked(self, email: str, *, locked: bool, by: Operator) -> Account | Denied:
        """Lock or unlock remote control of an account's printers; prints under way go on."""
        at = self.core.clock.now()

        async def change(records: Records) -> Account | Denied:
            account = await account_with(records, email)
            if isinstance(account, Denied):
                return account
            act = OperatorAct.ACCOUNT_LOCKED if locked else OperatorAct.ACCOUNT_UNLOCKED
            await note(records, by, at, act, account.email)
            await (lock if locked else unlock)(records, account.account_id, at)
            return await account_with(records, email)

        return await self.core.store.write(change)

    async def delete(self, email: str, by: Operator) -> Account | Denied:
        """Delete another person's account with all its data."""
        account = await self.core.store.read(lambda records: account_with(records, email))
        if isinstance(account, Account) and account.account_id == by.account_id:
            return _OWN_ACCOUNT
        return await self.accounts.delete(email, by=by)


def operating(core: Core, payments: Payments | None, ports: range) -> Operating:
    """Build the use cases. payments: None if nothing is sold. ports: those that connections get."""
    billing = Billing(core=core, payments=payments)
    return Operating(
        core=core,
        accounts=Accounts(core=core, billing=billing),
        invitations=Invitations(core=core),
        printers=Printers(core=core),
        connections=Connections(core=core, ports=ports),
        apps=OperatedApps(core=core),
        limits=AccountLimitCases(core=core),
        billing=billing,
        keys=DetectionKeys(core=core),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class AddressClaims:
    """The use cases of IP addresses that accounts have claimed for their calls of an API."""

    core: Core

    async def all(self) -> list[tuple[AddressClaim, str]]:
        """Return the claims in force, each with the mail address of its account."""
        at = self.core.clock.now()

        async def look(records: Records) -> list[tuple[AddressClaim, str]]:
            listed = []
            for claim in await records.detection_claims.all():
                account = await records.accounts.get(claim.account_id)
                if account is not None and is_live(claim, at):
                    listed.append((claim, account.email))
            return listed

        return await self.core.store.read(look)

    async def release(self, address: str, by: Operator) -> str | Denied:
        """Release a claim, so that any account may call from there; return the network.

        address: any address of the network, or the network as it is listed.
        """
        network = claimable_network(address.partition("/")[0])
        if network is None:
            return Denied(Reason.INVALID, f"{address!r} is no public address.")
        at = self.core.clock.now()

        async def release(records: Records) -> str | Denied:
            if not await records.detection_claims.release(network):
                return Denied(Reason.INVALID, f"Nobody has claimed {network}.")
            await note(records, by, at, OperatorAct.CLAIM_RELEASED, network)
            return network

        return await self.core.store.write(release)
