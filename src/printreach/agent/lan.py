"""The agent's web server on the local network: a page for people, and a lookup for apps.

Anyone on the network may read it, so nothing is secret here but the link code. That is meant for
people who can reach the printer anyway, and only the page shows it.
"""

import ipaddress
import re
from collections.abc import Callable
from typing import Final

import msgspec

from printreach.agent.lan_markup import STYLE_HASH, render
from printreach.agent.state import AgentState, Snapshot
from printreach.http1.messages import Answer, Call, text_answer
from printreach.wire.heads import Headers

LOOKUP_PATH: Final = b"/api/plugin/service"

_METHODS: Final = (b"GET", b"HEAD")
_LABEL: Final = r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
_LOCAL_NAME: Final = re.compile(rf"({_LABEL}\.)*({_LABEL}\.(local|lan|home\.arpa)|localhost)")
_SINGLE_LABEL: Final = re.compile(_LABEL)
_AUTHORITY: Final = re.compile(r"(\[(?P<v6>[^\[\]]+)\]|(?P<name>[^:\[\]]+))(:[0-9]{0,5})?")

# The page is never framed, sniffed, scripted, cached or read by another site's page.
GUARDS: Final[Headers] = [
    (b"Cache-Control", b"no-store"),
    (b"Cross-Origin-Resource-Policy", b"same-origin"),
    (b"Referrer-Policy", b"no-referrer"),
    (b"X-Content-Type-Options", b"nosniff"),
    (
        b"Content-Security-Policy",
        b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        b"style-src 'sha256-%b'" % STYLE_HASH.encode(),
    ),
]


class Lookup(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """The lookup, by which an app recognises the printer. printer_name: "" if unlinked."""

    printer_id: str
    printer_name: str
    service_url: str
    is_linked: bool
    agent_version: str


class LanSite:
    """The handler of the LAN page's server."""

    def __init__(
        self,
        state: AgentState,
        monotonic: Callable[[], float],
        smart_pause_popup: Callable[[], str] = lambda: "",
    ) -> None:
        """smart_pause_popup: what to show of a smart pause, as a sentence; "" for nothing."""
        self._state = state
        self._monotonic = monotonic
        self._smart_pause_popup = smart_pause_popup

    async def __call__(self, call: Call) -> Answer:
        """Answer one request. The host is checked first: a foreign name gets nothing."""
        answer = self._answer(call)
        answer.headers += GUARDS
        return answer

    def _answer(self, call: Call) -> Answer:
        if not is_local_host(call.head.host):
            return text_answer(403, "Open this page by the address of the machine.")
        if call.path not in (b"/", LOOKUP_PATH):
            return text_answer(404, "There is nothing here.")
        if call.method not in _METHODS:
            answer = text_answer(405, "This page can only be read.")
            answer.headers.append((b"Allow", b", ".join(_METHODS)))
            return answer
        snapshot = self._state.snapshot
        if call.path == LOOKUP_PATH:
            return _complete_answer(b"application/json", msgspec.json.encode(lookup(snapshot)))
        page = render(snapshot, self._monotonic(), self._smart_pause_popup())
        return _complete_answer(b"text/html; charset=utf-8", page.encode())


def lookup(snapshot: Snapshot) -> Lookup:
    """Return the facts for an app on the network."""
    return Lookup(
        printer_id=snapshot.printer_id,
        printer_name=snapshot.printer_name,
        service_url=snapshot.service_url,
        is_linked=snapshot.is_linked,
        agent_version=snapshot.agent_version,
    )


def is_local_host(authority: bytes) -> bool:
    """True when a Host header names this machine as the local network does.

    A public name that someone points at a private address ("DNS rebinding") lets a web page from
    anywhere read what is here as its own, so only names that nobody can register count: IP
    addresses, single labels, and those under .local, .lan, .home.arpa and .localhost.
    """
    match = _AUTHORITY.fullmatch(authority.decode("latin-1").lower())
    if match is None:
        return False
    if match["v6"] is not None:
        return _is_ip(match["v6"])
    name = match["name"].removesuffix(".")
    return _is_ip(name) or bool(_SINGLE_LABEL.fullmatch(name) or _LOCAL_NAME.fullmatch(name))


def _complete_answer(content_type: bytes, body: bytes) -> Answer:
    return Answer(headers=[(b"Content-Type", content_type)], body=body)


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
