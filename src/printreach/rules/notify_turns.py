"""Whose messages are sent next, where there is not room for all.

A place that hangs holds its room for as long as a message may take. So an account with none under
way goes before one with some, and half of the room is for the first place of an account alone: a
few accounts that act together cannot fill it. Places that failed the last time, and mails, which
all go through one server, have room for a few each.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

DESTINATIONS_AT_ONCE: Final = 24
"""Fewer than the messenger has threads: somebody may want to test a place meanwhile."""
KEPT_FOR_FIRSTS: Final = 12
DESTINATIONS_PER_ACCOUNT: Final = 4
FAILING_AT_ONCE: Final = 8
MAILS_AT_ONCE: Final = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """A place that has something to send, or is being sent to."""

    destination_id: str
    account_id: str
    is_failing: bool
    is_mail: bool


def next_turns(under_way: Sequence[Turn], waiting: Sequence[Turn], room: int) -> list[Turn]:
    """Return the destinations that begin now. waiting: longest waiting first.

    under_way: of every worker. room: of this one, what is left of DESTINATIONS_AT_ONCE.
    """
    running = list(under_way)
    busy = Counter(one.account_id for one in running)
    begun: list[Turn] = []
    for nth in range(DESTINATIONS_PER_ACCOUNT):  # everybody's first place, then everybody's second
        kept = KEPT_FOR_FIRSTS if nth else 0
        for one in waiting:
            is_next = busy[one.account_id] == nth and one not in begun
            has_room = room - len(begun) > kept
            if is_next and has_room and _has_room_of_its_kind(running, one):
                busy[one.account_id] += 1
                begun.append(one)
                running.append(one)
    return begun


def barred(under_way: Sequence[Turn], room: int) -> list[str]:
    """Accounts that get no turn now, however long theirs wait."""
    most = DESTINATIONS_PER_ACCOUNT if room > KEPT_FOR_FIRSTS else 1
    busy = Counter(one.account_id for one in under_way)
    return [account_id for account_id, count in busy.items() if count >= most]


def failing_have_room(under_way: Sequence[Turn]) -> bool:
    return _count(under_way, lambda one: one.is_failing) < FAILING_AT_ONCE


def mails_have_room(under_way: Sequence[Turn]) -> bool:
    return _count(under_way, lambda one: one.is_mail) < MAILS_AT_ONCE


def _has_room_of_its_kind(running: Sequence[Turn], one: Turn) -> bool:
    if one.is_failing and not failing_have_room(running):
        return False
    return not one.is_mail or mails_have_room(running)


def _count(running: Sequence[Turn], is_it: Callable[[Turn], bool]) -> int:
    return sum(map(is_it, running))
