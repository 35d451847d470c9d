"""Calls of webhooks, over HTTP to servers of strangers.

Each connection resolves its name, checks every address, and connects to one of exactly those:
between check and connect nothing is resolved again, so a name that changes in between changes
nothing. TLS is verified by the name. No redirect is followed, no proxy is used, and of an answer
only its status counts; a little of its body is read, so that the connection can be kept.
"""

import asyncio
import ssl
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache, partial
from ipaddress import ip_address
from typing import Final

from printreach import __version__
from printreach.backends.lookups import Lookup, is_own_address
from printreach.http1.client import Client, ExchangeFailure
from printreach.http1.heads import Response
from printreach.http1.tracing import Tracing
from printreach.languages import N_, in_english
from printreach.rules.public_addresses import Reach, parse_ip_address
from printreach.rules.webhooks import Outcome
from printreach.rules.webhooks.urls import WebhookTarget, address_problem, parse_webhook_url
from printreach.wire.heads import get

TIMEOUT_S: Final = 10.0
"""From the beginning to the head of the answer, however slowly its bytes come."""
LOOKUP_TIMEOUT_S: Final = 5.0
BODY_TIMEOUT_S: Final = 2.0
"""For the rest of an answer, whose status is known by then."""
MAX_BODY_BYTES: Final = 64 * 1024
CONNECT_TIMEOUT_S: Final = 3.0
"""To each address but the last."""
MAX_ADDRESSES: Final = 4
MAX_TARGETS: Final = 512
"""Targets whose connections are kept; beyond it the least recently used is evicted."""
MAX_RETRY_AFTER_DIGITS: Final = 7

_NOT_FOUND: Final = N_("its name leads to no address")


class AddressRefused(ValueError):
    """A name leads to an address that is not allowed."""


@dataclass(slots=True)
class _TargetClient:
    """A target's connections, and how many calls use them now."""

    client: Client
    in_use: int = 0


