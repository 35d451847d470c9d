"""Slots by key: what is under way is counted, and nobody waits."""

from collections import Counter
from collections.abc import Iterable, Mapping


class Slots:
    """Counts what is under way, in all and by key. at_once: of all keys together, None for any."""

    def __init__(self, at_once: int | None = None) -> None:
        self._at_once = at_once
        self._under_way = 0
        self._by_key: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._under_way

    def count(self, key: str) -> int:
        """Return how many of this key are under way."""
        return self._by_key[key]

    def are_free(self, limits: Mapping[str, int]) -> bool:
        """Return whether one more may begin. limits: of each key that it counts for."""
        has_any = self._at_once is None or self._under_way < self._at_once
        return has_any and all(self._by_key[key] < most for key, most in limits.items())

    def take(self, limits: Mapping[str, int]) -> bool:
        """Count one more, for each of these keys; False if it is over a limit."""
        if not self.are_free(limits):
            return False
        self._under_way += 1
        self._by_key.update(limits.keys())
        return True

    def release(self, keys: Iterable[str]) -> None:
        """Uncount one that was taken for these keys."""
        self._under_way -= 1
        for key in keys:
            self._by_key[key] -= 1
            if not self._by_key[key]:
                del self._by_key[key]
