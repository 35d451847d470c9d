"""Whose prints are looked at next, where there is not room for all: turns go by account.

Accounts cost nothing, and one may have hundreds of printers, dead ones too. So everybody's first
print comes before anybody's second, and no account fills the whole room.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

T = TypeVar("T")

LOOKS_AT_ONCE: Final = 40
"""Under way in one process, of prints whose last look went well. Each may hold 8 MB of picture."""
FALTERING_AT_ONCE: Final = 8
"""Of prints whose last look was slow, or came to nothing."""
_SHARE: Final = 0.75
"""Of the room, for one account; the rest is there for whoever comes."""
SCORED_AT_ONCE: Final = 16
"""Half of what may wait for the threads of this process: from there on all are to come less often,
and a farm of one account is no reason for that."""


def room_of(*, falters: bool) -> int:
    """Looks under way at once."""
    return FALTERING_AT_ONCE if falters else LOOKS_AT_ONCE


def share_of(*, falters: bool) -> int:
    """Of these, an account's."""
    return int(room_of(falters=falters) * _SHARE)


def least_room(*, falters: bool) -> int:
    """With less nobody is let in: to see whose turn it is costs as much for one as for some."""
    return room_of(falters=falters) // 8


def by_turns(waiting: Iterable[T], account_of: Callable[[T], str]) -> list[T]:
    """Everybody's first, then everybody's second, and so on; an account's own as they came."""
    before: Counter[str] = Counter()
    placed: list[tuple[int, T]] = []
    for one in waiting:
        account_id = account_of(one)
        placed.append((before[account_id], one))
        before[account_id] += 1
    return [one for _, one in sorted(placed, key=lambda of: of[0])]
