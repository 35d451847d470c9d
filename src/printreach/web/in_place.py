"""Answers that a script shows in the page that is open, by web/scripts/parts/in_place.ts.

The script names the path of its page in a header.
"""

from typing import Final
from urllib.parse import unquote

from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Message, Receive, Scope, Send

IN_PLACE: Final = b"x-in-place"
_ANSWER: Final = "http.response.start"
_CLIENT_ERRORS: Final = range(400, 500)


def is_shown_in_place(scope: Scope) -> bool:
    """Return whether the answer is shown in the open page: it is that page."""
    return _named(scope) == scope["path"]


class RefusalsInPlace(ASGIMiddleware):
    """Answers a form of an open page with 200 where it is refused.

    The page says why. Browsers log each 4xx that a script is answered as an error of the page.
    """

    scopes = (ScopeType.HTTP,)

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        async def forward(message: Message) -> None:
            if message["type"] == _ANSWER and message["status"] in _CLIENT_ERRORS:
                message = {**message, "status": 200}
            await send(message)

        is_form = scope["type"] == ScopeType.HTTP and scope["method"] == "POST" and _named(scope)
        await next_app(scope, receive, forward if is_form else send)


def _named(scope: Scope) -> str:
    """Return the path of the open page; "" if no script asks."""
    named = next((value for name, value in scope["headers"] if name.lower() == IN_PLACE), b"")
    return unquote(named.decode("latin-1"))
