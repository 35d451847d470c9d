"""The LAN page as HTML: one file without scripts, for any browser in the house."""

import base64
import hashlib
from html import escape
from typing import Final

from printreach.agent.state import Phase, ShownLinkCode, Snapshot, phase_sentence

# The design's tokens, light and dark; only what this page shows.
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
        f'<p><a href="{escape(shown.link_url)}" rel="noreferrer">Link it with your account</a></p>'
        '<p class="note">Or enter the code where the service asks for it. It works once, for'
        f" about {minutes} {unit}; then a new one appears here.</p>"
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
        '<p class="note">To unlink the printer, remove it from your account at'
        f" {escape(snapshot.service_url)}. A code to link it again then appears here.</p>"
    )
