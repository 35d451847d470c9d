"""Which addresses the service may call because a stranger said so.

Only what the whole internet can reach. Everything else could be a machine beside the service, its
cloud's own interfaces, or a printer at somebody's home. IPv6 addresses that carry an IPv4 one
inside are never needed to reach a public host, so none of them is let through.

Source: IANA's registries of special-purpose addresses for IPv4 and IPv6.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final, TypeAlias

IpAddress: TypeAlias = IPv4Address | IPv6Address

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
"""Outside of it lie loopback, mapped and NAT64 addresses, ULA, link-local and multicast."""
_NOT_PUBLIC_V6: Final = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "3fff::/20",  # documentation
    )
)


def read_ip_address(host: str) -> IpAddress | None:
    """The address that a host is, in its one canonical spelling; None for a name.

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


def may_be_called(address: IpAddress, *, allow_private: bool) -> bool:
    """allow_private: the operator lets the service call machines of its own network."""
    if not allow_private:
        return is_public(address)
    return not (address.is_multicast or address.is_unspecified or _is_broadcast(address))


def _is_broadcast(address: IpAddress) -> bool:
    return isinstance(address, IPv4Address) and address == IPv4Address("255.255.255.255")
