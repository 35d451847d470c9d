"""How often something may be tried: so many at once, then one at a time.

What is remembered of a caller is one instant, by the generic cell rate algorithm: the time at
which all tries made so far would have been allowed one by one. Once it is past, nothing is
remembered, so a store of instants stays as small as there are busy callers.
"""

import ipaddress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

IPV6_HOME_PREFIX: Final = 64
"""A home or a server gets at least so large a network; each address in it costs nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """So many tries at once, then one more each `every`. name: tells its instants from others'."""

    name: str
    at_once: int
    every: timedelta


@dataclass(frozen=True, slots=True)
class Allowed:
    """busy_until: what to remember of the caller from now on."""

    busy_until: datetime


@dataclass(frozen=True, slots=True)
class TooSoon:
    """wait: after that long the next try is allowed."""

    wait: timedelta

    @property
    def wait_seconds(self) -> int:
        """Whole seconds for Retry-After: rounded up, at least one."""
        return max(1, -(-self.wait // timedelta(seconds=1)))


def take(limit: Limit, busy_until: datetime | None, at: datetime) -> Allowed | TooSoon:
    """Make one try. busy_until: what is remembered; None or a past instant where nothing is.

    What lies farther ahead than tries can lead to was noted by a clock that was wrong: else whoever
    tried meanwhile would be locked out until the right one gets there.
    """
    if busy_until is None or busy_until > at + limit.every * limit.at_once:
        busy_until = at
    begin = max(at, busy_until)
    wait = begin - at - limit.every * (limit.at_once - 1)
    if wait > timedelta(0):
        return TooSoon(wait)
    return Allowed(begin + limit.every)


def network_of(address: str) -> str:
    """By what callers are told apart: an IPv4 address, or the IPv6 network of one home."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, IPV6_HOME_PREFIX), strict=False))
