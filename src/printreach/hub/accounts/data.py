"""All data that is kept of an account: exported, and deleted."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final, TypeAlias

from printreach.hub.accounts import Accounts
from printreach.hub.core import Core
from printreach.hub.denied import Denied
from printreach.rules.accounts import Account
from printreach.rules.accounts.oidc import Identity
from printreach.rules.accounts.sessions import Session, is_live
from printreach.rules.payments import Subscription
from printreach.rules.rate_limits import TooSoon
from printreach.store.accounts.personal import PageCursor, Rows, Value
from printreach.store.store import Records

AT_ONCE: Final = 500
"""Rows that are held in memory at once."""
Row: TypeAlias = Mapping[str, Value]
Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"


class AccountGone(Exception):
    """The account was deleted or blocked while its rows were read, so the export is incomplete."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AccountData:
    """The use cases about an account's data."""

    core: Core
    accounts: Accounts

    async def export(self, account: Account) -> dict[str, Json]:
        """Return the part of the data that people usually look for, in words."""
        return await self.core.store.read(lambda records: self._export(records, account))

    async def rows(self, account: Account) -> AsyncIterator[tuple[str, Sequence[Row]]]:
        """Yield every row as it is stored, except digests and keys, which are of no use to anybody.

        Rows come in batches of one table, and each table yields at least one batch: an account may
        have more data than fits into memory. Raises AccountGone.
        """
        for table in await self.core.store.read(_tables):
            after: PageCursor | None = None
            while True:
                found = await self.core.store.read(
                    partial(_rows, account_id=account.account_id, table=table, after=after)
                )
                yield table, found.rows
                after = found.end
                if after is None:
                    break

    async def delete(
        self, account: Account, session: Session, password: str
    ) -> Denied | TooSoon | None:
        """Delete all data of the account.

        Its connections end, and its printers may be linked again.
        """
        refused = await self.core.proof.of_owner(account, session, password)
        if refused is not None:
            return refused
        deleted = await self.accounts.delete(account.email)
        if isinstance(deleted, Denied):
            return deleted
        told, at = (
            self.core.account_mailer.mails_to(account).account_deleted(account.email),
            self.core.clock.now(),
        )
        await self.core.store.write(
            lambda records: self.core.account_mailer.tell(records, told, at)
        )
        return None

    async def _export(self, records: Records, account: Account) -> dict[str, Json]:
        at, account_id = self.core.clock.now(), account.account_id
        totp = await records.second_factors.totp(account_id)
        return {
            "ExportedAt": _time(at),
            "Account": _account(account),
            "HasAuthenticatorApp": totp is not None and totp.confirmed_at is not None,
            "RecoveryCodesLeft": await records.second_factors.recovery_codes(account_id),
            "Passkeys": [
                {
                    "Name": passkey.name,
                    "CreatedAt": _time(passkey.created_at),
                    "UsedAt": _time(passkey.used_at),
                }
                for passkey in await records.passkeys.of_account(account_id)
            ],
            "OtherAccounts": [
                _identity(identity) for identity in await records.identities.of_account(account_id)
            ],
            "Sessions": [
                _session(session)
                for session in await records.sessions.of_account(account_id)
                if is_live(session, at)
            ],
            "Payments": [
                _payment(subscription)
                for subscription in await records.payments.subscriptions(account_id)
            ],
            "Printers": [
                await _printer(records, printer.printer_id, printer.name, printer.linked_at)
                for printer in await records.printers.of_account(account_id)
            ],
        }


async def _tables(records: Records) -> Sequence[str]:
    return records.personal.tables()


async def _rows(records: Records, *, account_id: str, table: str, after: PageCursor | None) -> Rows:
    account = await records.accounts.get(account_id)
    if account is None or account.is_blocked:
        raise AccountGone(account_id)
    return await records.personal.rows(account_id, table, after, AT_ONCE)


def _account(account: Account) -> dict[str, Json]:
    return {
        "AccountId": account.account_id,
        "Email": account.email,
        "CreatedAt": _time(account.created_at),
        "VerifiedAt": _time(account.verified_at),
        "IsAdmin": account.is_admin,
        "IsSupporterByGrant": account.supporter_granted,
        "SupporterUntil": _time(account.supporter_until),
        "PaidUntil": _time(account.paid_until),
    }


def _identity(identity: Identity) -> dict[str, Json]:
    return {
        "Issuer": identity.issuer,
        "Subject": identity.subject,
        "Email": identity.email,
        "CreatedAt": _time(identity.created_at),
        "UsedAt": _time(identity.used_at),
    }


def _payment(subscription: Subscription) -> dict[str, Json]:
    return {
        "CustomerId": subscription.customer_id,
        "SubscriptionId": subscription.subscription_id,
        "State": subscription.state.value,
        "BegunAt": _time(subscription.begun_at),
        "PeriodEndsAt": _time(subscription.period_ends_at),
        "EndsAt": _time(subscription.ends_at),
    }


def _session(session: Session) -> dict[str, Json]:
    return {
        "StartedAt": _time(session.started_at),
        "SeenAt": _time(session.seen_at),
        "Address": session.address,
        "Browser": session.browser,
    }


async def _printer(
    records: Records, printer_id: str, name: str, linked_at: datetime
) -> dict[str, Json]:
    return {
        "PrinterId": printer_id,
        "Name": name,
        "LinkedAt": _time(linked_at),
        "Connections": [
            {
                "Kind": connection.kind.value,
                "AppId": connection.app_id,
                "CreatedAt": _time(connection.created_at),
                "UsedAt": _time(connection.used_at),
                "RevokedAt": _time(connection.revoked_at),
                "ExpiresAt": _time(connection.expires_at),
            }
            for connection in await records.connections.of_printer(printer_id)
        ],
    }


def _time(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
