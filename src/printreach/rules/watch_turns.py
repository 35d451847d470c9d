"""Which prints are looked at next when slots are scarce: accounts take turns.

An account costs nothing, and one may have hundreds of printers, dead ones too. So every account's
first print comes before any account's second, and no account takes all slots.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

T = TypeVar("T")

LOOKS_AT_ONCE: Final = 40
"""Looks under way in one process at prints whose last look went well; each may hold 8 MB."""
DEGRADED_LOOKS_AT_ONCE: Final = 8
"""Looks under way at prints whose last look was slow or failed."""
_SHARE: Final = 0.75
"""The part of the slots that one account may take; the rest is left for others."""
SCORED_AT_ONCE: Final = 16
"""Half of the images that may wait for the threads of this process. Beyond that, all prints are
looked at less often, and a farm of one account must not cause that."""


def slots_of(*, degraded: bool) -> int:
    """Return how many looks may be under way at once."""
    return DEGRADED_LOOKS_AT_ONCE if degraded else LOOKS_AT_ONCE


def slots_per_account_of(*, degraded: bool) -> int:
    """Return how many of these may belong to one account."""
    return int(slots_of(degraded=degraded) * _SHARE)


def min_free_slots(*, degraded: bool) -> int:
    """Return the smallest batch to claim: a claim costs the same for one print as for several."""
    return slots_of(degraded=degraded) // 8


def by_turns(waiting: Iterable[T], account_of: Callable[[T], str]) -> list[T]:
    """Order items in turns: each account's first, then each account's second, and so on."""
    before: Counter[str] = Counter()
    placed: list[tuple[int, T]] = []
    for one in waiting:
        account_id = account_of(one)
        placed.append((before[account_id], one))
        before[account_id] += 1
    return [one for _, one in sorted(placed, key=lambda of: of[0])]
