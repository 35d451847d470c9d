"""The HTTP client of one person or program, at an address of its own, with its tally."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Self

import aiohttp

TIMEOUT_S = 60.0


class Unexpected(Exception):
    """The response is not the expected one; the message describes it."""


@dataclass
class Tally:
    """The outcomes of one kind of visit. taken_ms: of successful ones."""

    taken_ms: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class Caller:
    """Keeps cookies as a browser does. Every host is reached at the service's port."""

    def __init__(self, client: aiohttp.ClientSession, port: int, host: str) -> None:
        self._client = client
        self._port = port
        self._host = host
        self._cookies: dict[str, str] = {}

    @classmethod
    @asynccontextmanager
    async def at(cls, address: str, port: int, host: str) -> AsyncIterator[Self]:
        """address: the caller's own, on loopback. host: that of the service."""
        connector = aiohttp.TCPConnector(local_addr=(address, 0), limit=0)
        client = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
        async with client:
            yield cls(client, port, host)

    async def ask(
        self,
        method: str,
        path: str,
        *,
        status: int = 200,
        host: str = "",
        headers: Mapping[str, str] | None = None,
        data: bytes | Mapping[str, str] | None = None,
        json: object = None,
    ) -> bytes:
        """Return the body of the response. Raises Unexpected for any other status."""
        async with self.opened(
            method, path, status=status, host=host, headers=headers, data=data, json=json
        ) as answer:
            return await answer.read()

    @asynccontextmanager
    async def opened(
        self,
        method: str,
        path: str,
        *,
        status: int = 200,
        host: str = "",
        headers: Mapping[str, str] | None = None,
        data: bytes | Mapping[str, str] | None = None,
        json: object = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Yield the response once its head is here. data: a body, or the fields of a form."""
        async with self._client.request(
            method,
            f"http://127.0.0.1:{self._port}{path}",
            headers=self._headers(method, host, headers or {}),
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=None, connect=TIMEOUT_S, sock_read=TIMEOUT_S),
            data=data,
            json=json,
        ) as answer:
            if not host:
                self._keep_cookies(answer)
            if answer.status != status:
                text = (await answer.text())[:200]
                raise Unexpected(f"{method} {path} was answered {answer.status}: {text}")
            yield answer

    @asynccontextmanager
    async def websocket(
        self, path: str, host: str, headers: Mapping[str, str]
    ) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        url = f"http://127.0.0.1:{self._port}{path}"
        async with self._client.ws_connect(url, headers={"Host": host, **headers}) as socket:
            yield socket

    def _headers(self, method: str, host: str, more: Mapping[str, str]) -> dict[str, str]:
        if host:
            return {"Host": host, **more}
        headers = {"Host": self._host, "Accept": "text/html", **more}
        if self._cookies:
            headers["Cookie"] = "; ".join(f"{key}={value}" for key, value in self._cookies.items())
        if method == "POST":
            headers["Origin"] = f"http://{self._host}"
        return headers

    def _keep_cookies(self, answer: aiohttp.ClientResponse) -> None:
        for name, morsel in answer.cookies.items():
            if morsel.value and morsel["max-age"] != "0":
                self._cookies[name] = morsel.value
            else:
                self._cookies.pop(name, None)


async def repeat(
    tally: Tally, every_s: float, ends_at: float, visit: Callable[[], Awaitable[None]]
) -> None:
    """Repeat the visit until that time, with a pause of every_s in between."""
    while (began := time.monotonic()) < ends_at:
        try:
            await visit()
            tally.taken_ms.append(1e3 * (time.monotonic() - began))
        except (Unexpected, aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            tally.faults.append(f"{type(error).__name__}: {error}")
        await asyncio.sleep(min(every_s, max(0.0, ends_at - time.monotonic())))
