"""Bounds how many images of API callers are scored at once, so that the watch gets its turn.

The scorer has one queue for all. Images that are hard to decode and then fail are counted nowhere
else: they are not charged, and no context has to wait after them.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from printreach.ports.scoring import ScorerBusy

MAX_AT_ONCE: Final = 24
"""Of the 32 images that may wait for the threads of this process."""
MAX_OF_ACCOUNT: Final = 8


class ScoringSlots:
    """Counts the images that are being scored in one process."""

    def __init__(self) -> None:
        self._of_account: Counter[str] = Counter()

    @contextmanager
    def slot(self, account_id: str) -> Iterator[None]:
        """Hold a slot for one image while the context is open. Raises ScorerBusy."""
        if self._of_account[account_id] >= MAX_OF_ACCOUNT:
            raise ScorerBusy(f"{MAX_OF_ACCOUNT} images of this account are looked at already")
        if self._of_account.total() >= MAX_AT_ONCE:
            raise ScorerBusy("too many images wait already")
        self._of_account[account_id] += 1
        try:
            yield
        finally:
            self._of_account[account_id] -= 1
            if not self._of_account[account_id]:
                del self._of_account[account_id]
