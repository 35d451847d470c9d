"""The webhook URLs that are allowed.

Strict on purpose: an address that two programs could parse in two ways is refused, not repaired.
The addresses of a name are checked when it is resolved, again for each connection.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from printreach.languages import N_, in_english
from printreach.rules.public_addresses import IpAddress, Reach, is_public, parse_ip_address

MAX_URL_LENGTH: Final = 2048
REMEMBERED: Final = 512
"""URLs whose parts are remembered, since each attempt needs them: a megabyte at most."""

_DEFAULT_PORTS: Final = {"https": 443, "http": 80}
_PLAIN: Final = re.compile(r"[!-~]+")
"""Printable ASCII without a blank; other characters have to be percent-encoded."""
_AUTHORITY: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::([0-9]{1,5}))?")
_LABEL: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")
"""A last label that programs take for a number, and the host then for an IPv4 address."""
_MAX_NAME_LENGTH: Final = 253


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookTarget:
    """A parsed webhook URL.

    host: a name in lower case or an IP address, without brackets. path: with its query, as given.
    """

    is_tls: bool
    host: str
    port: int
    path: str

    @property
    def origin(self) -> str:
        """Scheme, host and port: the unit that is slow or down."""
        return f"{'https' if self.is_tls else 'http'}://{self._host_in_url}:{self.port}"

    @property
    def host_header(self) -> str:
        """The value of `Host`."""
        is_default = self.port == _DEFAULT_PORTS["https" if self.is_tls else "http"]
        return self._host_in_url if is_default else f"{self._host_in_url}:{self.port}"

    @property
    def _host_in_url(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


def parse_webhook_url(url: str, reach: Reach) -> WebhookTarget | str:
    """Return the target of a WebhookUrl, or a sentence that says why it is refused.

    reach: private addresses, by plain http too, are let through where it has networks.
    """
    target = _parsed(url, allow_plain=reach.allows_plain_http)
    if isinstance(target, str):
        return target
    address = parse_ip_address(target.host)
    problem = None if address is None else address_problem(target, address, reach)
    return target if problem is None else in_english("WebhookUrl %(problem)s.", problem=problem)


def address_problem(
    target: WebhookTarget, address: IpAddress, reach: Reach, *, is_own: bool = False
) -> str | None:
    """Return why the target may not be called at that address; None where it may.

    is_own: it is one of this machine's.
    """
    if reach.allows(address, target.port, is_plain=not target.is_tls, is_own=is_own):
        return None
    if is_public(address):
        return N_("leads to a public address, which is called by https alone")
    return N_("leads to an address that isn't public")


@lru_cache(maxsize=REMEMBERED)
def _parsed(url: str, *, allow_plain: bool) -> WebhookTarget | str:
    if not url:
        return N_("WebhookUrl is empty.")
    if len(url) > MAX_URL_LENGTH:
        return in_english(
            "WebhookUrl is longer than %(most)s characters.", most=f"{MAX_URL_LENGTH:,}"
        )
    if not _PLAIN.fullmatch(url) or "\\" in url:
        return N_("WebhookUrl has a character that has to be percent-encoded.")
    scheme, separator, rest = url.partition("://")
    is_tls = scheme.lower() == "https"
    if not separator or not (is_tls or (allow_plain and scheme.lower() == "http")):
        return N_("WebhookUrl must begin with https://.")
    if "#" in rest:
        return N_("WebhookUrl has a fragment, which no server is ever sent.")
    authority = re.split(r"[/?]", rest, maxsplit=1)[0]
    place = _read_authority(authority, _DEFAULT_PORTS["https" if is_tls else "http"])
    if isinstance(place, str):
        return place
    host, port = place
    problem = _problem_with(host)
    if problem is not None:
        return problem
    path = rest[len(authority) :]
    return WebhookTarget(
        is_tls=is_tls, host=host, port=port, path=path if path.startswith("/") else f"/{path}"
    )


def target_of(url: str) -> WebhookTarget:
    """Parse a URL that was accepted before; under which setting doesn't matter.

    Raises ValueError for a URL that never was.
    """
    target = _parsed(url, allow_plain=True)
    if isinstance(target, str):
        raise ValueError(target)
    return target


def place_to_show(url: str) -> str:
    """Return the host, without anything of the URL that may be secret."""
    return urlsplit(url).hostname or ""


def _read_authority(authority: str, default_port: int) -> tuple[str, int] | str:
    if "@" in authority:
        return N_("WebhookUrl must not carry a user or a password.")
    found = _AUTHORITY.fullmatch(authority)
    if found is None:
        return N_("WebhookUrl names no host that can be called.")
    host = (found[1] or found[2]).lower()
    port = int(found[3]) if found[3] else default_port
    if not 1 <= port <= 65535:
        return N_("WebhookUrl names a port that does not exist.")
    if found[1] and ":" not in host:
        return N_("WebhookUrl names no host that can be called.")
    return host, port


def _problem_with(host: str) -> str | None:
    if parse_ip_address(host) is not None:
        return None
    labels = host.removesuffix(".").split(".")
    if ":" in host or _NUMBER.fullmatch(labels[-1]):
        # 2130706433, 0x7f.1 and 0177.0.0.1 are all spellings of a loopback address.
        return N_("WebhookUrl spells an IP address in an unusual way.")
    if len(host) > _MAX_NAME_LENGTH or not all(_LABEL.fullmatch(label) for label in labels):
        return N_("WebhookUrl names no host that can be called.")
    return None
