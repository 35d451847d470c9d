"""The service's own failures, as pages for browsers and as JSON for programs.

These pages are on a printer's host, where nothing else of ours is served. So each is one
self-contained text: no script, no picture to fetch, no other host, and one style sheet that the
content security policy admits by its hash.
"""

import base64
import hashlib
import html
import json
from string import Template
from typing import Final

from printreach.contract.errors import FAILURES, THIS_PRINTER, ErrorCode, Failure, name_of
from printreach.languages import _, language, translate
from printreach.rules.connections import LostPrinter
from printreach.rules.printers import LAN_PORT
from printreach.rules.safe_text import printable

from .page_words import FROM_ANOTHER_SITE, Link, Reader, failure_for, links_for, loss_in_words

# A sentence or two. Longer text is no advice, and the page has to stay small.
_LONGEST_DETAIL: Final = 200
_LONGEST_NAME: Final = 50

_STYLE: Final = """
:root{color-scheme:light dark;--bg:#f2f5f5;--line:#d0d9db;--edge:#73838a;--text:#11191c;\
--dim:#42515a;--dimmer:#566670;--ink:#00667d;--on:#fff}
@media(prefers-color-scheme:dark){:root{--bg:#0c1113;--line:#2a363b;--edge:#6f8089;--text:#e8eff1;\
--dim:#b3c1c7;--dimmer:#8e9ea5;--ink:#5cc9e4;--on:#04232b}}
*{margin:0;box-sizing:border-box}
body{min-height:100vh;min-height:100svh;max-width:30rem;margin:auto;padding:1rem 1.25rem;\
display:flex;flex-direction:column;background:var(--bg);color:var(--text);overflow-wrap:anywhere;\
font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
svg{display:block;fill:none;stroke:var(--edge);stroke-width:5;stroke-linecap:round;\
stroke-linejoin:round}
header svg{width:8rem}
main svg{width:100%;margin:3rem 0 2.25rem}
.ink{stroke:var(--ink)}
.word{stroke:var(--text)}
h1{font-size:1.75rem;font-weight:600;line-height:1.25;margin-bottom:.5rem}
h2{font-size:1rem;font-weight:600;margin:1.5rem 0 .25rem}
p{font-size:1.0625rem;color:var(--dim)}
ol{padding:0;list-style:none;counter-reset:n}
li{counter-increment:n;display:flex;gap:.75rem;padding:.75rem 0}
li+li{border-top:1px solid var(--line)}
li:before{content:counter(n);color:var(--dimmer);font-weight:600}
footer{margin-top:auto;padding-top:2rem;text-align:center;font-size:.875rem;color:var(--dimmer)}
a{display:block;margin:.75rem 0 1.25rem;padding:.875rem;border-radius:8px;background:var(--ink);\
color:var(--on);font-size:1rem;font-weight:600;text-decoration:none}
.quiet{margin:0 0 1.25rem;padding:0;background:none;color:var(--ink)}
a svg{display:inline;width:1.125rem;margin-right:.625rem;vertical-align:-.1875rem;\
stroke:var(--on);stroke-width:2}
a:focus-visible{outline:3px solid var(--ink);outline-offset:2px}
code{font:.8125rem ui-monospace,monospace}
"""
_FORM_STYLE: Final = """
main svg{margin:1.5rem 0}
form{margin-top:1.5rem}
label{display:block;font-weight:600;margin-top:1rem}
input,button{width:100%;min-height:3.25rem;margin-top:.25rem;padding:.5rem .875rem;\
border-radius:8px;font:inherit}
input{border:1px solid var(--edge);background:var(--field);color:var(--text)}
:root{--field:#fff;--bad:#b0241a}
@media(prefers-color-scheme:dark){:root{--field:#151c1f;--bad:#ff8b80}}
button{margin-top:1.5rem;border:0;background:var(--ink);color:var(--on);font-weight:600;\
cursor:pointer}
:is(input,button):focus-visible{outline:3px solid var(--ink);outline-offset:2px}
.bad{margin-top:1rem;color:var(--bad);font-weight:600}
"""

