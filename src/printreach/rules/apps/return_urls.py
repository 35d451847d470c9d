"""Return addresses of the portal: which are allowed, and the URL to return to.

Strict on purpose: an address that a browser would parse differently is refused, not repaired.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

from printreach.rules.apps import App, is_near_address, may_lead_back

MAX_RETURN_URL_LENGTH: Final = 2048

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_DEFAULT_PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443}
_ASCII_PRINTABLE: Final = "".join(chr(code) for code in range(0x21, 0x7F))


@dataclass(frozen=True, slots=True)
class _Place:
    """The parts of an address that are compared."""

    scheme: str
    host: str
    port: int | None
    path: str


def may_return_to(app: App, own_page: str, return_url: str) -> bool:
    """True where this app's people may be sent to that address.

    own_page: the service's own completion page, which every app may use.
    """
    if return_url == own_page:
        return True
    asked = _read(return_url)
    if asked is None:
        return False
    if app.returns_to_lan and asked.scheme in _DEFAULT_PORTS and is_near_address(asked.host):
        return True
    prefixes = (_read(prefix) for prefix in app.return_prefixes)
    return any(prefix is not None and _begins_with(asked, prefix) for prefix in prefixes)


def completion_url(return_url: str, parameters: Mapping[str, str]) -> str:
    """Return the address with the parameters appended; its own query and fragment survive."""
    ascii_url = quote(return_url, safe=_ASCII_PRINTABLE)
    front, hash_sign, fragment = ascii_url.partition("#")
    # A blank as %20: what reads a query in an app often leaves a plus sign as it is.
    added = urlencode(parameters, quote_via=quote, safe="")
    return f"{front}{_joint(front)}{added}{hash_sign}{fragment}"


def place_to_show(return_url: str) -> str:
    """Return where it leads, as a person would name it: the host, or the scheme of an app."""
    parts = urlsplit(return_url)
    return (parts.hostname or "") if parts.scheme in _DEFAULT_PORTS else f"{parts.scheme}://"


def _read(url: str) -> _Place | None:
    """Take an address apart; None where anything about it could be read in two ways."""
    scheme = _SCHEME.match(url)
    if scheme is None or len(url) > MAX_RETURN_URL_LENGTH or not _is_plain(url):
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    authority, host = parts.netloc, parts.hostname or ""
    if not authority.isascii() or "@" in authority or "%" in authority:
        return None
    if not may_lead_back(parts.scheme, host) or _climbs(parts.path):
        return None
    default = _DEFAULT_PORTS.get(parts.scheme)
    return _Place(parts.scheme, host, default if port is None else port, parts.path or "/")


def _is_plain(url: str) -> bool:
    """Whether it has no blank, invisible character or backslash: browsers change those."""
    return url.isprintable() and " " not in url and "\\" not in url


def _climbs(path: str) -> bool:
    """True where a browser, or a careless server, would make another path of it."""
    lower = path.lower()
    if "%2f" in lower or "%5c" in lower:
        return True
    return any(segment.replace("%2e", ".") in {".", ".."} for segment in lower.split("/"))


def _joint(front: str) -> str:
    if "?" not in front:
        return "?"
    return "" if front.endswith(("?", "&")) else "&"


def _begins_with(asked: _Place, prefix: _Place) -> bool:
    if (asked.scheme, asked.host, asked.port) != (prefix.scheme, prefix.host, prefix.port):
        return False
    return asked.path == prefix.path or asked.path.startswith(prefix.path.rstrip("/") + "/")
