"""Keeps secrets between the form that created them and the page that shows them once.

They wait in the store, sealed: with several nodes or processes, the page may come from another one
than the form.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Generic, TypeVar

import msgspec

from printreach.hub.core import Core
from printreach.languages import Sentence
from printreach.ports.notifications import Sealer
from printreach.store.store import Records

T = TypeVar("T")

KEPT_FOR: Final = timedelta(minutes=2)
"""The browser fetches them at once; a later request is told that they are gone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownOnce(Generic[T]):
    """Secrets of one kind. The first look deletes them.

    name: of the kind, in the store. shape: their type, which msgspec can write as JSON.
    """

    core: Core
    sealer: Sealer
    name: str
    shape: Any

    async def put(self, account_id: str, what: str, secrets: T) -> None:
        """Keep them. what: the id of what they open. Raises StoreUnavailable."""
        about, at = self._about(what), self.core.clock.now()
        text = msgspec.json.encode(secrets, enc_hook=_plain).decode()
        sealed = self.sealer.seal(text, f"{account_id}:{about}")

        async def work(records: Records) -> None:
            await records.shown_once.forget_outside(at - KEPT_FOR, at + KEPT_FOR)
            await records.shown_once.put(account_id, about, sealed, at)

        await self.core.store.write(work)

    async def take(self, account_id: str, what: str) -> T | None:
        """Return them, if nobody has taken them. Raises StoreUnavailable."""
        about, at = self._about(what), self.core.clock.now()
        kept = await self.core.store.write(
            lambda records: records.shown_once.take(account_id, about)
        )
        if kept is None or abs(at - kept[1]) >= KEPT_FOR:
            return None
        text = self.sealer.unseal(kept[0], f"{account_id}:{about}")
        if text is None:
            return None
        secrets: T = msgspec.json.decode(text, type=self.shape)
        return secrets

    def _about(self, what: str) -> str:
        return f"{self.name}:{what}"


def _plain(value: object) -> str:
    """Write a sentence in English; the page recognises it and translates it again."""
    if isinstance(value, Sentence):
        return str(value)
    raise NotImplementedError(f"{type(value)} isn't kept")
