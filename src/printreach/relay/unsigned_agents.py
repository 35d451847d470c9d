"""Limits on agents' connections that have not signed in yet: of one network, and of all."""

from collections import Counter
from ipaddress import ip_address
from typing import Final, Protocol

from printreach.rules.rate_limits import Network, networks_of
from printreach.tunnel.link import Link

from .caller_origin import Origin

MAX_OF_NETWORK: Final = 20
MAX_UNSIGNED: Final = 500
"""The limit of a node. Sign-in takes three messages, and a refused agent soon tries again."""


class UnsignedLink(Link, Protocol):
    """A link that limits the other end's messages until trust() is called."""

    def trust(self) -> None: ...


class UnsignedSlot:
    """The slot of one connection that has not signed in. Leaving twice does no harm."""

    __slots__ = ("_networks", "_unsigned")

    def __init__(self, unsigned: "UnsignedAgents", networks: tuple[Network, ...]) -> None:
        self._unsigned: UnsignedAgents | None = unsigned
        self._networks = networks

    def leave(self) -> None:
        """Release the slot: the agent has signed in, or is gone."""
        unsigned, self._unsigned = self._unsigned, None
        if unsigned is not None:
            unsigned.left(self._networks)


class UnsignedAgents:
    """Counts agents that have not signed in by network, and all together."""

    def __init__(self) -> None:
        self._count = 0
        self._by_network: Counter[str] = Counter()

    def take(self, origin: Origin) -> UnsignedSlot | None:
        """A place for a connection from there; None where too many have not signed in."""
        networks = _networks_of(origin)
        if self._count >= MAX_UNSIGNED or any(map(self._is_full, networks)):
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
        return self._by_network[network.name] >= MAX_OF_NETWORK * network.share


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
