"""Camera addresses as platforms write them: what is fetched, and what is shown. Pure."""

import re
from ipaddress import ip_address
from typing import Final
from urllib.parse import parse_qsl, unquote, urljoin, urlsplit, urlunsplit

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
