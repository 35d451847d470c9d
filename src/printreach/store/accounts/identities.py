"""People at OpenID Connect providers, as rows."""

from dataclasses import asdict
from datetime import datetime

from sqlalchemy import delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from printreach.rules.accounts.oidc import Identity
from printreach.store.accounts.tables import identities
from printreach.store.columns import columns_for

_IDENTITY = columns_for(Identity, identities)


class IdentityRecords:
    """The identities at providers that sign in to accounts."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def add(self, identity: Identity) -> None:
        await self._connection.execute(insert(identities).values(**asdict(identity)))

    async def with_subject(self, issuer: str, subject: str) -> Identity | None:
        found = await self._connection.execute(
            select(*_IDENTITY).where(identities.c.issuer == issuer, identities.c.subject == subject)
        )
        row = found.mappings().first()
        return None if row is None else Identity(**row)

    async def of_account(self, account_id: str) -> list[Identity]:
        """Return the account's identities, oldest first."""
        found = await self._connection.execute(
            select(*_IDENTITY)
            .where(identities.c.account_id == account_id)
            .order_by(identities.c.created_at, identities.c.identity_id)
        )
        return [Identity(**row) for row in found.mappings()]

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
