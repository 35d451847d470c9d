"""What the relay says of a proxy in front of the service that it doesn't trust."""

from typing import Final

from printreach.rules.public_addresses import is_public, parse_ip_address
from printreach.web.problems import AnyRequest
from printreach.web.signed_in import visitor_of

UNPROVEN: Final = "x-forwarded-unproven"
"""So the relay says that the address may be that of a proxy, which many callers share."""


def untrusted_proxy_of(request: AnyRequest) -> str:
    """The address of the proxy in a private network that passed a request on; else empty."""
    address = parse_ip_address(visitor_of(request).address)
    if UNPROVEN not in request.headers or address is None or is_public(address):
        return ""
    return str(address)
