"""Connecting to a printer's web server on the local network."""

import asyncio
import ssl
from typing import Final

from printreach.http1.client import Connect
from printreach.rules.backoff import Backoff

RETRY: Final = Backoff.doubling(1.0, 15.0)
"""A printer that is switched on is found within 15 s."""
MAX_MQTT_MESSAGE_BYTES: Final = 4 * 1024 * 1024
"""A hundred times the longest report of a printer."""


def unverified_tls() -> ssl.SSLContext:
    """TLS for printers: their certificates are self-signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # not the default: it loads authorities
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def connect_to(host: str, port: int, *, tls: bool, server_name: str | None = None) -> Connect:
    """Return a function that connects.

    The certificate is not checked: a printer's is self-signed and proves nothing. server_name: the
    TLS name, where host is an address that was looked up.
    """
    loop = asyncio.get_running_loop()
    context = unverified_tls() if tls else None
    name = server_name if tls else None
    return lambda protocol: loop.create_connection(
        protocol, host, port, ssl=context, server_hostname=name
    )
