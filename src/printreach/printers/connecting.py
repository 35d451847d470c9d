"""Connecting to a printer's web server on the local network."""

import asyncio
import ssl
from typing import Final

from printreach.http1.client import Connect
from printreach.rules.backoff import Backoff

RETRY: Final = Backoff.doubling(1.0, 15.0)
"""A printer that is switched on is found within a quarter of a minute."""


def unverified_tls() -> ssl.SSLContext:
    """TLS for printers: their certificates are their own, which nobody vouches for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # not the default: it loads authorities
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def connect_to(host: str, port: int, *, tls: bool, server_name: str | None = None) -> Connect:
    """Its certificate, where it has one, is one it made itself: it proves nothing, so none is
    asked for. server_name: what TLS calls it, where host is an address that was looked up."""
    loop = asyncio.get_running_loop()
    context = unverified_tls() if tls else None
    name = server_name if tls else None
    return lambda protocol: loop.create_connection(
        protocol, host, port, ssl=context, server_hostname=name
    )
