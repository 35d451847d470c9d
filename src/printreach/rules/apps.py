"""Apps that may ask for connections, and where they may be returned to."""

import ipaddress
import re
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import SplitResult, urlsplit

_APP_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_SCHEMES_WITH_A_MEANING = frozenset(
    {"about", "blob", "data", "file", "filesystem", "ftp", "intent", "javascript", "mailto"}
    | {"sms", "tel", "vbscript", "view-source", "ws", "wss"}
)
"""What a browser or a phone acts on by itself; none of them brings anyone back to an app."""


@dataclass(frozen=True, kw_only=True, slots=True)
class App:
    """A program that people may let reach their printers."""

    app_id: str
    name: str
    return_prefixes: tuple[str, ...]
    created_at: datetime


def problem_with_app(app_id: str, name: str, return_prefixes: tuple[str, ...]) -> str | None:
    """A sentence, where this cannot be registered."""
    if not _APP_ID.fullmatch(app_id):
        return "An app id has 1 to 64 letters, digits, dots, hyphens or underscores."
    if not 2 <= len(name) <= 60 or not name.isprintable() or name != name.strip():
        return "An app's name has 2 to 60 printable characters."
    problems = (problem_with_return_prefix(prefix) for prefix in return_prefixes)
    return next((problem for problem in problems if problem), None)


def problem_with_return_prefix(prefix: str) -> str | None:
    """A sentence, where nobody may be returned to addresses that begin like this.

    Allowed are https, http to a loopback or private address, and a scheme of the app's own.
    """
    try:
        parts = urlsplit(prefix)
        _ = parts.port  # reading it raises where it is no number or out of range
    except ValueError:
        return f"{prefix!r} is not an address."
    if "://" not in prefix or not prefix.isprintable() or " " in prefix or "\\" in prefix:
        return f"{prefix!r} is not an address."
    if parts.username is not None or parts.query or parts.fragment:
        return f"{prefix!r} has user info, a query or a fragment; a return address has none."
    if not _may_return_to(parts):
        return (
            f"{prefix!r} is neither https, nor http to a loopback or private address, "
            "nor a scheme of the app's own."
        )
    return None


def _may_return_to(parts: SplitResult) -> bool:
    match parts.scheme:
        case "https":
            return bool(parts.hostname)
        case "http":
            return _is_near(parts.hostname or "")
        case scheme:
            return bool(_SCHEME.fullmatch(scheme)) and scheme not in _SCHEMES_WITH_A_MEANING


def _is_near(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_private
