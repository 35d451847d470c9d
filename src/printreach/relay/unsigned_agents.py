"""Limits on agents that nobody has linked: their connections before sign-in, and their link codes.

Each limit is one of a network, and one of all networks together.
"""

from collections.abc import Mapping
from datetime import timedelta
from ipaddress import ip_address
from typing import Final, Protocol

from printreach.limiters.slots import Slots
from printreach.ports.relaying import Tries
from printreach.rules.rate_limits import Limit, Network, networks_of
from printreach.tunnel.link import Link

from .caller_origin import Origin, read_address

MAX_OF_NETWORK: Final = 20
MAX_UNSIGNED: Final = 500
"""The limit of a node. Sign-in takes three messages, and a refused agent soon tries again."""

LINK_CODES_BY_NETWORK: Final = Limit(name="link-offer", at_once=64, every=timedelta(seconds=10))
"""Each code is a row in the store. At once: a farm behind one address, freshly set up, all of whose
agents show a code. A code is renewed after 10 minutes, so the farm is supplied for ever."""
LINK_CODES: Final = Limit(name="link-offers", at_once=2000, every=timedelta(seconds=0.1))


class UnsignedLink(Link, Protocol):
    """A link that limits the other end's messages until trust() is called."""

    def trust(self) -> None: ...


class UnsignedSlot:
    """The slot of one connection that has not signed in. Leaving twice does no harm."""

    __slots__ = ("_limits", "_slots")

    def __init__(self, slots: Slots, limits: Mapping[str, int]) -> None:
        self._slots: Slots | None = slots
        self._limits = limits

    def leave(self) -> None:
        """Release the slot: the agent has signed in, or is gone."""
        slots, self._slots = self._slots, None
        if slots is not None:
            slots.release(self._limits)


class UnsignedAgents:
    """Counts agents that have not signed in by network, and all together."""

    def __init__(self) -> None:
        self._slots = Slots(MAX_UNSIGNED)

    def take(self, origin: Origin) -> UnsignedSlot | None:
        """Return a slot for a connection from there; None if too many have not signed in."""
        limits = {network.name: MAX_OF_NETWORK * network.share for network in _networks_of(origin)}
        return UnsignedSlot(self._slots, limits) if self._slots.take(limits) else None

    def __len__(self) -> int:
        return len(self._slots)


def _networks_of(origin: Origin) -> tuple[Network, ...]:
    """Return no network for an address that many agents may share: that of a proxy that isn't
    trusted, or of this machine."""
    return (
        () if not origin.is_proven or _is_loopback(origin.address) else networks_of(origin.address)
    )


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return True  # a unix socket


def may_get_link_code(tries: Tries, address: str) -> bool:
    """Count another code for an agent at that address; False if it is over a limit.

    All texts that aren't addresses count as one.
    """
    known = address if read_address(address) else ""
    return not tries.take_by_address(LINK_CODES_BY_NETWORK, known, of_all=LINK_CODES)
