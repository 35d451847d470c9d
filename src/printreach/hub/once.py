"""Keeps secrets between the form that created them and the page that shows them once."""

from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar

from printreach.ports import Clock

T = TypeVar("T")

KEPT_FOR: Final = timedelta(minutes=2)
"""The browser fetches them at once; a later request is told that they are gone."""
MAX_KEPT: Final = 1000


@dataclass(slots=True)
class ShownOnce(Generic[T]):
    """Kept in memory alone: a restart forgets them, and so does the first look."""

    clock: Clock
    _kept: OrderedDict[tuple[str, str], tuple[datetime, T]] = field(
        default_factory=OrderedDict, repr=False
    )

    def put(self, account_id: str, what: str, secrets: T) -> None:
        """what: the id of what they open."""
        self._forget_old()
        self._kept[account_id, what] = self.clock.now(), secrets

    def take(self, account_id: str, what: str) -> T | None:
        self._forget_old()
        kept = self._kept.pop((account_id, what), None)
        return None if kept is None else kept[1]

    def _forget_old(self) -> None:
        at = self.clock.now()
        while self._kept:
            since, _ = next(iter(self._kept.values()))
            if abs(at - since) < KEPT_FOR and len(self._kept) < MAX_KEPT:
                return
            self._kept.popitem(last=False)
