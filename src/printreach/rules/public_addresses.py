"""Public addresses: those that the service may call at a stranger's request.

Only those that the whole internet can reach. Everything else could be a machine beside the service,
its cloud's own interfaces, or a printer at somebody's home. IPv6 addresses that carry an IPv4 one
inside are never needed to reach a public host, so none of them is let through.

Source: IANA's registries of special-purpose addresses for IPv4 and IPv6.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

IpAddress: TypeAlias = IPv4Address | IPv6Address
IpNetwork: TypeAlias = IPv4Network | IPv6Network

_NOT_PUBLIC_V4: Final = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by a provider's customers (CGNAT)
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure's own interface, from inside
        "169.254.0.0/16",  # link-local, clouds' own interfaces
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
"""Loopback, mapped and NAT64 addresses, ULA, link-local and multicast are outside of it."""
_NOT_PUBLIC_V6: Final = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "3fff::/20",  # documentation
    )
)


PRIVATE_NETWORKS: Final[tuple[IpNetwork, ...]] = tuple(
    ip_network(network)
    for network in (
        *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),  # RFC 1918
        "100.64.0.0/10",  # RFC 6598, which overlay networks such as Tailscale's use, too
        "fc00::/7",  # unique local
        *("127.0.0.0/8", "::1/128"),  # loopback
    )
)
"""The networks of an operator who allows private networks without naming any."""
_NEVER_CALLED: Final[tuple[IpNetwork, ...]] = tuple(
    ip_network(network)
    for network in (
        *("169.254.0.0/16", "fe80::/10"),  # link-local: metadata of AWS, Google Cloud, Azure, ...
        "168.63.129.16/32",  # Azure's own interface
        "100.100.100.200/32",  # metadata of Alibaba Cloud
        *("fd00:ec2::254/128", "fd20:ce::254/128"),  # metadata of AWS and of Google Cloud
        *("0.0.0.0/8", "::/128"),  # unspecified, which reaches this machine
        *("224.0.0.0/4", "ff00::/8", "240.0.0.0/4"),  # multicast, reserved, broadcast
    )
)
"""Refused whatever an operator allows: the metadata service gives out the machine's keys."""


def parse_ip_address(host: str) -> IpAddress | None:
    """Return the address that a host is, in its one canonical spelling; None for a name.

    host: without brackets. IPv4 is four decimal numbers; IPv6 has no zone.
    """
    try:
        address = ip_address(host)
    except ValueError:
        return None
    return None if isinstance(address, IPv6Address) and address.scope_id else address


def is_public(address: IpAddress) -> bool:
    """True where the whole internet may reach it."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_V4)
    if address.scope_id or address not in _GLOBAL_UNICAST:
        return False
    return not any(address in network for network in _NOT_PUBLIC_V6)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reach:
    """The addresses that the service may call beside public ones, as its operator decided.

    networks: private ones; none where only public addresses are called. own_ports: those this
    service listens on, refused on its own machine, where it trusts callers more than elsewhere.
    backend_ports: those of its mail server, broker, object store and detector nodes, refused in all
    of these networks.
    """

    networks: tuple[IpNetwork, ...] = ()
    own_ports: frozenset[int] = frozenset()
    backend_ports: frozenset[int] = frozenset()

    @property
    def allows_plain_http(self) -> bool:
        return bool(self.networks)

    def allows(
        self, address: IpAddress, port: int, *, is_plain: bool = False, is_own: bool = False
    ) -> bool:
        """Whether a port of that address may be called.

        is_plain: without TLS, which is for these networks alone. is_own: it is one of this
        machine's.
        """
        if is_public(address):
            return not is_plain
        if _is_in(address, _NEVER_CALLED) or not _is_in(address, self.networks):
            return False
        is_here = is_own or address.is_loopback
        return port not in self.backend_ports and not (is_here and port in self.own_ports)


PUBLIC_ONLY: Final = Reach()


def _is_in(address: IpAddress, networks: Iterable[IpNetwork]) -> bool:
    if isinstance(address, IPv6Address) and address.scope_id:
        address = IPv6Address(int(address))
    return any(network.version == address.version and address in network for network in networks)
