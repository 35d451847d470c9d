"""Rate limits: a burst of attempts, then one at a time.

One instant is stored for a caller, by the generic cell rate algorithm: the time at which all
attempts so far would have been allowed one by one. Once it is past nothing needs to be stored, so
the store is as small as the number of busy callers. TokenBucket is for limits within one process.
"""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

IPV6_HOME_PREFIX: Final = 64
"""A home or a server gets at least this network; each address in it costs nothing."""
IPV6_SHARES: Final = ((IPV6_HOME_PREFIX, 1), (56, 4), (48, 16))
"""Prefix lengths of IPv6 networks that count, and how many times the budget of a /64 each has."""


MAX_DEBT: Final = 2
"""How many times the attempts at once may be remembered: several nodes that count side by side may
allow more than one would, and their clocks differ."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """A limit: at_once attempts, then one per `every`. name: of the limit in the store."""

    name: str
    at_once: int
    every: timedelta

    @property
    def most(self) -> timedelta:
        """The time that the attempts at once use up."""
        return self.every * self.at_once


@dataclass(frozen=True, slots=True)
class Allowed:
    """The attempt is allowed. busy_until: the caller's new instant to store."""

    busy_until: datetime


@dataclass(frozen=True, slots=True)
class TooSoon:
    """The attempt is refused. wait: until the next one is allowed."""

    wait: timedelta

    @property
    def wait_seconds(self) -> int:
        """Whole seconds for Retry-After: rounded up, at least one."""
        return max(1, -(-self.wait // timedelta(seconds=1)))


def take(limit: Limit, busy_until: datetime | None, at: datetime) -> Allowed | TooSoon:
    """Make one try. busy_until: what is remembered; None or a past instant where nothing is.

    An instant farther ahead than attempts can lead to was stored by a wrong clock and is ignored:
    otherwise the caller would be locked out until the right clock reaches it.
    """
    begin = _begin(busy_until, limit.most, at)
    wait = begin - at - limit.every * (limit.at_once - 1)
    if wait > timedelta(0):
        return TooSoon(wait)
    return Allowed(begin + limit.every)


def spent_elsewhere(
    busy_until: datetime | None, used: timedelta, most: timedelta, at: datetime
) -> datetime:
    """Return the caller's new instant to store, after attempts that another node allowed.

    used: the time that they use up. most: that of all at once.
    """
    return min(_begin(busy_until, most, at) + used, at + most * MAX_DEBT)


def _begin(busy_until: datetime | None, most: timedelta, at: datetime) -> datetime:
    if busy_until is None or not at < busy_until <= at + most * MAX_DEBT:
        return at
    return busy_until


def take_all(
    wanted: Iterable[tuple[Limit, datetime | None]], at: datetime
) -> list[Allowed] | TooSoon:
    """Make one try that counts against several limits, or against none where one refuses it.

    wanted: each limit with what is remembered for it. Refused tries give the longest wait.
    """
    results = [take(limit, busy_until, at) for limit, busy_until in wanted]
    refused = [result for result in results if isinstance(result, TooSoon)]
    if refused:
        return max(refused, key=lambda result: result.wait)
    return [result for result in results if isinstance(result, Allowed)]


@dataclass(frozen=True, slots=True)
class Network:
    """A network of callers. share: its budget as a multiple of one home's."""

    name: str
    share: int

    def scaled(self, limit: Limit) -> Limit:
        """Return the limit of the whole network.

        At once and over time it is larger by the share.
        """
        return replace(limit, at_once=limit.at_once * self.share, every=limit.every / self.share)


def networks_of(address: str) -> tuple[Network, ...]:
    """Return the networks an address counts for, the smallest first.

    IPv4: the address alone. IPv6: its /64, its /56 and its /48. Providers hand out all three to
    one customer, so a limit on the /64 alone would let one customer have 65,536 budgets.
    """
    parsed = _read_address(address)
    if parsed is None:
        return (Network(address[:64], 1),)
    if isinstance(parsed, ipaddress.IPv4Address):
        return (Network(str(parsed), 1),)
    return tuple(
        Network(str(ipaddress.ip_network((parsed, prefix), strict=False)), share)
        for prefix, share in IPV6_SHARES
    )


def widest_network_of(address: str) -> str:
    """Return the largest of these networks, by its name: one customer has few of them."""
    return networks_of(address)[-1].name


def _read_address(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return (isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped) or parsed


class TokenBucket:
    """Holds `most` tokens; one comes back every `every_s` seconds."""

    __slots__ = ("_at", "_every_s", "_left", "_most")

    def __init__(self, most: int, every_s: float, now: float) -> None:
        self._most = most
        self._every_s = every_s
        self._left = float(most)
        self._at = now

    def has(self, now: float, tokens: int) -> bool:
        """Return whether there are that many tokens."""
        self._left = min(self._most, self._left + (now - self._at) / self._every_s)
        self._at = now
        return self._left >= tokens

    def reserve(self, now: float, tokens: int) -> float:
        """Take the tokens even if there are fewer. Return the seconds until they are refilled."""
        self.has(now, 0)
        self._left -= tokens
        return max(0.0, -self._left * self._every_s)

    def give_back(self, tokens: int) -> None:
        """Put back tokens that were taken but not used."""
        self._left = min(self._most, self._left + tokens)
