"""Hashes of passwords."""

from typing import Protocol


class Passwords(Protocol):
    """Slow hashes of passwords; each call takes a tenth of a second.

    network: the caller's. Networks take turns, so that one with many callers does not make the
    others wait. Each call raises limiters.fair_semaphore.TooBusy if too many wait.
    """

    async def hash(self, password: str, network: str) -> str:
        """Return what to store, including salt and parameters."""
        ...

    async def matches(self, password: str, password_hash: str, network: str) -> bool:
        """Return whether this is the password that was hashed.

        password_hash: empty if there is none; that takes as long, and is False.
        """
        ...

    def is_common(self, password: str) -> bool:
        """Return whether it is one of the most common passwords. password: in lower case."""
        ...
