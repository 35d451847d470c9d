"""What the store keeps of the tokens of people's own programs."""

from datetime import datetime
from typing import Protocol

from printreach.rules.access_tokens import AccessToken


class AccessTokenRecords(Protocol):
    """Tokens, in one unit of work."""

    async def add(self, token: AccessToken, token_digest: bytes) -> None: ...
    async def with_digest(self, token_digest: bytes) -> AccessToken | None: ...
    async def of_account(self, account_id: str) -> list[AccessToken]:
        """Newest first."""
        ...

    async def note_use(self, token_id: str, at: datetime) -> None: ...
    async def remove(self, account_id: str, token_id: str) -> bool:
        """Whether it was one of that account's."""
        ...
