"""The agent's web server on the local network: a page for people, and a lookup for apps.

Anyone on the network may read it, so nothing is secret here but the link code. That is meant for
people who can reach the printer anyway, and only the page shows it.
"""

import base64
import hashlib
import ipaddress
import re
from collections.abc import Callable
from html import escape
from typing import Final

import msgspec

from printreach.agent.state import AgentState, Phase, ShownLinkCode, Snapshot, phase_sentence
from printreach.http1.messages import Answer, Call, text_answer
from printreach.wire.heads import Headers

_STYLE: Final = """
:root{color-scheme:light dark;--bg:#F2F5F5;--surface:#FFF;--line:#D0D9DB;--text:#11191C;\
--text2:#42515A;--accent:#00667D;--bad:#B0241A}
@media(prefers-color-scheme:dark){:root{--bg:#0C1113;--surface:#151C1F;--line:#2A363B;\
--text:#E8EFF1;--text2:#B3C1C7;--accent:#5CC9E4;--bad:#FF8B80}}
body{margin:0;padding:32px 16px;background:var(--bg);color:var(--text);\
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:34rem;margin:auto;padding:24px;background:var(--surface);\
border:1px solid var(--line);border-radius:12px}
h1{margin:0 0 8px;font-size:1.625rem;line-height:1.25;overflow-wrap:anywhere}
p{margin:0 0 16px}
.code{margin:20px 0;font:600 clamp(1.75rem,9vw,2.75rem)/1.2 ui-monospace,monospace;\
font-variant-ligatures:none;letter-spacing:.08em;white-space:nowrap}
.error{color:var(--bad)}
.popup{margin:0 0 16px;padding:16px;border:2px solid var(--accent);border-radius:12px}
.popup h2{margin:0 0 4px;font-size:1.125rem}
.popup p{margin:0}
.note,dl{color:var(--text2);font-size:.9375rem}
dl{margin:24px 0;padding-top:16px;border-top:1px solid var(--line)}
dt{font-weight:600}
dd{margin:0 0 8px;overflow-wrap:anywhere}
a{color:var(--accent);display:inline-block;padding:10px 0;overflow-wrap:anywhere}
a:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
"""

STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
"""The hash in the Content-Security-Policy, so that no other style applies."""

_SETTLED: Final = frozenset({Phase.CONNECTED, Phase.REFUSED})
_UNSETTLED_REFRESH_S: Final = 5
_SETTLED_REFRESH_S: Final = 30


def render(snapshot: Snapshot, at: float, smart_pause: str = "") -> str:
    """Return the page for this moment; it asks for itself again after a while.

    at: monotonic seconds now. smart_pause: what to show of a smart pause, as a sentence.
    """
    shown = snapshot.live_link_code(at)
    refresh_s = _SETTLED_REFRESH_S if snapshot.phase in _SETTLED else _UNSETTLED_REFRESH_S
    title = _title(snapshot)
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="refresh" content="{refresh_s}">',
        f"<title>{title} - Printreach</title>",
        f"<style>{_STYLE}</style></head>",
        f"<body><main><h1>{title}</h1>",
        f"<p>{phase_sentence(snapshot.phase)}</p>",
        _smart_pause(smart_pause),
        _error(snapshot.last_error),
        "" if shown is None else _link_code(shown, at),
        _facts(snapshot),
        _unlinking(snapshot) if snapshot.is_linked else "",
        "</main></body></html>\n",
    ]
    return "\n".join(part for part in parts if part)


def _title(snapshot: Snapshot) -> str:
    if snapshot.is_linked:
        return escape(snapshot.printer_name or "Your printer")
    return "Link this printer"


def _smart_pause(sentence: str) -> str:
    if not sentence:
        return ""
    return f'<section class="popup"><h2>Smart pause</h2><p>{escape(sentence)}</p></section>'


def _error(sentence: str | None) -> str:
    return f'<p class="error">{escape(sentence)}</p>' if sentence else ""


def _link_code(shown: ShownLinkCode, at: float) -> str:
    minutes = max(1, int(shown.expires_at - at) // 60)
    unit = "minute" if minutes == 1 else "minutes"
    half = len(shown.code) // 2
    return (
        f'<p class="code">{shown.code[:half]}-{shown.code[half:]}</p>'
        f'<p><a href="{escape(shown.link_url)}" rel="noreferrer">Link it to your account</a></p>'
        '<p class="note">Or enter this code on the service. It works once, for about'
        f" {minutes} {unit}. Then a new one appears here.</p>"
    )


def _facts(snapshot: Snapshot) -> str:
    url = escape(snapshot.service_url)
    return (
        f'<dl><dt>Service</dt><dd><a href="{url}/" rel="noreferrer">{url}</a></dd>'
        f"<dt>Printer ID</dt><dd>{escape(snapshot.printer_id)}</dd>"
        f"<dt>Agent version</dt><dd>{escape(snapshot.agent_version)}</dd></dl>"
    )


def _unlinking(snapshot: Snapshot) -> str:
    return (
        '<p class="note">To unlink this printer, remove it from your account at'
        f" {escape(snapshot.service_url)}. Then a new link code appears here.</p>"
    )


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
            return text_answer(403, "Open this page by the machine's own address.")
        if call.path not in (b"/", LOOKUP_PATH):
            return text_answer(404, "There's nothing here.")
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


# The design's tokens, light and dark; only what this page shows.
