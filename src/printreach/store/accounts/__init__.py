"""Accounts, the identities at OpenID Connect providers that sign in to them, their prices of
filament, their presets, and the limits that operators decided, as rows.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, insert, select, update

from printreach.contract.temperatures import Preset, format_presets, parse_presets
from printreach.rules.accounts import Account, FilamentPrice, email_key
from printreach.rules.accounts.limits import (
    DEFAULT_ACCOUNT_LIMITS,
    NO_CHANGES,
    AccountLimits,
    LimitChanges,
    with_changes,
)
from printreach.rules.accounts.oidc import Identity
from printreach.rules.printers import LinkTries
from printreach.store.accounts.personal import delete_below_connections
from printreach.store.accounts.tables import filament_prices, identities, preset_lists
from printreach.store.columns import TableRecords, columns_for
from printreach.store.tables import account_limits, accounts, notices, service_limits

_ACCOUNT = columns_for(Account, accounts)
_PRICE = columns_for(FilamentPrice, filament_prices)

_OF_ACCOUNT = columns_for(LimitChanges, account_limits)
_OF_SERVICE = columns_for(LimitChanges, service_limits)
_ROW_ID = 1


class AccountRecords(TableRecords):
    """Accounts, identified by `rules.accounts.email_key`."""

    async def add(self, account: Account) -> None:
        await self._connection.execute(
            insert(accounts).values(
                **asdict(account), email_key=email_key(account.email), wrong_link_tries=0
            )
        )

    async def get(self, account_id: str) -> Account | None:
        return await self._where(accounts.c.account_id == account_id)

    async def with_email(self, email: str) -> Account | None:
        return await self._where(accounts.c.email_key == email_key(email))

    async def all(self) -> list[Account]:
        return await self._all(Account, select(*_ACCOUNT).order_by(accounts.c.email_key))

    async def has_operator(self) -> bool:
        """Return whether there is an operator. Until then the service is not set up."""
        an_operator = select(accounts.c.account_id).where(
            accounts.c.is_admin, accounts.c.verified_at.is_not(None)
        )
        return await self._exists(an_operator)

    async def set_supporter(
        self, account_id: str, *, granted: bool, until: datetime | None
    ) -> None:
        await self._update(account_id, supporter_granted=granted, supporter_until=until)

    async def set_paid_until(self, account_id: str, until: datetime | None) -> None:
        await self._update(account_id, paid_until=until)

    async def set_password(self, account_id: str, password_hash: str) -> None:
        await self._update(account_id, password_hash=password_hash)

    async def set_email(self, account_id: str, email: str) -> None:
        await self._update(account_id, email=email, email_key=email_key(email))

    async def set_verified(self, account_id: str, at: datetime) -> None:
        await self._update(account_id, verified_at=at)

    async def set_blocked(self, account_id: str, at: datetime | None) -> None:
        """Set since when it is blocked; None unblocks it."""
        await self._update(account_id, blocked_at=at)

    async def set_locked(self, account_id: str, at: datetime | None) -> None:
        """Set since when remote control is locked; None unlocks it."""
        await self._update(account_id, locked_at=at)

    async def set_language(self, account_id: str, language: str) -> None:
        """Set the language that its owner has chosen; "" for that of the browser."""
        await self._update(account_id, language=language)

    async def set_browser_language(self, account_id: str, language: str) -> None:
        await self._update(account_id, browser_language=language)

    async def forget_unverified(self, made_before: datetime) -> None:
        """Delete unconfirmed accounts, except blocked ones, whose owner could otherwise sign up
        again."""
        await self._connection.execute(
            delete(accounts).where(
                accounts.c.verified_at.is_(None),
                accounts.c.blocked_at.is_(None),
                accounts.c.created_at < made_before,
            )
        )

    async def delete(self, account_id: str) -> None:
        """Delete the account, its printers, and the notices about it.

        Its connections stay without owner; revoke them before. The notice of the deletion comes
        after.
        """
        await self._connection.execute(delete(notices).where(notices.c.key == account_id))
        await delete_below_connections(self._connection, account_id)
        await self._connection.execute(delete(accounts).where(accounts.c.account_id == account_id))

    async def link_tries(self, account_id: str) -> LinkTries:
        found = await self._connection.execute(
            select(
                accounts.c.wrong_link_tries.label("wrong"),
                accounts.c.last_wrong_link_try_at.label("last_wrong_at"),
            ).where(accounts.c.account_id == account_id)
        )
        return LinkTries(**found.mappings().one())

    async def set_link_tries(self, account_id: str, tries: LinkTries) -> None:
        await self._update(
            account_id, wrong_link_tries=tries.wrong, last_wrong_link_try_at=tries.last_wrong_at
        )

    async def _where(self, condition: ColumnElement[bool]) -> Account | None:
        return await self._first(Account, select(*_ACCOUNT).where(condition))

    async def _update(self, account_id: str, **values: Any) -> None:
        await self._connection.execute(
            update(accounts).where(accounts.c.account_id == account_id).values(**values)
        )


_IDENTITY = columns_for(Identity, identities)


class IdentityRecords(TableRecords):
    """The identities at providers that sign in to accounts."""

    async def add(self, identity: Identity) -> None:
        await self._connection.execute(insert(identities).values(**asdict(identity)))

    async def with_subject(self, issuer: str, subject: str) -> Identity | None:
        return await self._first(
            Identity,
            select(*_IDENTITY).where(
                identities.c.issuer == issuer, identities.c.subject == subject
            ),
        )

    async def of_account(self, account_id: str) -> list[Identity]:
        """Return the account's identities, oldest first."""
        return await self._all(
            Identity,
            select(*_IDENTITY)
            .where(identities.c.account_id == account_id)
            .order_by(identities.c.created_at, identities.c.identity_id),
        )

    async def note_use(self, identity_id: str, at: datetime) -> None:
        await self._connection.execute(
            update(identities).where(identities.c.identity_id == identity_id).values(used_at=at)
        )

    async def remove(self, account_id: str, identity_id: str) -> None:
        await self._connection.execute(
            delete(identities).where(
                identities.c.account_id == account_id, identities.c.identity_id == identity_id
            )
        )


