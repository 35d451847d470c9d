"""The arguments of ASGI applications: the types of the specification, and a request's scope."""

import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import unquote_to_bytes

from printreach.http1.heads import Request
from printreach.http1.tracing import Span
from printreach.wire.heads import Headers, get, strip_hop_by_hop

from .answering import BrokenAnswer
from .caller_origin import Origin, origin_fields, without_forwarding_fields

# As in the ASGI specification; the keys of a message depend on its type.
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_ASGI = {"version": "3.0", "spec_version": "2.3"}
_FORBIDDEN = re.compile(rb"[\r\n\0]")


def scope_of(request: Request, origin: Origin) -> Scope:
    """Return the scope of a request, or of a WebSocket if the request is a handshake."""
    path, _, query = request.target.partition(b"?")
    decoded = unquote_to_bytes(path) if b"%" in path else path
    scope: Scope = {
        "type": "http",
        "asgi": _ASGI,
        "http_version": "1.0" if request.http10 else "1.1",
        "method": request.method.decode("ascii"),
        "path": decoded.decode("utf-8", "replace"),
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "server": None,
        "state": {},
    }
    if request.upgrade is not None:
        offered = get(request.headers, b"sec-websocket-protocol") or b""
        names = [name.strip() for name in offered.decode("latin-1").split(",")]
        scope["type"] = "websocket"
        scope["subprotocols"] = [name for name in names if name]
        del scope["method"]
    set_origin(scope, request.headers, origin)
    return scope


def set_origin(scope: Scope, headers: Headers, origin: Origin) -> None:
    """Put the caller's origin into a scope, and the headers without what proxies say of it."""
    is_websocket = scope["type"] == "websocket"
    scope["scheme"] = origin.scheme.replace("http", "ws") if is_websocket else origin.scheme
    scope["client"] = (origin.address, 0)
    passed = (*without_forwarding_fields(headers), *origin_fields(origin))
    scope["headers"] = [(name.lower(), value) for name, value in passed]


def tell_route(span: Span | None, scope: Scope) -> None:
    """Tell the route that the application has chosen, which Litestar puts into the scope."""
    route = scope.get("path_template")
    if span is not None and route:
        span.is_for(route)


def checked(headers: Headers) -> Headers:
    """Return headers that are safe to write. Raises BrokenAnswer for line breaks, which may come
    from a caller's text."""
    for name, value in headers:
        if _FORBIDDEN.search(name) or _FORBIDDEN.search(value):
            raise BrokenAnswer(f"a field {name!r} has an end of line in it")
    return strip_hop_by_hop(headers)
