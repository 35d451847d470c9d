"""Addresses of cameras as platforms write them, turned into ones that the agent can ask. Pure."""

from ipaddress import ip_address
from urllib.parse import urljoin, urlsplit, urlunsplit

_WEB_PORT = 80
_MJPEG_TWINS = {"webrtc": "stream", "stream.html": "stream", "stream.webrtc": "stream"}


def candidates(url: str, host: str, port: int, *, tls: bool) -> list[str]:
    """Where a camera may be, the likeliest first; nowhere for what is no URL.

    url: absolute, or relative to the page that people see. That page is at the printer's address,
    or at the usual port of the same machine where the agent asks a port behind it. What a platform
    calls localhost is the machine it runs on, which need not be the agent's.
    """
    try:
        return _candidates(url.strip(), f"[{host}]" if ":" in host else host, port, tls=tls)
    except ValueError:
        return []


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
