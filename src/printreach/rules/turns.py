"""The order in which items of a queue begin when slots are scarce: accounts take turns.

An item that hangs occupies its slot for as long as it may take, and an account costs nothing. So
each account's first item comes before any account's second, no account takes all slots, and some
slots can be reserved for the first item of an account: a few accounts that collude cannot fill
them all.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar


class OfAccount(Protocol):
    """Something that belongs to an account."""

    @property
    def account_id(self) -> str: ...


T = TypeVar("T", bound=OfAccount)


@dataclass(frozen=True, kw_only=True, slots=True)
class QueuedItem:
    """An item that waits, or is under way. kinds: those whose slots it uses, if any."""

    key: str
    account_id: str
    kinds: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnRule:
    """Limits on the items under way at all workers together.

    of_account: of one account. for_firsts: how many of a worker's slots are reserved for accounts
    without an item under way. of_kind: of each kind.
    """

    of_account: int
    for_firsts: int = 0
    of_kind: Mapping[str, int] = field(default_factory=dict)

    def next_items(
        self, under_way: Sequence[QueuedItem], waiting: Sequence[QueuedItem], free_slots: int
    ) -> list[QueuedItem]:
        """Return the items that begin now. waiting: longest waiting first.

        under_way: of all workers. free_slots: of this worker.
        """
        busy = Counter(item.account_id for item in under_way)
        kinds = _kinds(under_way)
        begun: list[QueuedItem] = []
        for item in by_turns(waiting, busy):
            reserved = self.for_firsts if busy[item.account_id] else 0
            has_slot = free_slots - len(begun) > reserved
            if (
                has_slot
                and busy[item.account_id] < self.of_account
                and all(kinds[kind] < self.of_kind[kind] for kind in item.kinds)
            ):
                busy[item.account_id] += 1
                kinds.update(item.kinds)
                begun.append(item)
        return begun

    def full_accounts(self, under_way: Sequence[QueuedItem], free_slots: int) -> list[str]:
        """Return the accounts that get no further slot now, however long they wait."""
        most = self.of_account if free_slots > self.for_firsts else 1
        busy = Counter(item.account_id for item in under_way)
        return [account_id for account_id, count in busy.items() if count >= most]

    def full_kinds(self, under_way: Sequence[QueuedItem]) -> set[str]:
        """Return the kinds that have no free slot."""
        kinds = _kinds(under_way)
        return {kind for kind, most in self.of_kind.items() if kinds[kind] >= most}


def by_turns(
    waiting: Iterable[T], busy: Mapping[str, int] | None = None, last_turns: Sequence[str] = ()
) -> list[T]:
    """Order items in turns: each account's first, then each account's second, and so on.

    busy: how many items of an account have had their turns. last_turns: accounts in the order of
    their last turns, the latest last; they come after those that had none.
    """
    before = Counter(busy)
    latest = {account_id: number for number, account_id in enumerate(last_turns)}
    placed: list[tuple[tuple[int, int], T]] = []
    for item in waiting:
        place = before[item.account_id], latest.get(item.account_id, -1)
        placed.append((place, item))
        before[item.account_id] += 1
    return [item for _, item in sorted(placed, key=lambda of: of[0])]


def _kinds(turns: Sequence[QueuedItem]) -> Counter[str]:
    return Counter(kind for item in turns for kind in item.kinds)
