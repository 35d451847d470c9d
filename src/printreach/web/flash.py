"""Flash messages: a page says what a form did once, and not again after Back, reload or a bookmark.

A form leads to `…?said=WORD`, and its answer sets a cookie of a minute with the same word. The page
gets to see the word with the cookie alone, and takes the cookie away as it is shown. The message is
in `request.state.flash_message`, and templates/base.html shows it.
"""

from collections.abc import Iterable, Mapping
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
_MESSAGES: Final[Mapping[str, Mapping[str, str]]] = {
    "/account/tokens": {"ended": "The token has ended."},
    "/account": {
        "password": "Your password was changed. Every other browser was signed out.",
        "link-sent": "A mail with a link is on its way to the new address.",
        "link-in-log": "Ask the operator for the link that confirms it: the service's log has it.",
        "mail": "Your mail address was changed.",
        "passkey": "The passkey was added.",
        "passkey-removed": "The passkey was removed.",
        "app-removed": "The authenticator app was removed.",
        "other-removed": "The other way to sign in was removed.",
    },
    "/connections": {
        "permitted": "Saved. It counts from now on.",
        "ended": "The connection has ended.",
        "again": "It is sent again.",
        "live": "The Live Link is made.",
        "live-ended": "The Live Link has ended.",
    },
    "/developer": {
        "registered": "The app is registered.",
        "changed": "The app is changed.",
        "removed": "The app is removed.",
        "disabled": "The key is disabled.",
        "again": "It is sent again.",
    },
    "/notifications": {
        "added": "Added. Send a test to see whether it works.",
        "removed": "Removed.",
        "tested": "The test was sent.",
        "saved": "Saved.",
    },
    "/operator": {
        "granted": "Supporter status is granted.",
        "taken": "The grant is taken back.",
        "forgotten": "The customer is forgotten. The account can pay anew.",
        "limits": "The limits are saved. They hold within 30 seconds.",
        "operator": "Saved.",
        "blocked": "The account is blocked. Its browsers are signed out.",
        "unblocked": "The account is open again.",
        "disabled": "The key is disabled.",
        "deleted": "The account is deleted.",
        "registered": "The app is registered.",
        "changed": "The app is changed.",
        "removed": "Removed.",
        "ended": "The connection has ended.",
    },
    "/printers": {
        "pause": "Pausing. It may take a moment.",
        "resume": "Resuming. It may take a moment.",
        "stop": "Stopping the print. It may take a moment.",
        "heat": "The new temperature is set.",
        "move": "Moved.",
        "home": "Homing.",
        "extrude": "Done.",
        "light": "The light is switched.",
        "start": "Starting the print. It may take a moment.",
        "upload": "The file is on the printer.",
        "delete": "The file is deleted.",
        "name": "The name is saved.",
        "removed": "The printer is removed.",
        "unlocked": "Remote control is unlocked.",
        "detector": "Saved.",
        "detector-not-running": "Saved for later: failure detection is off on this service.",
        "detector-off": "Failure detection is off for this print.",
        "detector-on": "Failure detection looks at this print again.",
        "judged": "Thank you. Your answer is kept.",
        "pictures": "Deleted.",
    },
    "/usage": {"switched": "Saved."},
}
"""Messages by the first part of a page's path, and by the word; no other text gets in."""


def redirect_with_flash(path: str, word: str) -> Redirect:
    """Redirect after a form. word: the key of a message of the page at `path`."""
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

        scope["state"]["flash_message"] = _message(scope["path"], word)

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


def _message(path: str, word: str) -> str:
    """Return the message of a page; "" if the word is none of its words."""
    for begin, messages in _MESSAGES.items():
        if path == begin or path.startswith(f"{begin}/"):
            return messages.get(word, "")
    return ""


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
