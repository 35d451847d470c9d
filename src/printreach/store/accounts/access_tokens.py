"""Access tokens for people's own programs, as rows."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Column,
    ForeignKey,
    Index,
    LargeBinary,
    String,
    Table,
    insert,
    select,
    update,
)
from sqlalchemy import delete as delete_from

from printreach.rules.accounts.access_tokens import AccessToken
from printreach.store.columns import TableRecords, columns_for
from printreach.store.tables import Instant, accounts, metadata

access_tokens = Table(
    "access_tokens",
    metadata,
    Column("token_id", String(64), primary_key=True),
    Column("account_id", ForeignKey(accounts.c.account_id, ondelete="CASCADE"), nullable=False),
    Column("token_digest", LargeBinary(32), nullable=False, unique=True),
    Column("name", String(60), nullable=False),
    Column("scopes", JSON, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("used_at", Instant),
    Index("ix_access_tokens_account_id", "account_id"),
)
_TOKEN = columns_for(AccessToken, access_tokens)


class AccessTokenRecords(TableRecords):
    """Access tokens, in one unit of work."""

    async def add(self, token: AccessToken, token_digest: bytes) -> None:
        values = {column.name: getattr(token, column.name) for column in _TOKEN}
        await self._connection.execute(
            insert(access_tokens).values(
                {**values, "scopes": sorted(token.scopes), "token_digest": token_digest}
            )
        )

    async def with_digest(self, token_digest: bytes) -> AccessToken | None:
        return await self._first(
            _token, select(*_TOKEN).where(access_tokens.c.token_digest == token_digest)
        )

    async def of_account(self, account_id: str) -> list[AccessToken]:
        """Return the account's tokens, newest first."""
        return await self._all(
            _token,
            select(*_TOKEN)
            .where(access_tokens.c.account_id == account_id)
            .order_by(access_tokens.c.created_at.desc(), access_tokens.c.token_id),
        )

    async def note_use(self, token_id: str, at: datetime) -> None:
        await self._connection.execute(
            update(access_tokens).where(access_tokens.c.token_id == token_id).values(used_at=at)
        )

    async def remove(self, account_id: str, token_id: str) -> bool:
        """Remove a token; return whether the account had it."""
        return (
            await self._changed(
                delete_from(access_tokens).where(
                    access_tokens.c.token_id == token_id, access_tokens.c.account_id == account_id
                )
            )
            > 0
        )


def _token(*, scopes: list[str], **row: Any) -> AccessToken:
    return AccessToken(**row, scopes=frozenset(scopes))
