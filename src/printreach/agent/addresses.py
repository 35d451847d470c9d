"""Addresses that a person types, and the agent's own address on the local network.

Those that are typed are parsed strictly: a mistake is an error, not a guess. The agent's own is
found without sending a packet: a connected UDP socket has an address of its own, the one that the
system's routes would send from.
"""

import contextlib
import fcntl
import ipaddress
import re
import socket
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

DEFAULT_PORTS: Final = {"http": 80, "https": 443}

_HOST_NAME: Final = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9_.])?")
_MAX_PORT: Final = 65_535


class BadAddress(ValueError):
    """A bad address. The text is the end of a sentence that begins with its option."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WebAddress:
    """The scheme, host and port of a web server, without a path.

    host: lower case; an IPv6 address is without its brackets.
    """

    scheme: str
    host: str
    port: int

    @property
    def is_tls(self) -> bool:
        """True when the connection is encrypted."""
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """Host and port as a Host header and a URL have them: the scheme's own port is left out."""
        if self.port == DEFAULT_PORTS[self.scheme]:
            return bracketed(self.host)
        return join_host_port(self.host, self.port)

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}"


@dataclass(frozen=True, kw_only=True, slots=True)
class ListenAddress:
    """An address to listen on. host is an address or a name, port 0 means any free one."""

    host: str
    port: int

    def __str__(self) -> str:
        return join_host_port(self.host, self.port)


def bracketed(host: str) -> str:
    """Return the host as a URL has it: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def join_host_port(host: str, port: int) -> str:
    """Host and port as one text."""
    return f"{bracketed(host)}:{port}"


def parse_web_address(text: str) -> WebAddress:
    """Read a full URL of a web server, `https://name[:port]`. Raises BadAddress."""
    parts = split_web_url(text)
    if parts.username is not None or parts.password is not None:
        raise BadAddress("must not carry a user or a password")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise BadAddress("must end behind the host and port, without a path")
    return _web_address(parts)


def parse_web_address_or_host(text: str, default_port: int) -> WebAddress:
    """Read a full URL, or a bare `host[:port]`, which means http. Raises BadAddress.

    default_port: the port of a bare host; a URL without one has its scheme's.
    """
    if "://" in text:
        return parse_web_address(text)
    host = f"[{text}]" if _is_ipv6(text) else text
    address = parse_web_address(f"http://{host}")
    if _has_port(host):
        return address
    return WebAddress(scheme="http", host=address.host, port=default_port)


def split_web_url(text: str) -> SplitResult:
    """Split an http or https URL whose host and port are sound. Raises BadAddress."""
    if any(character <= " " or character == "\x7f" for character in text):
        raise BadAddress("must not contain blanks or control characters")
    try:
        parts = urlsplit(text)
    except ValueError:
        raise BadAddress("is not a URL that can be read") from None
    if parts.scheme not in DEFAULT_PORTS:
        raise BadAddress("must start with http:// or https://")
    _web_address(parts)
    return parts


def parse_listen_address(text: str) -> ListenAddress:
    """Read `HOST:PORT`, `[IPv6]:PORT` included. Raises BadAddress."""
    host, colon, port = text.rpartition(":")
    if not colon or not host:
        raise BadAddress("must be HOST:PORT, as in 0.0.0.0:8765")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
        if not _is_ipv6(host):
            raise BadAddress("has no valid IPv6 address between its brackets")
    elif not _HOST_NAME.fullmatch(host):
        raise BadAddress("must be HOST:PORT, an IPv6 address in brackets")
    # isdecimal alone would take digits of other scripts, which int() takes as well.
    if not (port.isascii() and port.isdecimal()) or int(port) > _MAX_PORT:
        raise BadAddress(f"must have a port from 0 to {_MAX_PORT}")
    return ListenAddress(host=host, port=int(port))


def _web_address(parts: SplitResult) -> WebAddress:
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise BadAddress(f"must have a port from 1 to {_MAX_PORT}")
    host = parts.hostname or ""
    if not (_is_ipv6(host) or _HOST_NAME.fullmatch(host)):
        raise BadAddress("has no valid host name or address")
    return WebAddress(scheme=parts.scheme, host=host, port=port or DEFAULT_PORTS[parts.scheme])


def _has_port(host: str) -> bool:
    return re.search(r":[0-9]+/?$", host) is not None


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


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
    witnesses = [host for host in towards if _ip_address(host) is not None]
    candidates = [ask_route(host) for host in (*witnesses, *_ANYWHERE)]
    candidates += (interface_addresses or _interface_addresses)()
    found = [address for text in candidates if text and (address := _ip_address(text)) is not None]
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


def _ip_address(text: str) -> IpAddress | None:
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
