"""The query with which an app opens the portal, and the parameters that it gets back."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlsplit

from printreach.rules.connections.credentials import AppSecrets
from printreach.rules.portal import ERROR_SENTENCES, PortalError

MAX_LOGO_URL_LENGTH: Final = 2048
MAX_PRINTER_ID_LENGTH: Final = 64
MIN_KEY_APP_NAME_LENGTH: Final = 2
MAX_KEY_APP_NAME_LENGTH: Final = 60

# What each name means, in lower case; others are ignored, apps in the field send several.
_APP_ID: Final = ("appid",)
_RETURN_URL: Final = ("returnurl",)
_PRINTER_ID: Final = ("printerid",)
_LOGO_URL: Final = ("applogourl",)
_KEY_APP_NAME: Final = ("hostapikeyappname", "octoprintapikeyappname")

# No IPv6: a Content-Security-Policy cannot name such a host; nor what means something there.
_LOGO_HOST: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]+)*")
_ASCII_PRINTABLE: Final = "".join(chr(code) for code in range(0x21, 0x7F))


@dataclass(frozen=True, kw_only=True, slots=True)
class PortalQuery:
    """The parameters, each None where it was left out or cannot be used.

    app_id is "" where it is missing or ambiguous. is_app_id_ambiguous, is_return_url_ambiguous:
    sent twice, with different values; the person can't be sent back then. is_ambiguous: another
    parameter was.
    """

    app_id: str
    return_url: str | None
    printer_id: str | None
    logo_url: str | None
    key_app_name: str | None
    is_app_id_ambiguous: bool = False
    is_return_url_ambiguous: bool = False
    is_ambiguous: bool = False


def parse_portal_query(pairs: Iterable[tuple[str, str]]) -> PortalQuery:
    """Parse the query. Names are case-insensitive; an empty value counts as left out."""
    given: dict[str, set[str]] = {}
    for name, value in pairs:
        if value.strip():
            given.setdefault(name.lower(), set()).add(value)
    app_ids, return_urls = _values(given, _APP_ID), _values(given, _RETURN_URL)
    others = [_values(given, names) for names in (_PRINTER_ID, _LOGO_URL, _KEY_APP_NAME)]
    printer_id, logo_url, key_app_name = (_only(values) for values in others)
    return PortalQuery(
        app_id=_only(app_ids) or "",
        return_url=_only(return_urls),
        printer_id=printer_id[:MAX_PRINTER_ID_LENGTH] if printer_id else None,
        logo_url=logo_url if logo_url and logo_origin(logo_url) else None,
        key_app_name=_key_app_name(key_app_name),
        is_app_id_ambiguous=len(app_ids) > 1,
        is_return_url_ambiguous=len(return_urls) > 1,
        is_ambiguous=any(len(values) > 1 for values in others),
    )


def logo_origin(logo_url: str) -> str | None:
    """Return the origin that a page has to let in to show this logo.

    None where it shall not be shown.
    """
    if len(logo_url) > MAX_LOGO_URL_LENGTH or not logo_url.isprintable() or "\\" in logo_url:
        return None
    try:
        parts = urlsplit(logo_url)
        port = parts.port
    except ValueError:
        return None
    host = parts.hostname or ""
    if parts.scheme != "https" or "@" in parts.netloc or not _LOGO_HOST.fullmatch(host):
        return None
    return f"https://{host}" if port is None else f"https://{host}:{port}"


def logo_address(logo_url: str) -> str:
    """Return the URL in ASCII, as it stands in a page."""
    return quote(logo_url, safe=_ASCII_PRINTABLE)


def _values(given: dict[str, set[str]], names: tuple[str, ...]) -> set[str]:
    return set().union(*(given.get(name, set()) for name in names))


def _only(values: set[str]) -> str | None:
    return next(iter(values)) if len(values) == 1 else None


def _key_app_name(given: str | None) -> str | None:
    # A name that no printer's software would take costs the key, not the connection.
    name = (given or "").strip()
    is_usable = MIN_KEY_APP_NAME_LENGTH <= len(name) <= MAX_KEY_APP_NAME_LENGTH
    return name if is_usable and name.isprintable() else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """A connection that was just made, with the secrets that are stored only as digests."""

    connection_id: str
    url: str
    printer_name: str
    printer_page_url: str
    printer_lan_ip: str | None
    secrets: AppSecrets
    host_api_key: str | None = None


def completion_parameters(done: Completion) -> dict[str, str]:
    """Return the names and texts of the completion URL's query.

    Published apps read the pair's names in lower case, and the key by the name of the first
    software that had one, so both spellings are there.
    """
    user, password = done.secrets.basic_user, done.secrets.basic_password
    parameters = {
        "success": "true",
        "id": done.connection_id,
        "url": done.url,
        "appApiToken": done.secrets.app_api_token,
        "printername": done.printer_name,
        "userPrinterAccessUrl": done.printer_page_url,
        "authBasicHttpUser": user,
        "authBasicHttpPassword": password,
        "authbasichttpuser": user,
        "authbasichttppassword": password,
        "authBearerToken": done.secrets.bearer_token,
    }
    if done.printer_lan_ip is not None:
        parameters["printerLastKnownLocalIp"] = done.printer_lan_ip
    if done.host_api_key is not None:
        parameters |= {"hostApiKey": done.host_api_key, "octoPrintApiKey": done.host_api_key}
    return parameters


def failure_parameters(error: PortalError) -> dict[str, str]:
    """Return the parameters for a flow that failed."""
    return {"success": "false", "error": error.value, "errorDescription": ERROR_SENTENCES[error]}