class FilamentPriceRecords(TableRecords):
    """The prices of filament that accounts have set."""

    async def of_account(self, account_id: str) -> FilamentPrice | None:
        found = await self._connection.execute(
            select(*_PRICE).where(filament_prices.c.account_id == account_id)
        )
        row = found.mappings().first()
        return None if row is None else FilamentPrice(**row)

    async def put(self, account_id: str, price: FilamentPrice | None) -> None:
        """price: None for none."""
        await self._connection.execute(
            delete(filament_prices).where(filament_prices.c.account_id == account_id)
        )
        if price is not None:
            await self._connection.execute(
                insert(filament_prices).values(
                    account_id=account_id, cents=price.cents, currency=price.currency
                )
            )


class PresetRecords(TableRecords):
    """One list for each account that has changed its presets."""

    async def of_account(self, account_id: str) -> tuple[Preset, ...] | None:
        """Return the presets; None where the account has never changed them."""
        query = select(preset_lists.c.presets).where(preset_lists.c.account_id == account_id)
        row = (await self._connection.execute(query)).first()
        return None if row is None else parse_presets(row.presets)

    async def put(self, account_id: str, presets: Sequence[Preset]) -> None:
        await self._connection.execute(
            delete(preset_lists).where(preset_lists.c.account_id == account_id)
        )
        await self._connection.execute(
            insert(preset_lists).values(account_id=account_id, presets=format_presets(presets))
        )


class LimitRecords(TableRecords):
    """Limits that operators decided."""

    async def of_service(self) -> LimitChanges:
        found = await self._connection.execute(select(*_OF_SERVICE))
        row = found.mappings().first()
        return NO_CHANGES if row is None else LimitChanges(**row)

    async def of_account(self, account_id: str) -> LimitChanges:
        found = await self._connection.execute(
            select(*_OF_ACCOUNT).where(account_limits.c.account_id == account_id)
        )
        row = found.mappings().first()
        return NO_CHANGES if row is None else LimitChanges(**row)

    async def in_force(self, account_id: str) -> AccountLimits:
        """Return the limits in force for that account."""
        for_all = with_changes(DEFAULT_ACCOUNT_LIMITS, await self.of_service())
        return with_changes(for_all, await self.of_account(account_id))

    async def put_of_service(self, changes: LimitChanges) -> None:
        await self._connection.execute(delete(service_limits))
        await self._connection.execute(
            insert(service_limits).values(row_id=_ROW_ID, **asdict(changes))
        )

    async def put_of_account(self, account_id: str, changes: LimitChanges) -> None:
        await self._connection.execute(
            delete(account_limits).where(account_limits.c.account_id == account_id)
        )
        if changes != NO_CHANGES:
            await self._connection.execute(
                insert(account_limits).values(account_id=account_id, **asdict(changes))
            )
