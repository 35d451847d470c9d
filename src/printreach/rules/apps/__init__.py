"""Apps that may ask for connections, and where they may be returned to."""

import ipaddress
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from printreach.languages import N_
from printreach.rules.safe_text import is_printable_name

MAX_RETURN_PREFIXES: Final = 20
MAX_RETURN_PREFIX_LENGTH: Final = 500

_APP_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_SCHEMES_WITH_A_MEANING = frozenset(
    {"about", "android-app", "apt", "bitcoin", "blob", "callto", "chrome", "chrome-extension"}
    | {"cid", "content", "cursor", "data", "dav", "dns", "edge", "facetime", "facetime-audio"}
    | {"feed", "file", "filesystem", "ftp", "ftps", "geo", "git", "gopher", "hcp", "help"}
    | {"imap", "intent", "irc", "itms", "jar", "javascript", "ldap", "ldaps", "magnet", "mailto"}
    | {"maps", "mhtml", "mms", "moz-extension", "news", "nfs", "nntp", "onenote", "pop", "prefs"}
    | {"res", "resource", "rlogin", "rtsp", "search", "search-ms", "sftp", "shell", "shortcuts"}
    | {"sip", "sips", "skype", "slack", "smb", "sms", "smsto", "ssh", "steam", "svn", "teams"}
    | {"tel", "telnet", "tftp", "urn", "vbscript", "view-source", "vnc", "vscode"}
    | {"vscode-insiders", "webcal", "ws", "wss", "wyciwyg", "xmpp", "zoommtg"}
)
"""Schemes that a browser or a system handles by itself; none of them returns to an app."""
_SYSTEM_SCHEMES = ("app-", "itms-", "ms-", "web+", "x-")
"""Prefixes of schemes that belong to Windows, Apple's systems or the web in general."""
KNOWN_APP_SCHEMES: Final = frozenset({"mobileraker", "octopod"})
"""Schemes without a dot that published apps use for their return addresses.

Mobileraker and OctoPod return to these in their releases.
"""
_NEAR = tuple(
    ipaddress.ip_network(network)
    for network in (
        "127.0.0.0/8",
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "169.254.0.0/16",
        "::1/128",
        "fc00::/7",
        "fe80::/10",
    )
)
"""Loopback, private and link-local. The library's own `is_private` means more than that, every
IPv4 address written as an IPv6 one included."""


@dataclass(frozen=True, kw_only=True, slots=True)
class App:
    """A program that people may let reach their printers.

    returns_to_lan: it runs in people's own networks, so that nobody knows its address beforehand;
    any private or loopback IP address is taken, with any port.
    owner_id: the account that registered it; None where the operator did.
    logo_url: shown where the app sends no logo. takes_other_logos: it may send one.
    max_connections, max_connections_a_printer: of living App Connections; None means no bound of
    its own. was_checked: an operator knows who is behind it; a change of what people are shown, or
    of where they are sent, takes that back.
    """

    app_id: str
    name: str
    return_prefixes: tuple[str, ...]
    created_at: datetime
    returns_to_lan: bool = False
    owner_id: str | None = None
    logo_url: str | None = None
    takes_other_logos: bool = True
    max_connections: int | None = None
    max_connections_a_printer: int | None = None
    was_checked: bool = False

    @property
    def is_vouched_for(self) -> bool:
        """Whether an operator of the service registered it, or knows who did."""
        return self.owner_id is None or self.was_checked


def problem_with_app(app_id: str, name: str, return_prefixes: tuple[str, ...]) -> str | None:
    """Return a sentence where the app cannot be registered."""
    return (
        problem_with_app_id(app_id)
        or problem_with_app_name(name)
        or problem_with_return_prefixes(return_prefixes)
    )


def problem_with_app_id(app_id: str) -> str | None:
    """Return a sentence where this is no valid app id."""
    if _APP_ID.fullmatch(app_id):
        return None
    return N_("An app id has 1 to 64 letters, digits, dots, hyphens or underscores.")


def problem_with_app_name(name: str) -> str | None:
    """Return a sentence where this is no valid name of an app."""
    if 2 <= len(name) <= 60 and is_printable_name(name) and name == name.strip():
        return None
    return N_("An app's name has 2 to 60 characters, none of them invisible.")


def problem_with_return_prefixes(prefixes: tuple[str, ...]) -> str | None:
    """Return a sentence where one of the prefixes is not valid, or they are too many."""
    if len(prefixes) > MAX_RETURN_PREFIXES:
        return N_(
            "An app has at most %(max_return_prefixes)s return addresses.",
            max_return_prefixes=MAX_RETURN_PREFIXES,
        )
    problems = (problem_with_return_prefix(prefix) for prefix in prefixes)
    return next((problem for problem in problems if problem), None)


def problem_with_return_prefix(prefix: str) -> str | None:
    """Return a sentence where return addresses may not begin like this.

    Allowed are https, http to a loopback or private address, and a scheme of the app's own.
    """
    if len(prefix) > MAX_RETURN_PREFIX_LENGTH:
        return N_(
            "A return address has at most %(max_return_prefix_length)s characters.",
            max_return_prefix_length=MAX_RETURN_PREFIX_LENGTH,
        )
    try:
        parts = urlsplit(prefix)
        _ = parts.port  # reading it raises where it is no number or out of range
    except ValueError:
        return N_("%(prefix)s is not an address.", prefix=prefix)
    if "://" not in prefix or not prefix.isprintable() or " " in prefix or "\\" in prefix:
        return N_("%(prefix)s is not an address.", prefix=prefix)
    if parts.username is not None or parts.query or parts.fragment:
        return N_(
            "%(prefix)s has user info, a query or a fragment; a return address has none.",
            prefix=prefix,
        )
    if not may_lead_back(parts.scheme, parts.hostname or ""):
        return N_(
            "%(prefix)s is neither https, nor http to a loopback or private address, nor a "
            "scheme of the app's own.",
            prefix=prefix,
        )
    return None


def is_near_address(host: str) -> bool:
    """True for an IP literal of this machine or of a private network, without brackets."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return any(address in network for network in _NEAR)


def is_own_scheme(scheme: str) -> bool:
    """True for a scheme, in lower case, that an app may claim for itself."""
    if not _SCHEME.fullmatch(scheme) or scheme.startswith(_SYSTEM_SCHEMES):
        return False
    return scheme not in _SCHEMES_WITH_A_MEANING


def is_anybodys_scheme(scheme: str) -> bool:
    """True for a scheme, in lower case, that nothing ties to one app: RFC 8252, 7.1.

    A reverse domain name is its domain's, and a few names belong to apps that are known.
    """
    return scheme not in {"http", "https"} and "." not in scheme and scheme not in KNOWN_APP_SCHEMES


def may_lead_back(scheme: str, host: str) -> bool:
    """Whether a return address may begin like this; both in lower case."""
    match scheme:
        case "https":
            return bool(host)
        case "http":
            return host == "localhost" or is_near_address(host)
        case _:
            return is_own_scheme(scheme)