_LOGO: Final = """<svg viewBox="0 0 290.7 58" role="img" aria-label="Printreach">\
<path id="p" class="ink" transform="translate(-4 4)scale(1.15)" d="M9 42V16A10 10 0 0 1 19 6h7\
a14 14 0 0 1 0 28h-4a4 4 0 0 1-4-4V19a4 4 0 0 1 4-4h4a5 5 0 0 1 0 10"/>\
<g class="word" transform="translate(62 3)"><path stroke-width="4.7" d="M0 20v30m20-20a10 10 0 1 \
1-20 0 10 10 0 0 1 20 0m9.5-10v20m0-10a10 10 0 0 1 8.6-9.9M46.3 20v20m11-20v20m0-11a9 9 0 0 \
1 18 0v11m12.5-28v21.5a6.5 6.5 0 0 0 6.5 6.5h1.5m-13-20h12.5m9 0v20m0-10a10 10 0 0 1 \
8.6-9.9m6.2 10.3h19.8a10 10 0 1 0-3.2 6.9m31.7-17.3v20m0-10a10 10 0 1 1-20 0 10 10 0 \
0 1 20 0m26.8-6.8a10 10 0 1 0 0 13.6m9.5-26.8v30m0-11a9 9 0 0 1 18 0v11"/>\
<path stroke-width="5.8" d="M46.3 11.2h0"/></g></svg>"""

# A drawing of a torn filament, from the logo's mark to a printer that it no longer reaches.
_TORN_LINE: Final = """<svg viewBox="0 0 350 102" aria-hidden="true">\
<use href="#p" transform="translate(11 15)scale(1.07)"/>\
<path class="ink" d="M73 49h76c9 0 8-10 16-10"/>\
<path d="M195 59c8 0 7-10 16-10h16M242 5h94v92h-94zM242 29h94m-60 0v13l6 10h14l6-10V29m-31 40h36\
m-46 12h56"/><path stroke-width="3" d="M173 25l4-10m6 14l8-7m-18 56l3-10"/></svg>"""

# The same filament, whole.
_LINE: Final = """<svg viewBox="0 0 350 102" aria-hidden="true">\
<use href="#p" transform="translate(11 15)scale(1.07)"/>\
<path class="ink" d="M73 49h76c12 0 12-10 24-10h54"/>\
<path d="M242 5h94v92h-94zM242 29h94m-60 0v13l6 10h14l6-10V29m-31 40h36m-46 12h56"/></svg>"""

_PAGE: Final = Template(
    f"""<!doctype html><html lang="$lang"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">$refresh
<title>$title</title><style>$style</style>
<header>{_LOGO}</header>
<main>$drawing
<h1>$title</h1><p>$explanation</p>
$advice</main>
<footer>$retry$home<code>$code $name</code></footer>
"""
)

_WHAT_TO_DO: Final = Template("<h2>$to_do</h2><p>$remedy</p>")
_WHAT_TO_CHECK: Final = Template(
    """<h2>$to_check</h2><ol><li>$is_on
<li><span>$is_in_network</span>
<li>$says_why</ol>"""
)
_ADDRESS: Final = "$"
_ANY_LAN_PAGE: Final = f"http://your-printer:{LAN_PORT}"

_REFRESH: Final = '<meta http-equiv="refresh" content="30">'
_RETRY: Final = Template(
    """<a href=""><svg viewBox="0 0 24 24" aria-hidden="true">\
<path d="M20 12a8 8 0 1 1-2-5l2 2m0-5v5h-5"/></svg>$try_now</a>"""
)

# Links leave the frame if an app shows the printer in one: our own pages don't load in frames.
_LINK: Final = Template('<a$quiet target="_top" href="$href">$text</a>')
_QUIET: Final = ' class="quiet"'

