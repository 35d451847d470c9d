"""Sentences for the log when settings of addresses do not fit each other."""

from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from printreach.run.settings import PREFIX, Settings

_HTTPS_PORT = 443
_HTTP_PORT = 80


def address_warnings(settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield what an operator has to set so that links lead to this service.

    environ: tells which settings were given; what was given is taken as meant.
    """
    if settings.listen_port == 0:
        return  # the system picks one, which nobody knows yet
    reached = _reached_at(settings, environ)
    if not _is_given(environ, "BASE_URL") and f"http://{reached}" != settings.base_url:
        yield (
            f"PRINTREACH_BASE_URL is not set, so links to pages lead to {settings.base_url}, but"
            f" the service listens on port {settings.listen_port}."
            f" Set PRINTREACH_BASE_URL=http://{reached}, or to the address that people open."
        )
    if settings.tunnel_ports or _is_given(environ, "TUNNEL_DOMAIN"):
        return
    if reached != settings.tunnel_domain:
        yield (
            "PRINTREACH_TUNNEL_DOMAIN is not set, so links to printers and shares lead to"
            f" {settings.tunnel_domain}, but the service is at {reached}. {_mend(reached)}"
        )


def _reached_at(settings: Settings, environ: Mapping[str, str]) -> str:
    """The host and port that people dial; without a base URL, where the service listens."""
    if not _is_given(environ, "BASE_URL"):
        return f"localhost:{settings.listen_port}"
    split = urlsplit(settings.base_url)
    usual = _HTTPS_PORT if split.scheme == "https" else _HTTP_PORT
    return f"{split.hostname}:{split.port or usual}"


def _mend(reached: str) -> str:
    if reached.startswith("localhost:"):
        return f"Set PRINTREACH_TUNNEL_DOMAIN={reached}."
    return (
        "Set it to a domain whose subdomains all lead to this service, or set"
        " PRINTREACH_TUNNEL_PORTS where there is no such domain."
    )


def _is_given(environ: Mapping[str, str], name: str) -> bool:
    return bool(environ.get(PREFIX + name, "").strip())
