"""Which requests that carry an own- host's cookie may a page of another site have caused?

A browser sends the cookie with requests of foreign pages too: with navigations of any site, and,
since all printer hosts are one site to it, with every fetch of a page of another printer. Browsers
say by their Sec-Fetch fields where a request comes from, and pages can't change these. They are
missing on plain http, and where no browser asks.
Source: W3C, Fetch Metadata Request Headers.
"""

from enum import Enum, auto
from typing import Final

from printreach.http1.heads import Request
from printreach.wire.heads import get

_SAFE_METHODS: Final = frozenset({b"GET", b"HEAD", b"OPTIONS"})
_NOT_FOREIGN: Final = frozenset({None, b"same-origin", b"none"})
"""Sec-Fetch-Site of requests that the host's own pages cause, or a person by hand."""


class CookieUse(Enum):
    """May a request be served by the cookie it carries?"""

    ALLOWED = auto()
    REFUSED = auto()
    NEEDS_CONFIRMATION = auto()
    """A link of another site with a query. Printers act on such (`/rr_gcode?gcode=M112`)."""


def cookie_use(request: Request, origin: str) -> CookieUse:
    """Judge a request that comes with the cookie.

    origin: of the host that it asks. What changes something needs that as its Origin.
    """
    if request.method not in _SAFE_METHODS or request.upgrade is not None:
        is_ours = get(request.headers, b"origin") == origin.encode("latin-1")
        return CookieUse.ALLOWED if is_ours else CookieUse.REFUSED
    if not is_foreign(request):
        return CookieUse.ALLOWED
    if not _is_page_load(request):
        return CookieUse.REFUSED
    has_query = bool(request.target.partition(b"?")[2])
    return CookieUse.NEEDS_CONFIRMATION if has_query else CookieUse.ALLOWED


def is_foreign(request: Request) -> bool:
    """Does a browser say that a page of another host caused this, perhaps by redirects?"""
    return get(request.headers, b"sec-fetch-site") not in _NOT_FOREIGN


def _is_page_load(request: Request) -> bool:
    """A navigation of a whole tab, neither of a frame nor of an object in a page."""
    return (
        request.method == b"GET"
        and get(request.headers, b"sec-fetch-mode") == b"navigate"
        and get(request.headers, b"sec-fetch-dest") == b"document"
    )
