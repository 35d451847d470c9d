"""The real origin of a request, from the connection or from a proxy that the operator trusts."""

import logging
import re
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final, NamedTuple

from printreach.rules.public_addresses import is_public
from printreach.wire.heads import Headers, get, strip_hop_by_hop

Network = IPv4Network | IPv6Network

UNKNOWN: Final = "unknown"
"""The address of a caller whom a trusted proxy doesn't name. All of them share one limit."""


class Origin(NamedTuple):
    """The origin of a request. address: of the caller, or UNKNOWN; scheme: of the request.

    is_proven: False if the address may be that of a proxy, which many callers share, or is UNKNOWN.
    """

    address: str
    scheme: str
    is_proven: bool = True


def read_address(text: str) -> IPv4Address | IPv6Address | None:
    """Parse an IPv4 address in either notation, or an IPv6 one; None for other text."""
    try:
        parsed = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return (parsed.version == 6 and parsed.ipv4_mapped) or parsed


def is_within(address: str, networks: Sequence[Network]) -> bool:
    """Return whether an address is in one of the networks; False for other text."""
    parsed = read_address(address)
    if parsed is None:
        return False
    return any(parsed in network for network in networks if network.version == parsed.version)


def origin_of(peer: str, headers: Headers, trusted: Sequence[Network], scheme: str) -> Origin:
    """Return the caller's address and scheme.

    The last hop that isn't itself a trusted proxy counts: the caller may have written the entries
    before it. If that hop has no address that can be read, the caller is UNKNOWN, and so is the one
    of a trusted proxy that passes a request on and names nobody. X-Forwarded-For and -Proto take
    precedence, since a proxy that writes them passes a caller's `Forwarded` on.
    scheme: of the base URL, unless a proxy says otherwise.
    """
    if not is_within(peer, trusted):
        return Origin(peer, scheme, is_proven=not any(map(_is_forwarding_field, headers)))
    if not any(map(is_proxy_field, headers)):
        return Origin(peer, scheme)
    hops, proto = _forwarded_origin(headers)
    address = _nearest_caller(hops, trusted)
    is_proven = address not in (UNKNOWN, str(read_address(peer)))
    return Origin(address, proto if proto in ("http", "https") else scheme, is_proven)


def is_proxy_field(field: tuple[bytes, bytes]) -> bool:
    """Return whether proxies send this header, even ones that aren't trusted; monitors don't."""
    return field[0].lower() == b"via" or _is_forwarding_field(field)


def _nearest_caller(hops: Sequence[str], trusted: Sequence[Network]) -> str:
    """Return the last hop that isn't a trusted proxy, else the first one. hops: nearest last."""
    outside = (hop for hop in reversed(hops) if not is_within(hop, trusted))
    return next(outside, hops[0] if hops else UNKNOWN)


def _forwarded_origin(headers: Headers) -> tuple[list[str], str]:
    """Return the addresses of the hops, the nearest last, and the scheme, or "" for none.

    The address of a hop is UNKNOWN where it is hidden or can't be parsed.
    """
    forwarded_proto = get(headers, b"x-forwarded-proto")
    proto = forwarded_proto.decode("latin-1").lower() if forwarded_proto is not None else ""
    lines = _all(headers, b"x-forwarded-for")
    if lines or forwarded_proto is not None:
        hops = b",".join(lines).decode("latin-1").split(",")
        return [_address_of(_unquoted(hop.strip())) for hop in hops if hop.strip()], proto
    forwarded = hops_of(_all(headers, b"forwarded"))
    return [hop.address for hop in forwarded], forwarded[-1].proto if forwarded else ""


def _all(headers: Headers, name_lower: bytes) -> list[bytes]:
    return [value for name, value in headers if name.lower() == name_lower]


def without_forwarding_fields(headers: Headers) -> Headers:
    """Return the fields for the web role: without hop-by-hop fields and forwarding fields."""
    return [field for field in strip_hop_by_hop(headers) if not _is_forwarding_field(field)]


def origin_fields(origin: Origin) -> Headers:
    """Return the field that tells the web role of an origin that isn't proven."""
    return [] if origin.is_proven else [UNPROVEN]


def _is_forwarding_field(field: tuple[bytes, bytes]) -> bool:
    """Return whether a header makes a statement about the origin of a request."""
    lower = field[0].lower()
    return lower in _FORWARDING_FIELDS or lower.startswith(b"x-forwarded-")


