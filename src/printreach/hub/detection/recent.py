"""A cache of recently used contexts: a print asks for the same one again and again."""

from dataclasses import dataclass, field
from typing import Final

from printreach.rules.detection.contexts import StoredContext

MAX_REMEMBERED: Final = 2000
"""Prints under way at once; each takes about 3 KB."""


@dataclass(slots=True)
class RecentContexts:
    """May be older than the store, if another process serves the same print, too."""

    most: int = MAX_REMEMBERED
    _kept: dict[str, StoredContext] = field(default_factory=dict)

    def get(self, context_id: str) -> StoredContext | None:
        return self._kept.get(context_id)

    def put(self, kept: StoredContext) -> None:
        """Replace an older version; beyond the bound, evict the one that was put longest ago."""
        known = self._kept.pop(kept.context_id, kept)
        self._kept[kept.context_id] = max(kept, known, key=lambda one: one.version)
        if len(self._kept) > self.most:
            del self._kept[next(iter(self._kept))]

    def forget(self, context_id: str) -> None:
        self._kept.pop(context_id, None)
