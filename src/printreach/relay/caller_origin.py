"""The real origin of a request, from the connection or from a proxy that the operator trusts."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple

from printreach.wire.heads import Headers, get, strip_hop_by_hop

from .forwarded import hops_of

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
    said = get(headers, b"x-forwarded-proto")
    proto = said.decode("latin-1").lower() if said is not None else ""
    lines = _all(headers, b"x-forwarded-for")
    if lines or said is not None:
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
