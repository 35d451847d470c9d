"""The addresses of cameras: how platforms write them, and hosts from which pictures are fetched.

Apps with access to OctoPrint or Moonraker can write any address into the list of webcams there. The
agent must not fetch it for them from other machines of the local network. So it fetches only from
the printer itself, its own machine, and hosts that its owner has allowed.
"""

import asyncio
import logging
import re
import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final
from urllib.parse import parse_qsl, unquote, urljoin, urlsplit, urlunsplit

from printreach.contract.commands import CommandStatus
from printreach.languages import in_english

from .port import PrinterRefused, no_picture

RESOLVE_WITHIN_S: Final = 5.0
MAX_LOGGED: Final = 32
_PORT: Final = 9
"""Any port serves where only the route of a socket is needed."""

log = logging.getLogger(__name__)

HARMLESS: Final = frozenset(
    {
        *("action", "camera", "cam", "channel", "chn", "fps", "framerate", "delay", "every_n"),
        *("quality", "resolution", "size", "width", "height", "rotate", "rotation", "flip"),
        *("advance_headers",),
    }
)
"""Parameters of MJPEG servers (mjpg-streamer, µStreamer, camera-streamer, motionEye, ESP32-CAM,
Axis), in lower case. None of them is a credential."""
TOKEN_CHARS: Final = 8
_PLAIN_VALUE = re.compile(r"[A-Za-z_./-]{0,15}([0-9]{1,5}([.x_][0-9]{1,5})?)?")
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_./~ -]*")
_DIGITS = re.compile(r"[0-9]+")
_WEB_PORT = 80
_MJPEG_TWINS = {"webrtc": "stream", "stream.html": "stream", "stream.webrtc": "stream"}


def candidates(url: str, host: str, port: int, *, tls: bool) -> list[str]:
    """Return where a camera may be, the likeliest first; nowhere for what is no URL.

    url: absolute, or relative to the page that people see. That page is at the printer's address,
    or at the usual port of the same machine where the agent was given another port. What a platform
    calls localhost is the machine it runs on, which need not be the agent's.
    """
    try:
        return _candidates(url.strip(), f"[{host}]" if ":" in host else host, port, tls=tls)
    except ValueError:
        return []


def shown_url(url: str | None) -> str | None:
    """Return the address as apps and guests may read it; None for one that may hold a secret.

    User info and fragment are cut off, which leaves the address of the camera. Anything else that
    may be a secret can't be cut off without making it another address. So a query is shown only
    where each of its parameters is known to be harmless, and a path only where it has no
    assignments and no part that may be a token.
    """
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        query = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        return None
    path = unquote(parts.path)
    if not _PLAIN_PATH.fullmatch(path) or any(map(_may_be_token, path.split("/"))):
        return None
    if not all(name.lower() in HARMLESS and _PLAIN_VALUE.fullmatch(value) for name, value in query):
        return None
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=host, fragment=""))


def _may_be_token(segment: str) -> bool:
    """Return whether a part of a path mixes letters and digits as no word does."""
    return len(segment) >= TOKEN_CHARS and len(_DIGITS.findall(segment)) > 1


def _candidates(url: str, host: str, port: int, *, tls: bool) -> list[str]:
    bases = [f"{'https' if tls else 'http'}://{host}:{port}/"]
    if port != _WEB_PORT:
        bases.append(f"http://{host}/")
    parts = urlsplit(url)
    if parts.netloc:
        bases = bases[:1]
    if parts.port == 0:
        return []
    return [_mjpeg(_seen_from_here(urljoin(base, url), host)) for base in bases]


def _seen_from_here(url: str, host: str) -> str:
    parts = urlsplit(url)
    if not _is_loopback(parts.hostname or "") or _is_loopback(host.strip("[]")):
        return url
    user_info, at, _ = parts.netloc.rpartition("@")
    port = f":{parts.port}" if parts.port is not None else ""
    return urlunsplit(parts._replace(netloc=f"{user_info}{at}{host}{port}"))


def _mjpeg(url: str) -> str:
    """camera-streamer offers WebRTC at one address and MJPEG beside it."""
    parts = urlsplit(url)
    folder, slash, page = parts.path.rpartition("/")
    twin = _MJPEG_TWINS.get(page)
    return url if twin is None else urlunsplit(parts._replace(path=f"{folder}{slash}{twin}"))


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class CameraHosts:
    """The allowed hosts. printer: its host, as the agent connects. allowed: names and networks."""

    def __init__(self, printer: str, allowed: Iterable[str] = ()) -> None:
        self._printer = printer
        self._names = {_name(printer), "localhost"}
        self._networks: list[IPv4Network | IPv6Network] = []
        self._logged: set[str] = set()
        for host in allowed:
            try:
                self._networks.append(ip_network(host))
            except ValueError:
                self._names.add(_name(host))

    async def address_of(self, host: str) -> str:
        """Return where to connect for a camera at this host. Raises PrinterRefused.

        A name is resolved here and its address is what the agent connects to: between two look-ups
        the answer could change.
        """
        if _name(host) in self._names:
            return host
        for address in await _resolve(host):
            if await self._may_ask(address):
                return address
        raise self._refused(host)

    async def _may_ask(self, text: str) -> bool:
        address = _plain(text)
        if address.is_loopback or address.is_unspecified or is_own_address(str(address)):
            return True
        if any(address in network for network in self._networks):
            return True
        return address in map(_plain, await _resolve(self._printer))

    def _refused(self, host: str) -> PrinterRefused:
        sentence = in_english(
            "The camera is at %(host)s, which is neither the printer nor the agent's machine."
            " Whoever runs the agent can allow it there with --camera-host %(host)s.",
            host=host,
        )
        if host not in self._logged and len(self._logged) < MAX_LOGGED:
            self._logged.add(host)
            log.warning("%s", sentence)
        return PrinterRefused(CommandStatus.NOT_CONNECTED, sentence)


def is_own_address(address: str) -> bool:
    """Return whether it is this machine's address: packets to it would have it as source."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, _PORT))  # sends nothing
            return _plain(str(probe.getsockname()[0])) == _plain(address)
    except OSError:
        return False


def _name(host: str) -> str:
    return host.rstrip(".").lower()


def _plain(address: str) -> IPv4Address | IPv6Address:
    """Return an IPv4 address that is written as an IPv6 one as the IPv4 address."""
    parsed = ip_address(address)
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return mapped or parsed


async def _resolve(host: str) -> list[str]:
    """Return the addresses of a name, or the one that it is. Raises PrinterRefused."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(RESOLVE_WITHIN_S):
            addresses = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except TimeoutError:
        reason = in_english(
            "%(host)s was not found in %(seconds)s s",
            host=host,
            seconds=f"{RESOLVE_WITHIN_S:.0f}",
        )
    except (OSError, UnicodeError):
        reason = in_english("%(host)s was not found", host=host)
    else:
        return [str(address[0]) for *_, address in addresses]
    raise no_picture(reason) from None
