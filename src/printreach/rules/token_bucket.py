"""A token bucket: bounds a burst, and the rate after it."""


class TokenBucket:
    """Holds `most` tokens; one comes back every `every_s` seconds."""

    __slots__ = ("_at", "_every_s", "_left", "_most")

    def __init__(self, most: int, every_s: float, now: float) -> None:
        self._most = most
        self._every_s = every_s
        self._left = float(most)
        self._at = now

    def has(self, now: float, tokens: int) -> bool:
        self._left = min(self._most, self._left + (now - self._at) / self._every_s)
        self._at = now
        return self._left >= tokens

    def is_full(self, now: float) -> bool:
        return self.has(now, self._most)

    def take(self) -> None:
        """Take one token; ask `has` first."""
        self._left -= 1

    def reserve(self, now: float, tokens: int) -> float:
        """Take the tokens even if there are fewer. Return the seconds until they are refilled."""
        self.has(now, 0)
        self._left -= tokens
        return max(0.0, -self._left * self._every_s)

    def give_back(self, tokens: int) -> None:
        """Put back tokens that were taken but not used."""
        self._left = min(self._most, self._left + tokens)
