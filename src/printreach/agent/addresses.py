"""Addresses that a person types, parsed strictly: a mistake is an error, not a guess."""

import ipaddress
import re
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
