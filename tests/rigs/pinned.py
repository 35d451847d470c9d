"""aiohttp, the library of many apps, with its resolver pinned to loopback."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from tests.rigs.ways import Way


class Loopback(AbstractResolver):
    """Every name is this machine: Python's own resolver knows no *.localhost."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Answer without asking anybody."""
        return [
            ResolveResult(
                hostname=host, host="127.0.0.1", port=port, family=socket.AF_INET, proto=0, flags=0
            )
        ]

    async def close(self) -> None:
        """Hold nothing."""


@asynccontextmanager
async def pinned_session(way: Way) -> AsyncIterator[aiohttp.ClientSession]:
    """A session that sends the way's credentials with every request."""
    connector = aiohttp.TCPConnector(resolver=Loopback(), ssl=way.tls or True)
    timeout = aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(
        way.url, connector=connector, headers=dict(way.credentials), timeout=timeout
    ) as session:
        yield session