class WebhookHttp:
    """ports.WebhookSender."""

    def __init__(
        self,
        lookup: Lookup,
        reach: Reach,
        *,
        tls: ssl.SSLContext | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        self._tracing = tracing
        self._lookup = lookup
        self._parse = lru_cache(maxsize=MAX_TARGETS)(partial(parse_webhook_url, reach=reach))
        self._reach = reach
        self._tls = tls
        self._targets: OrderedDict[str, _TargetClient] = OrderedDict()

    async def close(self) -> None:
        """Close all connections; calls under way fail."""
        targets, self._targets = list(self._targets.values()), OrderedDict()
        for target in targets:
            await target.client.close()

    async def problem_with(self, url: str) -> str | None:
        target = self._parse(url)
        if isinstance(target, str):
            return target
        try:
            async with asyncio.timeout(LOOKUP_TIMEOUT_S):
                await self._addresses(target)
        except AddressRefused as refused:
            return in_english("WebhookUrl can't be called: %(why)s.", why=str(refused))
        except (OSError, UnicodeError):  # TimeoutError is an OSError
            return in_english("WebhookUrl can't be called: %(why)s.", why=_NOT_FOUND)
        return None

    async def send(
        self,
        url: str,
        headers: Sequence[tuple[str, str]],
        body: bytes,
        *,
        media_type: str = "application/json",
    ) -> Outcome:
        target = self._parse(url)
        if isinstance(target, str):
            return Outcome(http_status=None, duration_ms=0, error=target)
        message = _message(target, [("Content-Type", media_type), *headers], body)
        tracing = self._tracing
        span = None if tracing is None else tracing.begin_delivery(target.host, target.port)
        fault = "cancelled"
        try:
            async with self._client(target) as client:
                outcome = await _call(client, message)
            fault = "no_answer" if outcome.http_status is None else ""
            if span is not None and outcome.http_status is not None:
                span.answered(outcome.http_status)
            return outcome
        finally:
            if span is not None:
                span.end(fault)

    @asynccontextmanager
    async def _client(self, target: WebhookTarget) -> AsyncIterator[Client]:
        shared = self._targets.get(target.origin)
        if shared is None:
            shared = self._targets[target.origin] = _TargetClient(
                Client(partial(self._connect, target))
            )
        self._targets.move_to_end(target.origin)
        shared.in_use += 1
        try:
            yield shared.client
        finally:
            shared.in_use -= 1
            await self._forget_some()

    async def _forget_some(self) -> None:
        if len(self._targets) <= MAX_TARGETS:
            return
        idle = next((name for name, shared in self._targets.items() if not shared.in_use), None)
        if idle is not None:
            await self._targets.pop(idle).client.close()

    async def _connect(self, target: WebhookTarget, make: Callable[[], asyncio.Protocol]) -> object:
        """Connect to one of the checked addresses. Raises OSError and ValueError."""
        *others, last = (await self._addresses(target))[:MAX_ADDRESSES]
        for address in others:
            try:
                async with asyncio.timeout(CONNECT_TIMEOUT_S):
                    return await self._connect_at(address, target, make)
            except ssl.SSLError:
                raise
            except OSError:
                continue  # the next one may be up
        return await self._connect_at(last, target, make)

    async def _connect_at(
        self, address: str, target: WebhookTarget, make: Callable[[], asyncio.Protocol]
    ) -> object:
        return await asyncio.get_running_loop().create_connection(
            make,
            address,
            target.port,
            ssl=await self._tls_context() if target.is_tls else None,
            server_hostname=target.host.removesuffix(".") if target.is_tls else None,
        )

    async def _tls_context(self) -> ssl.SSLContext:
        """Return the context of all connections, which is made for the first one.

        Reading all the certificate authorities takes 30 ms and 2 MB.
        """
        if self._tls is None:
            self._tls = await asyncio.to_thread(ssl.create_default_context)
        return self._tls

    async def _addresses(self, target: WebhookTarget) -> Sequence[str]:
        """Return all addresses of the name. One that is not allowed refuses the name as a whole."""
        host = target.host
        addresses = [host] if parse_ip_address(host) else await self._lookup(host)
        if not addresses:
            raise OSError(_NOT_FOUND)
        for address in addresses:
            is_own = is_own_address(address)
            problem = address_problem(target, ip_address(address), self._reach, is_own=is_own)
            if problem is not None:
                raise AddressRefused(in_english("its name %(problem)s", problem=problem))
        return addresses


class _NoAnswer(Exception):
    """No answer came. The message is a sentence for people."""


class _Answer:
    """http1.client.Answer, of which only the status counts."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.head: asyncio.Future[Response] = loop.create_future()
        self.read: asyncio.Future[None] = loop.create_future()
        self._left = MAX_BODY_BYTES

    def on_interim(self, response: Response) -> None: ...

    def on_response(self, response: Response, body: bytes, fin: bool) -> None:
        if not self.head.done():
            self.head.set_result(response)
        self.on_body(body, fin)

    def on_body(self, data: bytes, fin: bool) -> None:
        self._left -= len(data)
        if (fin or self._left < 0) and not self.read.done():
            self.read.set_result(None)

    def on_writable(self) -> None: ...

    def on_failed(self, failure: ExchangeFailure, text: str) -> None:
        if not self.head.done():
            sentence = (
                in_english("The receiver can't be reached: %(why)s.", why=text)
                if failure is ExchangeFailure.UNREACHABLE
                else in_english("The receiver gave no answer: %(why)s.", why=text)
            )
            self.head.set_exception(_NoAnswer(sentence))
        if not self.read.done():
            self.read.set_result(None)


async def _call(client: Client, message: bytes) -> Outcome:
    loop, answer = asyncio.get_running_loop(), _Answer()
    started = loop.time()

    def took_ms() -> int:
        return round((loop.time() - started) * 1000)

    # If a kept connection was closed in between, the message is sent again: a receiver
    # recognises a repeat by its id.
    exchange = client.request(answer, b"POST", message, may_repeat=True)
    try:
        async with asyncio.timeout(TIMEOUT_S):
            response = await answer.head
        outcome = _outcome(response, took_ms())
        await asyncio.wait([answer.read], timeout=BODY_TIMEOUT_S)
        return outcome
    except TimeoutError:
        error = in_english(
            "The receiver gave no answer within %(seconds)s seconds.", seconds=f"{TIMEOUT_S:.0f}"
        )
        return Outcome(http_status=None, duration_ms=took_ms(), error=error)
    except _NoAnswer as failed:
        return Outcome(http_status=None, duration_ms=took_ms(), error=str(failed))
    finally:
        if not exchange.is_over:
            exchange.cancel()


def _outcome(response: Response, duration_ms: int) -> Outcome:
    error = None
    if 300 <= response.status < 400:
        error = in_english(
            "The receiver answered %(status)s, and redirects are not followed.",
            status=response.status,
        )
    return Outcome(
        http_status=response.status,
        duration_ms=duration_ms,
        error=error,
        retry_after=_retry_after(response),
    )


def _retry_after(response: Response) -> timedelta | None:
    """Return the delay in seconds; a date is ignored, since the other clock is unknown."""
    seconds = get(response.headers, b"retry-after")
    if seconds is None or not seconds.isdigit() or len(seconds) > MAX_RETRY_AFTER_DIGITS:
        return None
    return timedelta(seconds=int(seconds))


def _message(target: WebhookTarget, headers: Sequence[tuple[str, str]], body: bytes) -> bytes:
    if not all(value.isprintable() for _, value in headers):
        raise ValueError("a header has a line end or the like in it")
    lines = [
        f"POST {target.path} HTTP/1.1",
        f"Host: {target.host_header}",
        f"User-Agent: Printreach/{__version__}",
        "Accept: */*",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in headers),
    ]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body
