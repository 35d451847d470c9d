"""Requests and TLS handshakes of checks, to the addresses that a lookup gives."""

import asyncio
import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final
from urllib.parse import SplitResult, urlsplit

from printreach.backends.lookups import Lookup
from printreach.http1.fetch import FetchedAnswer, Fetcher
from printreach.wire.heads import Headers

_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, kw_only=True, slots=True)
class WebProbe:
    """Asks web servers. look_up: finds addresses. tls: decides which certificates are valid."""

    look_up: Lookup
    tls: ssl.SSLContext = field(default_factory=ssl.create_default_context)

    async def addresses(self, host: str) -> list[str]:
        """Return the addresses of a host. Raises OSError if there are none."""
        if is_of_this_machine(host):
            return ["127.0.0.1", "::1"]  # RFC 6761, 6.3
        return list(await self.look_up(host))

    async def get(self, url: str, headers: Headers | None = None) -> FetchedAnswer:
        """Fetch a page. Raises FetchFailed, and OSError if its host has no address."""
        parts = urlsplit(url)
        [first, *_] = await self.addresses(parts.hostname or "")
        tls = self.tls if parts.scheme == "https" else None
        loop = asyncio.get_running_loop()
        fetcher = Fetcher(
            lambda protocol: loop.create_connection(
                protocol,
                first,
                port_of(parts),
                ssl=tls,
                server_hostname=parts.hostname if tls else None,
            ),
            parts.netloc.encode(),
        )
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        try:
            return await fetcher.fetch(b"GET", target.encode() or b"/", headers or [])
        finally:
            await fetcher.close()

    async def certificate_ends_at(self, url: str) -> datetime:
        """Return when the certificate expires. Raises OSError, and so SSLError if it is invalid."""
        parts = urlsplit(url)
        [first, *_] = await self.addresses(parts.hostname or "")
        _, writer = await asyncio.open_connection(
            first, port_of(parts), ssl=self.tls, server_hostname=parts.hostname
        )
        try:
            certificate = writer.get_extra_info("peercert")
        finally:
            writer.transport.abort()
        return datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)


def is_of_this_machine(host: str) -> bool:
    """Return whether a name leads to this machine without DNS."""
    return host == "localhost" or host.endswith(".localhost")


def port_of(parts: SplitResult) -> int:
    return parts.port or _PORTS[parts.scheme]
