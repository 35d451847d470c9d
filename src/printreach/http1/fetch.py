"""An HTTP client with `await`: for adapters and cameras, where a coroutine is worth its cost.

It is built on the callback client; every wait has a deadline, and bodies are read on demand.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from printreach.languages import in_english
from printreach.wire.heads import Headers, encode_fields, get

from .client import Client, ClientExchange, Connect, ExchangeFailure
from .heads import Response

READ_TIMEOUT_S = 30.0
"""The time-out for the next byte of an answer that is being read."""
MAX_FETCHED_BYTES = 8 * 1024 * 1024


class FetchFailed(Exception):
    """There was no whole answer. The message ends a sentence: `it can't be reached: …`."""

    def __init__(self, failure: ExchangeFailure, text: str) -> None:
        super().__init__(text)
        self.failure = failure
        self.text = text


class AnswerTooLarge(FetchFailed):
    """The answer is larger than the caller accepts."""

    def __init__(self, at_most: int) -> None:
        super().__init__(
            ExchangeFailure.BROKEN, in_english("the answer is over %(most)s bytes", most=at_most)
        )
        self.at_most = at_most


@dataclass(frozen=True, slots=True)
class FetchedAnswer:
    """A whole answer."""

    status: int
    headers: Headers
    body: bytes

    def header(self, name_lower: bytes) -> bytes | None:
        return get(self.headers, name_lower)


class Fetcher:
    """Sends requests to one web server. host: the value of the Host line.

    connect: opens connections, or is a client that several fetchers share; close() closes it for
    all of them.
    """

    def __init__(
        self, connect: Connect | Client, host: bytes, *, first_byte_s: float = 20.0
    ) -> None:
        if not isinstance(connect, Client):
            connect = Client(connect, first_byte_s=first_byte_s)
        self._client = connect
        self._host = host

    async def close(self) -> None:
        await self._client.close()

    async def fetch(
        self,
        method: bytes,
        target: bytes,
        headers: Headers = [],  # noqa: B006  # never changed
        body: bytes = b"",
        *,
        at_most: int = MAX_FETCHED_BYTES,
        may_repeat: bool = False,
    ) -> FetchedAnswer:
        """Send a request and read the whole answer, at_most bytes of body. Raises FetchFailed.

        may_repeat: the request may be sent twice, so a kept connection is used for any method.
        """
        sized = [*headers]
        if body or method in (b"POST", b"PUT", b"PATCH"):
            sized.append((b"Content-Length", b"%d" % len(body)))
        async with self._ask(method, target, sized, body, None, may_repeat=may_repeat) as answer:
            return FetchedAnswer(answer.status, answer.headers, await answer.whole(at_most))

    @asynccontextmanager
    async def open(
        self,
        method: bytes,
        target: bytes,
        headers: Headers = [],  # noqa: B006  # never changed
    ) -> AsyncIterator["OpenAnswer"]:
        """Send a request and read the answer as it comes. Leaving early closes the connection."""
        async with self._ask(method, target, headers, b"", None) as answer:
            yield answer

    @asynccontextmanager
    async def send(
        self,
        method: bytes,
        target: bytes,
        headers: Headers,
        chunks: AsyncIterable[bytes],
        *,
        length: int | None,
    ) -> AsyncIterator["OpenAnswer"]:
        """Send a request with a body in pieces. length: of the whole; None sends it in chunks."""
        if length is not None:
            headers = [*headers, (b"Content-Length", b"%d" % length)]
        else:
            headers = [*headers, (b"Transfer-Encoding", b"chunked")]
        async with self._ask(
            method, target, headers, b"", chunks, chunked=length is None
        ) as answer:
            yield answer

    @asynccontextmanager
    async def _ask(
        self,
        method: bytes,
        target: bytes,
        headers: Headers,
        body: bytes,
        chunks: AsyncIterable[bytes] | None,
        *,
        chunked: bool = False,
        may_repeat: bool = False,
    ) -> AsyncIterator["OpenAnswer"]:
        answer = OpenAnswer()
        fields = encode_fields([(b"Host", self._host), *headers])
        head = b"%b %b HTTP/1.1\r\n%b\r\n" % (method, target, fields)
        if may_repeat:
            head, body = head + body, b""  # in one piece, so that it can be repeated
        exchange = self._client.request(
            answer,
            method,
            head,
            body=body,
            fin=chunks is None,
            chunked=chunked,
            may_repeat=may_repeat,
        )
        answer.begin(exchange)
        try:
            if chunks is not None:
                await answer.send_all(chunks)
            await answer.head()
            yield answer
        finally:
            if not exchange.is_over:
                exchange.cancel()


class OpenAnswer:
    """An answer that is being received."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: Headers = []
        self._exchange: ClientExchange
        self._chunks: deque[bytes] = deque()
        self._is_complete = False
        self._failure: FetchFailed | None = None
        self._changed = asyncio.Event()
        self._writable = asyncio.Event()

    def begin(self, exchange: ClientExchange) -> None:
        self._exchange = exchange

    async def head(self) -> None:
        """Wait for status and headers, until the client's own deadline. Raises FetchFailed."""
        while not self.status and self._failure is None:
            await self._change()
        if not self.status and self._failure is not None:
            raise self._failure

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes. Raises FetchFailed when it breaks off or stalls."""
        while True:
            while self._chunks:
                yield self._chunks.popleft()
            if self._is_complete:
                return
            if self._failure is not None:
                raise self._failure
            self._exchange.resume()
            try:
                async with asyncio.timeout(READ_TIMEOUT_S):
                    await self._change()
            except TimeoutError:
                text = in_english("nothing came for %(seconds)s s", seconds=f"{READ_TIMEOUT_S:.0f}")
                raise FetchFailed(ExchangeFailure.TIMED_OUT, text) from None

    async def whole(self, at_most: int) -> bytes:
        """Return the whole body. Raises FetchFailed, AnswerTooLarge if it is over at_most bytes."""
        body = bytearray()  # a list of chunks would take far more where those are small
        async for chunk in self.chunks():
            body += chunk
            if len(body) > at_most:
                raise AnswerTooLarge(at_most)
        return bytes(body)

    async def send_all(self, chunks: AsyncIterable[bytes]) -> None:
        """Send a body. Sending ends when an answer comes early."""
        async for chunk in chunks:
            if self.status or self._failure is not None:
                return
            self._writable.clear()
            if not self._exchange.send(chunk, fin=False):
                await self._until_writable()
        self._exchange.send(b"", fin=True)

    async def _until_writable(self) -> None:
        while not self._writable.is_set() and not self.status and self._failure is None:
            await self._change()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    # --- http1.client.AnswerHandler -------------------------------------------------------------

    def on_interim(self, response: Response) -> None: ...

    def on_response(self, response: Response, body: bytes, fin: bool) -> None:
        self.status, self.headers = response.status, response.headers
        self.on_body(body, fin)

    def on_body(self, data: bytes, fin: bool) -> None:
        if data:
            self._chunks.append(data)
        self._is_complete = fin
        if not fin:
            self._exchange.pause()
        self._changed.set()

    def on_writable(self) -> None:
        self._writable.set()
        self._changed.set()

    def on_failed(self, failure: ExchangeFailure, text: str) -> None:
        self._failure = FetchFailed(failure, text)
        self._changed.set()
