"""Where a request really comes from: the connection, or a proxy that the operator trusts."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple

from printreach.wire.heads import Headers, get, strip_hop_by_hop

from .forwarded import hops_of

Network = IPv4Network | IPv6Network


class Origin(NamedTuple):
    """address: of the caller; scheme: by which it came.

    is_proven: False where the address may be that of a proxy, which many callers share.
    """

    address: str
    scheme: str
    is_proven: bool = True


def read_address(text: str) -> IPv4Address | IPv6Address | None:
    """An IPv4 address in either notation, or an IPv6 one; None for what is neither."""
    try:
        parsed = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return (parsed.version == 6 and parsed.ipv4_mapped) or parsed


def is_within(address: str, networks: Sequence[Network]) -> bool:
    """False for what is no address."""
    parsed = read_address(address)
    if parsed is None:
        return False
    return any(parsed in network for network in networks if network.version == parsed.version)


def origin_of(peer: str, headers: Headers, trusted: Sequence[Network], scheme: str) -> Origin:
    """The caller's address and scheme.

    The last hop that isn't itself a trusted proxy counts: everything before it may have been
    written by the caller, and so may everything before one that is no address. X-Forwarded-For
    and -Proto count where they are; a proxy that writes them passes a caller's `Forwarded` on.
    scheme: of the base URL, where no proxy says otherwise.
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
    """The addresses of the hops, the nearest last, and the scheme; "" where none is told."""
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
    """What travels on to the web role: nothing of this hop, nor what it says of the outside."""
    return [field for field in strip_hop_by_hop(headers) if not _is_forwarding_field(field)]


def origin_fields(origin: Origin) -> Headers:
    """What the web role is told beside the address and the scheme."""
    return [] if origin.is_proven else [UNPROVEN]


def _is_forwarding_field(field: tuple[bytes, bytes]) -> bool:
    """Whether a header says something of where a request comes from."""
    lower = field[0].lower()
    return lower in _FORWARDING_FIELDS or lower.startswith(b"x-forwarded-")


UNPROVEN = (b"X-Forwarded-Unproven", b"1")
_FORWARDING_FIELDS = frozenset({b"forwarded", b"x-real-ip"})
