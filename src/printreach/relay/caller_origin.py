"""The real origin of a request, from the connection or from a proxy that the operator trusts."""

import logging
import re
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple

from printreach.rules.public_addresses import is_public
from printreach.wire.heads import Headers, get, strip_hop_by_hop

Network = IPv4Network | IPv6Network


class Origin(NamedTuple):
    """The origin of a request. address: of the caller; scheme: of the request.

    is_proven: False if the address may be that of a proxy, which many callers share.
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
    before it, and the entries before one that isn't an address. X-Forwarded-For and -Proto take
    precedence, since a proxy that writes them passes a caller's `Forwarded` on.
    scheme: of the base URL, unless a proxy says otherwise.
    """
    if not trusted or not is_within(peer, trusted):
        return Origin(peer, scheme, is_proven=not any(map(_is_forwarding_field, headers)))
    addresses, proto = _forwarded_origin(headers)
    address = peer
    for hop in reversed(addresses):
        if read_address(hop) is None:
            break
        address = hop
        if not is_within(hop, trusted):
            break
    is_proven = address != peer or not any(map(_is_forwarding_field, headers))
    return Origin(address, proto if proto in ("http", "https") else scheme, is_proven)


def _forwarded_origin(headers: Headers) -> tuple[list[str], str]:
    """Return the addresses of the hops, the nearest last, and the scheme, or "" for none."""
    forwarded_proto = get(headers, b"x-forwarded-proto")
    proto = forwarded_proto.decode("latin-1").lower() if forwarded_proto is not None else ""
    lines = _all(headers, b"x-forwarded-for")
    if lines or forwarded_proto is not None:
        hops = b",".join(lines).decode("latin-1").split(",")
        return [hop.strip() for hop in hops if hop.strip()], proto
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
_NODE = re.compile(r"\[([^\]]*)\](?::\w+)?|([^:]*)(?::\w+)?")


class Hop(NamedTuple):
    """One proxy's statement. address: "" if it is hidden or can't be parsed. proto: may be ""."""

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
            return Hop("", "")  # part of a hop may contradict the whole one
        quoted = pair[2]
        parameters[pair[1].lower()] = pair[3] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        at = pair.end()
    node = _NODE.fullmatch(parameters.get("for", ""))
    return Hop((node[1] or node[2] or "") if node else "", parameters.get("proto", "").lower())


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


class UntrustedProxyWarning:
    """Logs one line, at the first request that such a proxy passes on."""

    def __init__(self, trusted: Sequence[Network]) -> None:
        self._trusted = trusted
        self._is_given = False

    def look_at(self, peer: str, headers: Headers) -> None:
        if self._is_given or not is_untrusted_proxy(peer, headers, self._trusted):
            return
        self._is_given = True
        log.warning(
            "a request came through a proxy at %s that is not trusted, so all callers behind it "
            "share one address and one limit on sign-ins. If it is your own proxy, set "
            "PRINTREACH_TRUSTED_PROXIES to its address and start again.",
            read_address(peer),
        )
