"""The language of a request: the account's, else the browser's, else English."""

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from printreach.languages import language, negotiate, speaking


class InTheReadersLanguage:
    """ASGI middleware that answers in the browser's language, and says in which a page is.

    `web.signed_in` switches to the language that an account has chosen.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return

        async def name_the_language(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_page(message["headers"]):
                code = language().encode()
                own = [(b"content-language", code), (b"vary", b"Accept-Language")]
                message["headers"] = [*message["headers"], *own]
            await send(message)

        wanted = b",".join(
            value for name, value in scope["headers"] if name.lower() == b"accept-language"
        )
        with speaking(negotiate(wanted.decode("latin-1"))):
            await self._app(scope, receive, name_the_language)


def _is_page(headers: object) -> bool:
    assert isinstance(headers, list | tuple)
    kinds = (value for name, value in headers if name.lower() == b"content-type")
    return any(kind.startswith(b"text/html") for kind in kinds)