_FORM: Final = Template(
    """<form method="post" action="$action">
<label for="user">$user_name</label>
<input id="user" name="user" required autocomplete="username" autocapitalize="none" \
spellcheck="false" maxlength="100">
<label for="password">$password</label>
<input id="password" name="password" type="password" required autocomplete="current-password" \
maxlength="100">
<button>$open</button></form>
"""
)
_ERROR: Final = Template('<p class="bad" role="alert">$error</p>')

_OPEN: Final = Template('<a href="">$open</a>')

_OPENING: Final = Template(
    """<!doctype html><html lang="$lang"><meta charset="utf-8">
<meta name="color-scheme" content="light dark"><meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="0; url=$path"><title>$opening</title>
<p><a href="$path">$open</a></p>
"""
)


def _hash_source(style: str) -> str:
    """Name an inline style sheet in a content security policy."""
    digest = hashlib.sha256(style.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


_SIGN_IN_STYLE: Final = _STYLE + _FORM_STYLE
SIGN_IN_PAGE_CSP: Final = (
    f"default-src 'none'; style-src {_hash_source(_SIGN_IN_STYLE)}; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
).encode()
"""The same for the page that asks for a password, which doesn't load in frames."""

# No frame-ancestors: apps show a printer's pages in frames of theirs, and there this page has to
# be readable too. It holds no secret, and nothing on it acts.
ERROR_PAGE_CSP: Final = (
    f"default-src 'none'; style-src {_hash_source(_STYLE)}; base-uri 'none'; form-action 'none'"
).encode()
"""The value of `Content-Security-Policy` that goes with every error page."""


def error_page(
    code: ErrorCode,
    detail: str | None,
    printer_name: str | None = None,
    *,
    reader: Reader | None = None,
    failure: Failure | None = None,
) -> bytes:
    """Write the page that a person sees instead of the printer.

    detail: what is known beyond the code, as a sentence; it may come from outside.
    printer_name: only where the caller has proved access to that printer.
    reader: who reads it; if unknown, the texts are those for apps.
    failure: the texts of the page, if they aren't those of the code.
    """
    links = links_for(code, reader, failure) if reader else []
    failure = failure or (failure_for(code, reader) if reader else FAILURES[code])
    lost = code is ErrorCode.PRINTER_NOT_CONNECTED
    printer = reader.lost if reader else None
    if printer is not None:
        printer_name, detail = printer.name, detail or loss_in_words(printer)
    page = _PAGE.substitute(
        lang=language(),
        code=int(code),
        name=name_of(code, failure),
        style=_STYLE,
        drawing=_TORN_LINE,
        title=_as_text(_title(failure, printer_name)),
        explanation=_as_text(_shorten(translate(detail or failure.meaning), _LONGEST_DETAIL)),
        advice=_what_to_check(printer) if lost else _what_to_do(failure),
        refresh=_REFRESH if lost else "",
        retry=_retry(is_lost=lost, is_temporary=failure.temporary),
        home="".join(map(_link, links)),
    )
    return page.encode("utf-8", "replace")


def opening_page(path: str) -> bytes:
    """Write a page that goes on to the path by itself.

    Unlike a redirect this is a new navigation, begun by this host: a browser's Sec-Fetch-Site
    remembers through redirects the site where they began.
    """
    return _OPENING.substitute(
        lang=language(),
        path=html.escape(path),
        opening=_as_text(_("Opening your printer")),
        open=_as_text(_("Open your printer")),
    ).encode()


def sign_in_page(action: str, error: str) -> bytes:
    """Ask a guest for the user name and the password of a shared printer.

    action: the path of the form. error: why the last try failed; "" before the first.
    """
    code = ErrorCode.BAD_CREDENTIALS
    shown = _ERROR.substitute(error=_as_text(translate(error))) if error else ""
    page = _PAGE.substitute(
        lang=language(),
        code=int(code),
        name=name_of(code, None),
        style=_SIGN_IN_STYLE,
        drawing=_LINE,
        title=_as_text(_("Open a shared printer")),
        explanation=_as_text(
            _(
                "Somebody is sharing this printer with you. Enter the user name and password you"
                " were given."
            )
        ),
        advice=shown + _form(action),
        refresh="",
        retry="",
        home="",
    )
    return page.encode("utf-8", "replace")


def confirmation_page(target: bytes, reader: Reader) -> bytes:
    """Ask a person whether to open an address that a page of another site has linked to.

    target: path and query as the browser asked for them. The page's link asks again, from here.
    """
    code = ErrorCode.BAD_CREDENTIALS
    shown = _as_text(_shorten(target.decode("latin-1"), _LONGEST_DETAIL))
    page = _PAGE.substitute(
        lang=language(),
        code=int(code),
        name=FROM_ANOTHER_SITE.name,
        style=_STYLE,
        drawing=_TORN_LINE,
        title=_as_text(_("Another site sent you here")),
        explanation=_as_text(_("It links to this address of your printer:"))
        + f" <code>{shown}</code>",
        advice=_to_do(
            _(
                "Some printers act as soon as an address like this is opened. Open it only if you"
                " trust the link you followed."
            )
        ),
        refresh="",
        retry=_OPEN.substitute(open=_as_text(_("Open it"))),
        home="".join(_link(link) for link in links_for(code, reader) if not link.is_main),
    )
    return page.encode("utf-8", "replace")


def _link(link: Link) -> str:
    quiet = "" if link.is_main else _QUIET
    return _LINK.substitute(
        quiet=quiet, href=html.escape(link.href), text=_as_text(translate(link.text))
    )


def error_body(code: ErrorCode, detail: str | None) -> bytes:
    """Write the JSON body that a program gets; without a detail, the meaning of the code."""
    return json.dumps({"Status": int(code), "Error": detail or FAILURES[code].meaning}).encode()


def _title(failure: Failure, printer_name: str | None) -> str:
    title = translate(failure.title)
    if printer_name is None:
        return title
    return title.replace(translate(THIS_PRINTER), _shorten(printer_name, _LONGEST_NAME))


def _retry(*, is_lost: bool, is_temporary: bool) -> str:
    note = _as_text(_("Tries again every 30 seconds")) if is_lost else ""
    return note + (_RETRY.substitute(try_now=_as_text(_("Try now"))) if is_temporary else "")


def _form(action: str) -> str:
    return _FORM.substitute(
        action=html.escape(action),
        user_name=_as_text(_("User name")),
        password=_as_text(_("Password")),
        open=_as_text(_("Open the printer")),
    )


def _what_to_check(printer: LostPrinter | None) -> str:
    lan_page = printer.lan_page if printer else ""
    is_in_network = _as_text(
        _("Is its network up?")
        if lan_page is None
        else _("Is its network up? On the same network, open %(address)s", address=_ADDRESS)
    )
    shown = html.escape(lan_page or _ANY_LAN_PAGE)
    return _WHAT_TO_CHECK.substitute(
        to_check=_as_text(_("What to check")),
        is_on=_as_text(_("Is the printer's computer switched on?")),
        is_in_network=is_in_network.replace(_ADDRESS, f"<code>{shown}</code>"),
        says_why=_as_text(_("Does the agent's log say why?")),
    )


def _what_to_do(failure: Failure) -> str:
    return _to_do(translate(failure.remedy))


def _to_do(remedy: str) -> str:
    return _WHAT_TO_DO.substitute(to_do=_as_text(_("What to do")), remedy=_as_text(remedy))


def _shorten(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _as_text(text: str) -> str:
    """Make text harmless between tags; what cannot be printed becomes a blank."""
    return html.escape(_curl(printable(text)), quote=False)


def _curl(text: str) -> str:
    """Set apostrophes as a printer would; the table keeps plain ones for logs and terminals."""
    return text.replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")