UNPROVEN = (b"X-Forwarded-Unproven", b"1")
_FORWARDING_FIELDS = frozenset({b"forwarded", b"x-real-ip"})


_CLOSED = re.compile(r'(?:[^"]|"(?:[^"\\]|\\.)*+")*+')
"""A line up to an unclosed quote, if there is one. Possessive, since callers write these lines."""
_ELEMENT = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*+")++')
_PAIR = re.compile(r'\s*([A-Za-z]+)=(?:"((?:[^"\\]|\\.)*)"|([^;\s"]*))\s*(?:;|\Z)')
_WITH_PORT = re.compile(r"\[([^\]]*)\](?::\w+)?|([^:]*):\w+")


class Hop(NamedTuple):
    """One proxy's statement. address: UNKNOWN if it is hidden or can't be parsed. proto: or ""."""

    address: str
    proto: str


def hops_of(lines: Iterable[bytes]) -> list[Hop]:
    """Return the hops of all lines, the nearest last. An unclosed quote affects its line only."""
    texts = [line.decode("latin-1") for line in lines]
    return [_hop(part) for text in texts for part in _elements(text) if part.strip()]


def _elements(text: str) -> list[str]:
    """Split a line at its commas. After an unclosed quote, quotes have no meaning."""
    closed = _CLOSED.match(text)
    end = closed.end() if closed else 0
    return [*_ELEMENT.findall(text[:end]), *text[end + 1 :].split(",")]


def _hop(element: str) -> Hop:
    parameters: dict[str, str] = {}
    at = 0
    while at < len(element):
        pair = _PAIR.match(element, at)
        if pair is None or pair[1].lower() in parameters:
            return Hop(UNKNOWN, "")  # part of a hop may contradict the whole one
        quoted = pair[2]
        parameters[pair[1].lower()] = pair[3] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        at = pair.end()
    return Hop(_address_of(parameters.get("for", "")), parameters.get("proto", "").lower())


def _address_of(node: str) -> str:
    """Return the address that is written `ip`, `ip:port`, `[ip]` or `[ip]:port`, else UNKNOWN."""
    bracketed = _WITH_PORT.fullmatch(node)
    parsed = read_address((bracketed[1] or bracketed[2]) if bracketed else node)
    return UNKNOWN if parsed is None else str(parsed)


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


log = logging.getLogger(__name__)

_WRITTEN_BY_PROXIES = frozenset({b"x-forwarded-for", b"forwarded"})


def is_untrusted_proxy(peer: str, headers: Headers, trusted: Sequence[Network]) -> bool:
    """Return whether a proxy of the operator's seems to have sent it, and no proxy is trusted.

    Such a proxy runs on the same machine or in a private network. Forwarding fields from elsewhere
    are ignored, since callers may have invented them.
    """
    address = read_address(peer)
    if trusted or address is None or is_public(address):
        return False
    return any(name.lower() in _WRITTEN_BY_PROXIES for name, _ in headers)


class ProxyWarnings:
    """Logs one line for each of two mistakes, at the first request that shows it: a proxy that is
    not trusted, and a trusted one that names no caller.
    """

    def __init__(self, trusted: Sequence[Network]) -> None:
        self._trusted = trusted
        self._is_untrusted_told = False
        self._is_unknown_told = False

    def look_at(self, peer: str, headers: Headers, origin: Origin) -> None:
        """origin: what origin_of says of the same request."""
        if not self._is_untrusted_told and is_untrusted_proxy(peer, headers, self._trusted):
            self._is_untrusted_told = True
            log.warning(
                "a request came through a proxy at %s that is not trusted, so all callers behind "
                "it share one address and one limit on sign-ins. If it is your own proxy, set "
                "PRINTREACH_TRUSTED_PROXIES to its address and start again.",
                read_address(peer),
            )
        if not self._is_unknown_told and origin.address == UNKNOWN:
            self._is_unknown_told = True
            log.warning(
                "the trusted proxy at %s writes no %s header with an IP address that can be read, "
                "so all callers behind it count as one unknown caller and share one limit on "
                "sign-ins. Have it write the caller's address there.",
                read_address(peer),
                "Forwarded" if _is_standard_alone(headers) else "X-Forwarded-For",
            )


def _is_standard_alone(headers: Headers) -> bool:
    others = (*_all(headers, b"x-forwarded-for"), *_all(headers, b"x-forwarded-proto"))
    return bool(_all(headers, b"forwarded")) and not others
