"""Flash messages: a page says what a form did once, and not again after Back, reload or a bookmark.

A route redirects to `…?said=WORD`. No browser sees that: the word is taken from the address and
becomes a cookie of a minute, together with the path. That page alone gets to see the word, and
takes the cookie away as it is shown. The message is in `request.state.flash_message`, and
templates/base.html shows it.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from litestar.datastructures import Cookie
from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.response import Redirect
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from printreach.rules.own_paths import FLASH_FIELD
from printreach.web.cookies import FLASH, Cookies
from printreach.web.in_place import is_shown_in_place
from printreach.web.safe_methods import is_head

_LIFETIME: Final = timedelta(minutes=1)
"""A browser follows a redirect at once."""
_ANSWER: Final = "http.response.start"
_BETWEEN: Final = "."
_MESSAGES: Final[Mapping[str, Mapping[str, str]]] = {
    "/account/tokens": {"ended": "The token has ended."},
    "/account": {
        "password": "Your password was changed. Every other browser was signed out.",
        "link-sent": "We've sent a link to the new address.",
        "link-in-log": "Ask the operator for the link, which is in the service's log.",
        "mail": "Your e-mail address was changed.",
        "price": "The price is saved.",
        "preset": "The preset is saved.",
        "preset-removed": "The preset is removed.",
        "preset-moved": "The order is saved.",
        "timelapses": "Your choice is saved.",
        "timelapse-deleted": "The timelapse is deleted.",
        "passkey": "The passkey was added.",
        "passkey-removed": "The passkey was removed.",
        "app-removed": "The authenticator app was removed.",
        "other-removed": "The other way to sign in was removed.",
    },
    "/connections": {
        "permitted": "Saved. The change applies now.",
        "ended": "The connection has ended.",
        "again": "Sending it again.",
        "live": "The Live Link is ready.",
        "live-ended": "The Live Link has ended.",
    },
    "/developer": {
        "registered": "The app is registered.",
        "changed": "The app is changed.",
        "removed": "The app is removed.",
        "disabled": "The key is disabled.",
        "again": "Sending it again.",
    },
    "/notifications": {
        "added": "Added. Send a test to see whether it works.",
        "removed": "Removed.",
        "tested": "The test was sent.",
        "saved": "Saved.",
    },
    "/operator": {
        "granted": "Supporter status is granted.",
        "taken": "The grant is revoked.",
        "forgotten": "The customer is forgotten. The account can pay again.",
        "limits": "Saved. The limits apply within 30 seconds.",
        "operator": "Saved.",
        "blocked": "The account is blocked. Its browsers are signed out.",
        "unblocked": "The account is unblocked.",
        "disabled": "The key is disabled.",
        "deleted": "The account is deleted.",
        "registered": "The app is registered.",
        "changed": "The app is changed.",
        "removed": "Removed.",
        "ended": "The connection has ended.",
    },
    "/printers": {
        "pause": "Pausing. It may take a moment.",
        "pause-done": "Paused.",
        "resume": "Resuming. It may take a moment.",
        "resume-done": "Resumed.",
        "stop": "Stopping the print. It may take a moment.",
        "stop-done": "The print is stopped.",
        "heat": "The new temperature was sent to the printer.",
        "heat-done": "The new temperature is set.",
        "cool": "The printer was told to cool down.",
        "cool-done": "The heaters are off.",
        "adjust": "The adjustment was sent to the printer.",
        "adjust-done": "Adjusted.",
        "emergency-stop": "The emergency stop was sent. Look at the printer.",
        "emergency-stop-done": "The printer has stopped. Look at it before you go on.",
        "restart-firmware": "Restarting the firmware. It may take a minute.",
        "restart-firmware-done": "The firmware has restarted.",
        "move": "The move was sent to the printer.",
        "home": "Homing was sent to the printer.",
        "extrude": "The printer was told to move the filament.",
        "light": "The order for the light was sent to the printer.",
        "light-done": "The light is switched.",
        "start": "Starting the print. It may take a moment.",
        "start-done": "The print has begun.",
        "upload": "The file is on the printer.",
        "upload-other": "The file is on the printer, which doesn't print files of this kind.",
        "delete": "The file is deleted.",
        "name": "The name is saved.",
        "cameras": "The cameras are saved.",
        "removed": "The printer is removed.",
        "unlocked": "Remote control is unlocked.",
        "invited": "The mail with the link is on its way.",
        "invitation-ended": "The invitation has ended.",
        "role": "Saved. It applies now.",
        "person-ended": "Their access has ended.",
        "left": "You have left the printer.",
        "accepted": "The printer is in your list.",
        "declined": "Declined.",
        "detector": "Saved.",
        "detector-not-running": "Saved for later: failure detection is off on this service.",
        "detector-off": "Failure detection is off for this print.",
        "detector-on": "Failure detection watches this print again.",
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
    """Has the page that follows a form, and no other, show what the form did."""

    scopes = (ScopeType.HTTP,)

    def __init__(self, jar: Cookies) -> None:
        self._jar = jar

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        if scope["type"] != ScopeType.HTTP or scope["method"] != "GET":

            async def keep(message: Message) -> None:
                await send(self._with_word_in_cookie(message))

            await next_app(scope, receive, keep)
            return
        cookie = self._jar.read(_header(scope["headers"], b"cookie"), FLASH)
        path, _, word = (cookie or "").rpartition(_BETWEEN)
        if not path or unquote(path) != scope["path"]:
            await next_app(scope, receive, send)
            return

        scope["state"]["flash_message"] = _message(scope["path"], word)

        async def forget(message: Message) -> None:
            is_shown = message["type"] == _ANSWER and message["status"] == 200
            is_shown = is_shown and _is_for_a_person(scope) and not is_head(scope)
            await send(_with_cookie(message, self._jar.end(FLASH)) if is_shown else message)

        await next_app(scope, receive, forget)

    def _with_word_in_cookie(self, message: Message) -> Message:
        if message["type"] != _ANSWER or message["status"] != 303:
            return message
        target = urlsplit(_header(message["headers"], b"location"))
        word = _word_in(target.query)
        if not word:
            return message
        where = target._replace(query=_without_word(target.query)).geturl()
        value = f"{quote(unquote(target.path), safe='')}{_BETWEEN}{word}"
        others = [row for row in message["headers"] if row[0].lower() != b"location"]
        moved: Message = {**message, "headers": [*others, (b"location", where.encode("latin-1"))]}
        return _with_cookie(moved, self._jar.set(FLASH, value, _LIFETIME))


def _with_cookie(message: Message, cookie: Cookie) -> Message:
    if message["type"] != _ANSWER:
        return message
    row = (b"set-cookie", cookie.to_header(header="").encode("latin-1"))
    return {**message, "headers": [*message["headers"], row]}


def _is_for_a_person(scope: Scope) -> bool:
    """Return whether a person sees the answer: of other scripts, the browser loads it again.

    A page that the service worker passes on has the mode of a page, but no destination.
    """
    headers = scope["headers"]
    is_page = _header(headers, b"sec-fetch-mode") == "navigate"
    is_of_script = not is_page and _header(headers, b"sec-fetch-dest") == "empty"
    return not is_of_script or is_shown_in_place(scope)


def _message(path: str, word: str) -> str:
    """Return the message of a page; "" if the word is none of its words."""
    for begin, messages in _MESSAGES.items():
        if path == begin or path.startswith(f"{begin}/"):
            return messages.get(word, "")
    return ""


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
