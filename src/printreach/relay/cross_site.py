"""Cross-site checks: whether a page of another site may have caused a request with our cookie.

A browser sends the cookie with requests of foreign pages too: with navigations of any site, and,
since all printer hosts are one site to it, with every fetch of a page of another printer. Browsers
say by their Sec-Fetch fields where a request comes from, and pages can't change these. They are
missing on plain http; there Origin and Referer say it, which a page can leave out but not invent.
Sources: W3C, Fetch Metadata Request Headers; RFC 9110, section 10.1.3 (Referer).
"""

from enum import Enum, auto
from typing import Final

from printreach.http1.heads import Request
from printreach.wire.heads import get

_SAFE_METHODS: Final = frozenset({b"GET", b"HEAD", b"OPTIONS"})
_NOT_FOREIGN: Final = frozenset({b"same-origin", b"none"})
"""Sec-Fetch-Site of requests by the host's own pages, or by a person who typed the address."""


class Site(Enum):
    """The site that caused a request, as far as the browser says."""

    OWN = auto()
    """A page of the same origin, port included, or a person who typed the address."""
    FOREIGN = auto()
    UNKNOWN = auto()


class CookieUse(Enum):
    """Return whether a request may be served by the cookie that it carries."""

    ALLOWED = auto()
    REFUSED = auto()
    NEEDS_CONFIRMATION = auto()
    """A link of another site with a query. Printers act on some (`/rr_gcode?gcode=M112`)."""


def cookie_use(request: Request, origin: str, *, is_guessable: bool) -> CookieUse:
    """Decide about a request that comes with the cookie.

    origin: of the requested host. A request that changes something must have it as its Origin.
    is_guessable: other people can know the address, such as a port; then a request of unknown
    origin counts as foreign. It must be False for pages that send no Referer, which on plain http
    look like those of other sites.
    """
    if request.method not in _SAFE_METHODS or request.upgrade is not None:
        is_ours = get(request.headers, b"origin") == origin.encode("latin-1")
        return CookieUse.ALLOWED if is_ours else CookieUse.REFUSED
    site = site_of(request, origin)
    if site is Site.OWN or (site is Site.UNKNOWN and not is_guessable):
        return CookieUse.ALLOWED
    if not _is_page_load(request):
        return CookieUse.REFUSED
    has_query = bool(request.target.partition(b"?")[2])
    return CookieUse.NEEDS_CONFIRMATION if has_query else CookieUse.ALLOWED


def is_made_by_another_site(request: Request, origin: str) -> bool:
    """True if a page of another site fetched it, unlike a link there that a person followed.

    That is a picture, a frame or a script's request, which the person doesn't notice.
    """
    return site_of(request, origin) is Site.FOREIGN and not _is_page_load(request)


def site_of(request: Request, origin: str) -> Site:
    """Return the site that caused the request, also by redirects. origin: of the requested host."""
    fetch_site = get(request.headers, b"sec-fetch-site")
    if fetch_site is not None:
        return Site.OWN if fetch_site in _NOT_FOREIGN else Site.FOREIGN
    ours = origin.encode("latin-1")
    for name in (b"origin", b"referer"):
        source = get(request.headers, name)
        if source:
            is_ours = source == ours or source.startswith(ours + b"/")
            return Site.OWN if is_ours else Site.FOREIGN
    return Site.UNKNOWN


def _is_page_load(request: Request) -> bool:
    """True for a navigation of a whole tab, neither of a frame nor of an object in a page.

    Without Sec-Fetch fields frames can't be told apart; X-Frame-Options keeps these from showing.
    """
    if request.method != b"GET":
        return False
    mode = get(request.headers, b"sec-fetch-mode")
    if mode is None:  # pages can't set the next field without being asked for a preflight first
        return get(request.headers, b"upgrade-insecure-requests") == b"1"
    return mode == b"navigate" and get(request.headers, b"sec-fetch-dest") == b"document"
