"""A warning in the log of a proxy in front of the service that the settings don't name.

Without PRINTREACH_TRUSTED_PROXIES all callers behind such a proxy have its address. They share one
limit on sign-ins, so any of them can keep all others out.
"""

import logging
from collections.abc import Sequence

from printreach.rules.public_addresses import is_public
from printreach.wire.heads import Headers

from .caller_origin import Network, read_address

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
