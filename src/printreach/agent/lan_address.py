"""The agent's own address on the local network, found without sending a packet.

A connected UDP socket has an address of its own, the one the system's routes would send from.
"""

import contextlib
import fcntl
import ipaddress
import socket
import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Final

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# Addresses of documentation networks: nobody is there, and the default route leads there.
_ANYWHERE: Final = ("192.0.2.1", "2001:db8::1")
# Any port does, since nothing is sent; this one is discard.
_PORT: Final = 9
# Linux: ask an interface for its IPv4 address.
_SIOCGIFADDR: Final = 0x8915
# Bridges and tunnels that containers and VPNs make; nobody on the LAN is behind them.
_VIRTUAL: Final = ("br-", "docker", "tailscale", "tap", "tun", "veth", "virbr", "wg", "zt")
_PRIVATE_V4: Final = tuple(
    map(ipaddress.IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
)


def find_lan_address(
    towards: Iterable[str],
    *,
    source_towards: Callable[[str], str | None] | None = None,
    interface_addresses: Callable[[], Iterable[str]] | None = None,
) -> str | None:
    """Return the agent's address, preferably a private IPv4 one; loopback only for want of another.

    towards: hosts to look at it from, the best witness first: the printer, then the service.
        Names are passed over, since resolving them may take seconds.
    source_towards, interface_addresses: how the system is asked; tests put their own here.
    """
    ask_route = source_towards or _source_towards
    witnesses = [host for host in towards if _parse(host) is not None]
    candidates = [ask_route(host) for host in (*witnesses, *_ANYWHERE)]
    candidates += (interface_addresses or _interface_addresses)()
    found = [address for text in candidates if text and (address := _parse(text)) is not None]
    return str(min(found, key=_rank, default="")) or None


def _rank(address: IpAddress) -> int:
    """Smaller is better; of equals the first found wins."""
    if address.is_loopback or address.is_unspecified:
        return 4
    if address.is_link_local:
        return 3
    if isinstance(address, ipaddress.IPv4Address):
        return 0 if any(address in network for network in _PRIVATE_V4) else 1
    return 2


def _parse(text: str) -> IpAddress | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _source_towards(host: str) -> str | None:
    """Return the address packets to a host would carry, or None when no route leads there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((host, _PORT))
            return str(probe.getsockname()[0])
    except OSError:
        return None


def _interface_addresses() -> Iterator[str]:
    """Return the IPv4 addresses of the machine's own interfaces, without containers' and VPNs'."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            if name.startswith(_VIRTUAL):
                continue
            # An interface without an address, or a system that is asked in another way.
            with contextlib.suppress(OSError):
                answer = fcntl.ioctl(probe, _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
                yield socket.inet_ntoa(answer[20:24])
