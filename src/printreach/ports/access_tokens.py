"""The stored access tokens for people's own programs."""

from datetime import datetime
from typing import Protocol

from printreach.rules.access_tokens import AccessToken


class AccessTokenRecords(Protocol):
    """Access tokens, in one unit of work."""

    async def add(self, token: AccessToken, token_digest: bytes) -> None: ...
    async def with_digest(self, token_digest: bytes) -> AccessToken | None: ...
    async def of_account(self, account_id: str) -> list[AccessToken]:
        """Return the account's tokens, newest first."""
        ...

    async def note_use(self, token_id: str, at: datetime) -> None: ...
    async def remove(self, account_id: str, token_id: str) -> bool:
        """Remove a token; return whether the account had it."""
        ...
