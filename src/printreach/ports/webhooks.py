"""The sender of webhooks, and the keys of their signatures."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from printreach.rules.webhooks import Outcome
from printreach.rules.webhooks.messages import SigningKey


class WebhookSender(Protocol):
    """Calls webhooks, and no address of our own network."""

    async def problem_with(self, url: str) -> str | None:
        """Return why that URL cannot be a webhook, as a sentence; its name is looked up."""
        ...

    async def send(self, url: str, headers: Sequence[tuple[str, str]], body: bytes) -> Outcome:
        """Make one attempt. The address is looked up and checked; it never raises."""
        ...


class WebhookKeys(Protocol):
    """The keys that sign messages."""

    def signing(self, at: datetime) -> Sequence[SigningKey]:
        """Return the keys in force, newest first."""
        ...
