"""Which destinations are sent to next, where slots are scarce.

A destination that hangs occupies its slot for as long as a message may take. So an account without
a message under way comes before others, and half of the slots are reserved for the first
destination of an account: a few accounts that collude cannot fill them all. Destinations that
failed the last time, and mails, which all go through one server, have a few slots each.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

DESTINATIONS_AT_ONCE: Final = 24
"""Fewer than the messenger has threads, so that a destination can be tested meanwhile."""
SLOTS_FOR_FIRSTS: Final = 12
DESTINATIONS_PER_ACCOUNT: Final = 4
FAILING_AT_ONCE: Final = 8
MAILS_AT_ONCE: Final = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class QueuedDestination:
    """A destination with messages that wait or are being sent."""

    destination_id: str
    account_id: str
    is_failing: bool
    is_mail: bool


def next_destinations(
    under_way: Sequence[QueuedDestination], waiting: Sequence[QueuedDestination], free_slots: int
) -> list[QueuedDestination]:
    """Return the destinations that begin now. waiting: longest waiting first.

    under_way: of all workers. free_slots: of this worker, out of DESTINATIONS_AT_ONCE.
    """
    running = list(under_way)
    busy = Counter(one.account_id for one in running)
    started: list[QueuedDestination] = []
    for nth in range(
        DESTINATIONS_PER_ACCOUNT
    ):  # each account's first destination, then each one's second
        reserved = SLOTS_FOR_FIRSTS if nth else 0
        for one in waiting:
            is_next = busy[one.account_id] == nth and one not in started
            has_slot = free_slots - len(started) > reserved
            if is_next and has_slot and _has_slot_of_its_kind(running, one):
                busy[one.account_id] += 1
                started.append(one)
                running.append(one)
    return started


def accounts_at_limit(under_way: Sequence[QueuedDestination], free_slots: int) -> list[str]:
    """Return the accounts that get no further slot now, however long they wait."""
    most = DESTINATIONS_PER_ACCOUNT if free_slots > SLOTS_FOR_FIRSTS else 1
    busy = Counter(one.account_id for one in under_way)
    return [account_id for account_id, count in busy.items() if count >= most]


def has_failing_slot(under_way: Sequence[QueuedDestination]) -> bool:
    return _count(under_way, lambda one: one.is_failing) < FAILING_AT_ONCE


def has_mail_slot(under_way: Sequence[QueuedDestination]) -> bool:
    return _count(under_way, lambda one: one.is_mail) < MAILS_AT_ONCE


def _has_slot_of_its_kind(running: Sequence[QueuedDestination], one: QueuedDestination) -> bool:
    if one.is_failing and not has_failing_slot(running):
        return False
    return not one.is_mail or has_mail_slot(running)


def _count(
    running: Sequence[QueuedDestination], predicate: Callable[[QueuedDestination], bool]
) -> int:
    return sum(map(predicate, running))
