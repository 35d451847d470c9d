"""Agents' connections that have not signed in yet: how many there may be, and of one network."""

from collections import Counter
from ipaddress import ip_address
from typing import Final, Protocol

from printreach.rules.rate_limits import Network, networks_of
from printreach.tunnel.link import Link

from .caller_origin import Origin

MOST_OF_NETWORK: Final = 20
MOST: Final = 500
"""Of a node. Signing in takes three messages, and whoever is refused comes again in a moment."""


class UnsignedLink(Link, Protocol):
    """A link that takes little from the other end until that is known."""

    def trust(self) -> None: ...


class UnsignedSlot:
    """One connection among those that have not signed in. Leaving twice does no harm."""

    __slots__ = ("_networks", "_unsigned")

    def __init__(self, unsigned: "UnsignedAgents", networks: tuple[Network, ...]) -> None:
        self._unsigned: UnsignedAgents | None = unsigned
        self._networks = networks

    def leave(self) -> None:
        """It has signed in, or is gone."""
        unsigned, self._unsigned = self._unsigned, None
        if unsigned is not None:
            unsigned.left(self._networks)


class UnsignedAgents:
    """Counts them by network, and all together."""

    def __init__(self) -> None:
        self._count = 0
        self._by_network: Counter[str] = Counter()

    def take(self, origin: Origin) -> UnsignedSlot | None:
        """A place for a connection from there; None where too many have not signed in."""
        networks = _networks_of(origin)
        if self._count >= MOST or any(map(self._is_full, networks)):
            return None
        self._count += 1
        self._by_network.update(network.name for network in networks)
        return UnsignedSlot(self, networks)

    def left(self, networks: tuple[Network, ...]) -> None:
        self._count -= 1
        for network in networks:
            self._by_network[network.name] -= 1
            if not self._by_network[network.name]:
                del self._by_network[network.name]

    def __len__(self) -> int:
        return self._count

    def _is_full(self, network: Network) -> bool:
        return self._by_network[network.name] >= MOST_OF_NETWORK * network.share


def _networks_of(origin: Origin) -> tuple[Network, ...]:
    """None for what may be many: callers of a proxy that isn't trusted, and of this machine."""
    return (
        () if not origin.is_proven or _is_loopback(origin.address) else networks_of(origin.address)
    )


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return True  # a unix socket
