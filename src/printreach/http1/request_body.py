"""The body of a request, read on demand."""

import asyncio
from dataclasses import dataclass
from typing import Final

from .heads import BadMessage, Request
from .server_core import ANSWER, ServerCore
from .stream import ByteStream, ClientGone

_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class BodyLimits:
    """Limits on a request's body. max_bytes: of one body. timeout_s: until its next byte."""

    max_bytes: int = 1 << 30
    timeout_s: float = 30.0


class BodyTooLarge(Exception):
    """A request body is over its limit; answered with 413 unless the handler catches it."""


class RequestBody:
    """The body of one request: iterate over it once, or read it whole.

    A client that waits for "100 Continue" gets it with the first read, so a handler that answers
    without reading refuses the upload before it is sent.
    Raises BadMessage for malformed chunks and a client that stops sending, BodyTooLarge, and
    ClientGone.
    """

    def __init__(
        self, stream: ByteStream, core: ServerCore, head: Request, limits: BodyLimits
    ) -> None:
        self._stream = stream
        self._core = core
        self._is_complete = core.state is ANSWER
        self._announced = head.length
        self._room = limits.max_bytes
        self._timeout_s = limits.timeout_s
        self._continue_is_due = head.expects_continue

    async def read(self, max_bytes: int) -> bytes:
        """Return the whole body. Raises BodyTooLarge if it is over max_bytes."""
        self._room = min(self._room, max_bytes)
        return b"".join([piece async for piece in self])

    def __aiter__(self) -> "RequestBody":
        return self

    async def __anext__(self) -> bytes:
        if self._announced > self._room:
            raise BodyTooLarge
        while not self._is_complete:
            await self._continue()
            piece = self._core.next_body()
            self._is_complete = self._core.state is ANSWER
            if piece:
                self._take_room(len(piece))
                return piece
            if not self._is_complete:
                self._core.receive(await self._receive())
        raise StopAsyncIteration

    async def _continue(self) -> None:
        if self._continue_is_due:
            self._continue_is_due = False
            await self._stream.send(_CONTINUE)

    async def _receive(self) -> bytes:
        try:
            async with asyncio.timeout(self._timeout_s):
                data = await self._stream.receive()
        except TimeoutError:
            raise BadMessage(408, "The body of the request stopped coming.") from None
        if not data:
            raise ClientGone("the client went away inside its request's body")
        return data

    def _take_room(self, size: int) -> None:
        self._room -= size
        self._announced = max(0, self._announced - size)
        if self._room < 0:
            raise BodyTooLarge
