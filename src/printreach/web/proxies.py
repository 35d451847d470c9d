"""The relay's note about an untrusted proxy in front of the service."""

from typing import Final

from printreach.rules.public_addresses import is_public, parse_ip_address
from printreach.web.problems import AnyRequest
from printreach.web.signed_in import visitor_of

UNPROVEN: Final = "x-forwarded-unproven"
"""The header by which the relay says that the address may be a proxy's, shared by many callers."""


def untrusted_proxy_of(request: AnyRequest) -> str:
    """Return the address of the proxy in a private network that forwarded a request; else empty."""
    address = parse_ip_address(visitor_of(request).address)
    if UNPROVEN not in request.headers or address is None or is_public(address):
        return ""
    return str(address)
