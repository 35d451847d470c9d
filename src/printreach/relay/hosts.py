"""The meaning of a Host: the service itself, a printer connection, or a host that isn't ours."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import quote, urlsplit

from printreach.contract.commands import OPEN_PATH
from printreach.rules.addresses import may_require_https
from printreach.rules.connections import ConnectionKind, Grant
from printreach.rules.own_paths import HOME, parse_printer_path

from .page_words import Reader


@dataclass(frozen=True, slots=True)
class OwnHost:
    """The service itself: dashboard, APIs, agents' tunnels."""


@dataclass(frozen=True, slots=True)
class DetectorHost:
    """The service by the name in the URLs of the failure-detection API."""


@dataclass(frozen=True, slots=True)
class PrinterHost:
    """A connection to a printer; unique_id may not exist."""

    unique_id: str


@dataclass(frozen=True, slots=True)
class ForeignHost:
    """A name that isn't ours, as in health checks by address."""


NamedHost = OwnHost | DetectorHost | PrinterHost | ForeignHost

DETECTOR_PATHS: Final = b"/api/detector/v1/"
"""The paths that are served on the host of the failure-detection API, which has no pages."""
_REMEMBERED: Final = 4096
_OWN: Final = OwnHost()
_DETECTOR: Final = DetectorHost()
_FOREIGN: Final = ForeignHost()


def name_without_port(host: bytes) -> str:
    """Lower case, without port and final dot; brackets of an IPv6 address stay."""
    name = host.decode("latin-1").lower()
    if name.startswith("["):
        return name.partition("]")[0] + "]"
    return name.partition(":")[0].removesuffix(".")


class Hosts:
    """Parses Host lines. They are compared without case and port; recent ones are cached."""

    def __init__(self, base_url: str, tunnel_domain: str, detector_url: str = "") -> None:
        """detector_url: of the failure-detection API, if it has a name of its own.

        require_https: whether browsers are told to use https for the hosts of connections.
        """
        parts = urlsplit(base_url)
        self.base_url = base_url.rstrip("/")
        self.printers_page = f"{self.base_url}/printers"
        self.unlock_page = f"{self.base_url}/remote-lock"
        self.scheme = parts.scheme
        self.require_https = may_require_https(base_url) and may_require_https(
            f"{parts.scheme}://{tunnel_domain}"
        )
        self._own = name_without_port(parts.netloc.encode())
        self._detector = name_without_port(urlsplit(detector_url or base_url).netloc.encode())
        self._suffix = "." + name_without_port(tunnel_domain.encode())
        self.named = lru_cache(_REMEMBERED)(self._named)

    def _named(self, host: bytes) -> NamedHost:
        name = name_without_port(host)
        if name == self._own:
            return _OWN
        if name == self._detector:
            return _DETECTOR
        if name.endswith(self._suffix):
            label = name[: -len(self._suffix)]
            if "." not in label:
                return PrinterHost(label)
        return _FOREIGN

    def are_ours(self, host: bytes, path: bytes) -> bool:
        """Return whether the web role serves this path on this host."""
        named = self.named(host)
        return named is _OWN or (named is _DETECTOR and path.startswith(DETECTOR_PATHS))

    def reader(self, grant: Grant | None, tunnel_port: int | None, target: bytes = b"/") -> Reader:
        """Return who reads a page of ours there. target: of the request, to come back to.

        The name of an own- host can't be guessed, so the page on it may name the printer. A port
        can be guessed: there only the owner's dashboard says which printer it is.
        """
        if grant is None:
            return Reader(printers_page=self.printers_page, unlock_page=self.unlock_page)
        path = f"{grant.printer_id}/open" if tunnel_port is None else f"open?port={tunnel_port}"
        at = parse_printer_path(target.partition(b"?")[0].decode("latin-1"))
        if at not in (HOME, OPEN_PATH.decode()):
            path += f"{'?' if tunnel_port is None else '&'}at={quote(at, safe='/')}"
        way_back = f"{self.printers_page}/{path}" if grant.kind is ConnectionKind.OWN else ""
        return Reader(
            printers_page=self.printers_page,
            unlock_page=self.unlock_page,
            kind=grant.kind,
            way_back=way_back,
        )

    def origin(self, host: bytes) -> str:
        """Return the Origin that a page of this host sends, without the scheme's default port."""
        shown = host.decode("latin-1").lower()
        default = ":443" if self.scheme == "https" else ":80"
        return f"{self.scheme}://{shown.removesuffix(default)}"
