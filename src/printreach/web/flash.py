"""Flash messages: a page says what a form did once, and not again after Back, reload or a bookmark.

A form leads to `…?said=WORD`, and its answer sets a cookie of a minute with the same word. The page
gets to see the word with the cookie alone, and takes the cookie away as it is shown.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from litestar.datastructures import Cookie
from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.response import Redirect
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from printreach.rules.own_paths import FLASH_FIELD
from printreach.web.cookies import FLASH, Cookies
from printreach.web.safe_methods import is_head

_LIFETIME: Final = timedelta(minutes=1)
"""A browser follows a redirect at once."""
_ANSWER: Final = "http.response.start"


def redirect_with_flash(path: str, word: str) -> Redirect:
    """Redirect after a form. word: a key of the flash messages of the page at `path`."""
    return Redirect(f"{path}?{FLASH_FIELD}={word}", status_code=303)


class FlashMessages(ASGIMiddleware):
    """Hides the word of a flash message from every page but the one that follows the form."""

    scopes = (ScopeType.HTTP,)

    def __init__(self, jar: Cookies) -> None:
        self._jar = jar

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        if scope["type"] != ScopeType.HTTP or scope["method"] != "GET":

            async def keep(message: Message) -> None:
                word = _word_of_redirect(message)
                await send(self._with_cookie(message, word) if word else message)

            await next_app(scope, receive, keep)
            return
        query = scope["query_string"].decode("latin-1")
        if not any(name == FLASH_FIELD for name, _ in parse_qsl(query, keep_blank_values=True)):
            await next_app(scope, receive, send)
            return
        word = _word_in(query)
        if not word or self._jar.read(_header(scope["headers"], b"cookie"), FLASH) != word:
            scope["query_string"] = _without_word(query).encode("latin-1")
            await next_app(scope, receive, send)
            return

        async def forget(message: Message) -> None:
            is_shown = message["type"] == _ANSWER and message["status"] == 200
            # No person sees what a script loads; the script has the browser load the page again.
            is_shown = is_shown and _header(scope["headers"], b"sec-fetch-dest") != "empty"
            is_shown = is_shown and not is_head(scope)
            await send(self._with_cookie(message, "") if is_shown else message)

        await next_app(scope, receive, forget)

    def _with_cookie(self, message: Message, word: str) -> Message:
        if message["type"] != _ANSWER:
            return message
        cookie: Cookie = self._jar.set(FLASH, word, _LIFETIME) if word else self._jar.end(FLASH)
        row = (b"set-cookie", cookie.to_header(header="").encode("latin-1"))
        return {**message, "headers": [*message["headers"], row]}


def _word_of_redirect(message: Message) -> str:
    if message["type"] != _ANSWER or message["status"] != 303:
        return ""
    return _word_in(urlsplit(_header(message["headers"], b"location")).query)


def _word_in(query: str) -> str:
    """The word; "" if there is none or it is unknown."""
    values = [value for name, value in parse_qsl(query) if name == FLASH_FIELD]
    is_word = len(values) == 1 and values[0].isascii() and values[0].replace("-", "").isalpha()
    return values[0] if is_word else ""


def _without_word(query: str) -> str:
    rows = parse_qsl(query, keep_blank_values=True)
    return urlencode([(name, value) for name, value in rows if name != FLASH_FIELD])


def _header(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in headers if key.lower() == name), "")
