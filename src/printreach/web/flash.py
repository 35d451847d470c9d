"""Flash messages: a page says what a form did once, and not again after Back, reload or a bookmark.

A route redirects to `…?said=WORD`. No browser sees that: the word is taken from the address and
becomes a cookie of a minute, together with the path. That page alone gets to see the word, and
takes the cookie away as it is shown. The message is in `request.state.flash_message`, and
templates/base.html shows it.

A script may show an answer in the page that is open, by web/scripts/parts/in_place.ts. It names the
path of its page in a header.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from litestar.datastructures import Cookie
from litestar.enums import ScopeType
from litestar.response import Redirect
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from printreach.languages import N_
from printreach.rules.own_paths import FLASH_FIELD
from printreach.web.cookies import FLASH, Cookies
from printreach.web.routing import RouteMiddleware
from printreach.web.safe_methods import is_head

_LIFETIME: Final = timedelta(minutes=1)
"""A browser follows a redirect at once."""
_ANSWER: Final = "http.response.start"
_BETWEEN: Final = "."
_MESSAGES: Final[Mapping[str, Mapping[str, str]]] = {
    "/account/tokens": {"ended": N_("The token has ended.")},
    "/account": {
        "password": N_("Your password was changed. Every other browser was signed out."),
        "link-sent": N_("We've sent a link to the new address."),
        "link-in-log": N_("Ask the operator for the link, which is in the service's log."),
        "mail": N_("Your e-mail address was changed."),
        "price": N_("The price is saved."),
        "preset": N_("The preset is saved."),
        "preset-removed": N_("The preset is removed."),
        "preset-moved": N_("The order is saved."),
        "timelapses": N_("Your choice is saved."),
        "language": N_("Your choice is saved."),
        "timelapse-deleted": N_("The timelapse is deleted."),
        "passkey": N_("The passkey was added."),
        "passkey-removed": N_("The passkey was removed."),
        "app-removed": N_("The authenticator app was removed."),
        "other-removed": N_("The other way to sign in was removed."),
    },
    "/connections": {
        "permitted": N_("Saved. The change applies now."),
        "ended": N_("The connection has ended."),
        "again": N_("Sending it again."),
        "live": N_("The Live Link is ready."),
        "live-ended": N_("The Live Link has ended."),
    },
    "/developer": {
        "registered": N_("The app is registered."),
        "changed": N_("The app is changed."),
        "removed": N_("The app is removed."),
        "disabled": N_("The key is disabled."),
        "again": N_("Sending it again."),
    },
    "/notifications": {
        "added": N_("Added. Send a test to see whether it works."),
        "removed": N_("Removed."),
        "tested": N_("The test was sent."),
        "saved": N_("Saved."),
    },
    "/operator": {
        "granted": N_("Supporter status is granted."),
        "taken": N_("The grant is revoked."),
        "forgotten": N_("The customer is forgotten. The account can pay again."),
        "limits": N_("Saved. The limits apply within 30 seconds."),
        "operator": N_("Saved."),
        "blocked": N_("The account is blocked. Its browsers are signed out."),
        "unblocked": N_("The account is unblocked."),
        "disabled": N_("The key is disabled."),
        "deleted": N_("The account is deleted."),
        "registered": N_("The app is registered."),
        "changed": N_("The app is changed."),
        "removed": N_("Removed."),
        "ended": N_("The connection has ended."),
    },
    "/printers": {
        "pause": N_("Pausing. It may take a moment."),
        "pause-done": N_("Paused."),
        "resume": N_("Resuming. It may take a moment."),
        "resume-done": N_("Resumed."),
        "stop": N_("Stopping the print. It may take a moment."),
        "stop-done": N_("The print is stopped."),
        "heat": N_("The new temperature was sent to the printer."),
        "heat-done": N_("The new temperature is set."),
        "cool": N_("The printer was told to cool down."),
        "cool-done": N_("The heaters are off."),
        "adjust": N_("The adjustment was sent to the printer."),
        "adjust-done": N_("Adjusted."),
        "emergency-stop": N_("The emergency stop was sent. Look at the printer."),
        "emergency-stop-done": N_("The printer has stopped."),
        "restart-firmware": N_("Restarting the firmware. It may take a minute."),
        "restart-firmware-done": N_("The firmware has restarted."),
        "move": N_("The move was sent to the printer."),
        "home": N_("The printer was told to home."),
        "extrude": N_("The printer was told to move the filament."),
        "light": N_("The light command was sent to the printer."),
        "light-done": N_("The light is switched."),
        "start": N_("Starting the print. It may take a moment."),
        "start-done": N_("The print has begun."),
        "upload": N_("The file is on the printer."),
        "upload-other": N_("The file is on the printer, which doesn't print files of this kind."),
        "delete": N_("The file is deleted."),
        "linked": N_("The printer is linked."),
        "name": N_("The name is saved."),
        "cameras": N_("The cameras are saved."),
        "removed": N_("The printer is removed."),
        "unlocked": N_("Remote control is unlocked."),
        "invited": N_("The e-mail with the link is on its way."),
        "invitation-ended": N_("The invitation has ended."),
        "role": N_("Saved. It applies now."),
        "person-ended": N_("Their access has ended."),
        "left": N_("You have left the printer."),
        "accepted": N_("The printer is in your list."),
        "declined": N_("Declined."),
        "detector": N_("Saved."),
        "detector-not-running": N_("Saved for later: failure detection is off on this service."),
        "detector-off": N_("Failure detection is off for this print."),
        "detector-on": N_("Failure detection watches this print again."),
        "judged": N_("Thank you. Your answer is kept."),
        "judgement-undone": N_("Your answer is undone."),
        "pictures": N_("Deleted."),
        "learnt": N_("Forgotten. This camera starts afresh."),
    },
    "/usage": {"switched": N_("Saved.")},
}
"""Messages by the first part of a page's path, and by the word; no other text gets in."""

IN_PLACE: Final = b"x-in-place"
_CLIENT_ERRORS: Final = range(400, 500)


def redirect_with_flash(path: str, word: str) -> Redirect:
    """Redirect after a form. word: the key of a message of the page at `path`."""
    return Redirect(f"{path}?{FLASH_FIELD}={word}", status_code=303)


class FlashMessages(RouteMiddleware):
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


def is_shown_in_place(scope: Scope) -> bool:
    """Return whether the answer is shown in the open page: it is that page."""
    return _named(scope) == scope["path"]


class RefusalsInPlace(RouteMiddleware):
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
