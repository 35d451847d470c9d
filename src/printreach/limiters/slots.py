"""Slots by key: what is under way is counted, and nobody waits."""

from collections import Counter
from collections.abc import Iterable, Mapping

from printreach.limiters.shared_counts import SharedCounts


class Slots:
    """Counts what is under way, in all and by key.

    at_once: of all keys together in this process, None for any. counts: where each key is counted
    together with other nodes, by this name.
    """

    def __init__(
        self, at_once: int | None = None, *, name: str = "", counts: SharedCounts | None = None
    ) -> None:
        self._at_once = at_once
        self._name = name
        self._counts = counts or SharedCounts()
        self._under_way = 0
        self._by_key: Counter[str] = Counter()
        self._most: dict[str, int] = {}

    def __len__(self) -> int:
        return self._under_way

    def count(self, key: str) -> int:
        """Return how many of this key are under way."""
        return self._by_key[key]

    def are_free(self, limits: Mapping[str, int]) -> bool:
        """Return whether one more may begin. limits: of each key that it counts for."""
        has_any = self._at_once is None or self._under_way < self._at_once
        return has_any and all(
            self._by_key[key] + self._counts.held_by_others(f"{self._name} {key}") < most
            for key, most in limits.items()
        )

    def take(self, limits: Mapping[str, int]) -> bool:
        """Count one more, for each of these keys; False if it is over a limit."""
        if not self.are_free(limits):
            return False
        self._under_way += 1
        for key, most in limits.items():
            self._by_key[key] += 1
            self._most[key] = most
            self._tell(key)
        return True

    def release(self, keys: Iterable[str]) -> None:
        """Uncount one that was taken for these keys."""
        self._under_way -= 1
        for key in keys:
            self._by_key[key] -= 1
            self._tell(key)
            if not self._by_key[key]:
                del self._by_key[key], self._most[key]

    def _tell(self, key: str) -> None:
        self._counts.hold(f"{self._name} {key}", self._by_key[key], self._most[key])
