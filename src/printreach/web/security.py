"""Security headers of every answer, and the check of a request's origin.

Printer hosts are hostile neighbours: a printer's page may be anything, and it shares our site. So
the origin must be exactly ours; the same site is not enough.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from litestar.enums import ScopeType
from litestar.exceptions import PermissionDeniedException
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from printreach.languages import N_
from printreach.rules.addresses import STRICT_TRANSPORT_SECURITY
from printreach.web.routing import RouteMiddleware

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
    "media-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)

# The defaults, unless a route sets others. The referrer stays "same-origin", not "no-referrer":
# under the latter a browser sends `Origin: null` with our own forms, and we would refuse them.
_DEFAULT_HEADERS: Final[Mapping[bytes, bytes]] = MappingProxyType(
    {
        b"content-security-policy": CONTENT_SECURITY_POLICY.encode(),
        b"x-content-type-options": b"nosniff",
        b"x-frame-options": b"DENY",
        b"referrer-policy": b"same-origin",
        b"cross-origin-opener-policy": b"same-origin",
        b"cross-origin-resource-policy": b"same-origin",
        b"permissions-policy": b"camera=(), geolocation=(), microphone=()",
        b"cache-control": b"no-store",
    }
)

SANDBOX: Final[Mapping[str, str]] = MappingProxyType(
    {"Content-Security-Policy": "default-src 'none'; sandbox"}
)
"""The headers of a file or picture that came from a printer: a browser executes nothing in it."""
NO_REFERRER: Final[Mapping[str, str]] = MappingProxyType({"Referrer-Policy": "no-referrer"})
"""The headers of a page whose address is a secret, or whose links contain one."""

FORM: Final[Mapping[str, bool]] = MappingProxyType({"form": True})
"""The options of a route that takes a form: only our own pages may send it, with a cookie or
without.

Even without a cookie it could sign a browser in to an attacker's account.
"""

PUBLIC: Final[Mapping[str, bool]] = MappingProxyType({**FORM, "public": True})
"""The options of a form that may be sent without being signed in.

Every other form is refused before its body is read if nobody is signed in.
"""

KEYED: Final[Mapping[str, bool]] = MappingProxyType({"keyed": True})
"""The options of a route that reads no cookie and identifies its caller by a key.

A page of another site can't know the key, so the origin does not matter.
"""

_SAFE_METHODS: Final = frozenset(["GET", "HEAD", "OPTIONS"])

_DEFAULT_PORTS: Final[Mapping[str, int]] = MappingProxyType({"http": 80, "https": 443})


def hardening(*, requires_https: bool) -> Callable[[Message, Scope], Awaitable[None]]:
    """Return the function that adds the security headers to every answer, errors and files
    included.

    requires_https: whether browsers are told to use https only.
    """
    defaults = dict(_DEFAULT_HEADERS)
    if requires_https:
        defaults[b"strict-transport-security"] = STRICT_TRANSPORT_SECURITY.encode()

    async def harden(message: Message, _scope: Scope) -> None:
        if message["type"] != "http.response.start":
            return
        headers = list(message["headers"])
        present = {name.lower() for name, _ in headers}
        headers += [row for row in defaults.items() if row[0] not in present]
        message["headers"] = headers

    return harden


class OriginCheck(RouteMiddleware):
    """Refuses requests that could act for a person unless our own page sent them.

    These are requests with a cookie other than a plain read, WebSocket handshakes with one, and all
    forms. Requests without a cookie pass: apps authenticate with a token, from any origin or none.
    """

    scopes = (ScopeType.HTTP, ScopeType.WEBSOCKET)

    def __init__(self, base_url: str) -> None:
        self._own_origin = origin_of(base_url).encode()

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        if _acts_for_a_person(scope) and _values(scope, b"origin") != [self._own_origin]:
            raise PermissionDeniedException(
                N_("This request did not come from a page of this service.")
            )
        await next_app(scope, receive, send)


def origin_of(base_url: str) -> str:
    """Return the origin of an address in the form of browsers: lower case, no default port, no
    path.
    """
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    is_default = parts.port is None or parts.port == _DEFAULT_PORTS.get(parts.scheme)
    return f"{parts.scheme}://{host}" + ("" if is_default else f":{parts.port}")


def _acts_for_a_person(scope: Scope) -> bool:
    if scope["route_handler"].opt.get("keyed"):
        return False
    is_read = scope["type"] == ScopeType.HTTP and scope["method"] in _SAFE_METHODS
    return not is_read and (_takes_a_form(scope) or bool(_values(scope, b"cookie")))


def _takes_a_form(scope: Scope) -> bool:
    return bool(scope["route_handler"].opt.get("form"))


def _values(scope: Scope, name: bytes) -> list[bytes]:
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    return [value for key, value in headers if key == name]
