"""Counts that the nodes of a service add up, so that a limit holds for all of them together.

Each node decides at once, by what it counted itself and what it has heard of the others. It says
what it counted as soon as that is a SHARE of the limit, so that ordinary callers cost no message:
each node may go beyond a limit by that share. While nodes hear nothing of each other, each keeps
the limit for itself.

Two kinds of limits are counted. Of how often something may happen, the time is said that attempts
used up (see rules/rate_limits.py); of how much may be under way, how much a node has.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

SHARE: Final = 1 / 8
"""The part of a limit that a node may have used without having said so."""
LEASE_S: Final = 30.0
"""How long what another node has under way counts without being repeated."""
REPEAT_S: Final = 10.0
MAX_KEYS: Final = 50_000
"""Of what is counted, and of what others have said; beyond that the oldest are forgotten."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Attempts against a limit. used_s: the time that they use up. most_s: of all at once."""

    limit: str
    who: str
    used_s: float
    most_s: float


@dataclass(slots=True)
class _Unsaid:
    used_s: float
    since: float


@dataclass(slots=True)
class SharedCounts:
    """The counts of this node, and what it has heard of those of others.

    Nothing is counted for others before `share` was called: most services have one node.
    """

    has_news: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when something is to be said."""
    _on_spent: list[Callable[[Spent], None]] = field(default_factory=list)
    _is_shared: bool = False
    _unsaid: dict[tuple[str, str], _Unsaid] = field(default_factory=dict)
    _spent: dict[tuple[str, str], Spent] = field(default_factory=dict)
    _said: dict[str, int] = field(default_factory=dict)
    _changed: dict[str, int] = field(default_factory=dict)
    _of_others: dict[str, dict[str, tuple[int, float]]] = field(default_factory=dict)

    def share(self) -> None:
        """Count for other nodes from now on."""
        self._is_shared = True

    # --- how often --------------------------------------------------------------------------------

    def on_spent(self, callback: Callable[[Spent], None]) -> None:
        """Call back with the attempts that other nodes have allowed."""
        self._on_spent.append(callback)

    def spend(self, limit: str, who: str, used_s: float, most_s: float) -> None:
        """Count an attempt that this node has allowed."""
        if not self._is_shared:
            return
        now, key = _now(), (limit, who)
        unsaid = self._unsaid.get(key)
        if unsaid is None or now - unsaid.since > most_s:
            # What took longer than a whole limit takes to come back is too little to matter.
            self._unsaid.pop(key, None)
            if len(self._unsaid) >= MAX_KEYS:
                del self._unsaid[next(iter(self._unsaid))]
            unsaid = self._unsaid[key] = _Unsaid(0.0, now)
        unsaid.used_s += used_s
        if unsaid.used_s >= most_s * SHARE:
            del self._unsaid[key]
            earlier_s = self._spent[key].used_s if key in self._spent else 0.0
            self._spent[key] = Spent(limit, who, earlier_s + unsaid.used_s, most_s)
            self.has_news.set()

    # --- how much at once -------------------------------------------------------------------------

    def hold(self, key: str, count: int, most: int) -> None:
        """Note how much this node has under way. most: the limit."""
        if not self._is_shared:
            return
        said = self._changed.get(key, self._said.get(key, 0))
        if abs(count - said) >= max(1, int(most * SHARE)):
            self._changed[key] = count
            self.has_news.set()

    def held_by_others(self, key: str) -> int:
        """Return how much other nodes have under way, as they said last."""
        of_others = self._of_others.get(key)
        if of_others is None:
            return 0
        now = _now()
        return sum(count for count, until in of_others.values() if until > now)

    # --- messages ---------------------------------------------------------------------------------

    def take_news(self) -> tuple[list[Spent], Mapping[str, int]]:
        """Return what other nodes have to hear, once."""
        self.has_news.clear()
        spent, changed = list(self._spent.values()), self._changed
        self._spent, self._changed = {}, {}
        for key, count in changed.items():
            if count:
                self._said[key] = count
            else:
                self._said.pop(key, None)
        return spent, changed

    def repeat(self) -> Mapping[str, int]:
        """Return all that others count on; to be said every REPEAT_S."""
        now = _now()
        for key in [key for key, said in self._of_others.items() if not _living(said, now)]:
            del self._of_others[key]
        return dict(self._said)

    def hear(self, node: str, spent: Iterable[Spent], held: Mapping[str, int]) -> None:
        """Take what another node has said."""
        for one in spent:
            for callback in self._on_spent:
                callback(one)
        until = _now() + LEASE_S
        for key, count in held.items():
            if count:
                if key not in self._of_others and len(self._of_others) >= MAX_KEYS:
                    del self._of_others[next(iter(self._of_others))]
                self._of_others.setdefault(key, {})[node] = count, until
            elif (of_others := self._of_others.get(key)) is not None:
                of_others.pop(node, None)


def _living(said: Mapping[str, tuple[int, float]], now: float) -> bool:
    return any(until > now for _, until in said.values())


def _now() -> float:
    return asyncio.get_running_loop().time()
