"""A stream served with `await`: for requests that a coroutine answers, those of the command API.

Requests to the printer's own web server take callbacks all the way (tunnel/stream.py).
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

from printreach.wire.errors import Reason
from printreach.wire.events import StreamOpened

from .stream import Stream


class StreamGone(Exception):
    """The stream has ended: no one waits for the answer any more."""


class ServedStream:
    """One stream opened by the other end: its body as an iterator, its answer by awaited calls.

    The task that serves it is given with `served_by`; it is cancelled when the caller disconnects,
    unless it has been before: what it undoes then is not cut short.
    """

    def __init__(self, stream: Stream, opened: StreamOpened) -> None:
        self._stream = stream
        self._pieces: deque[bytes] = deque([opened.body] if opened.body else [])
        self._has_all = opened.fin
        self._is_gone = False
        self._changed = asyncio.Event()
        self._task: asyncio.Task[Any] | None = None
        self.has_answered = False
        self.is_head = False  # a HEAD request: its answer ends with its head
        self.is_upgrade = opened.upgrade  # a WebSocket handshake: raw bytes follow a 101
        self.invites = False  # the caller waits for "100 Continue"
        stream.handler = self

    def served_by(self, task: asyncio.Task[Any]) -> None:
        self._task = task

    # --- the request ------------------------------------------------------------------------------

    async def body(self) -> AsyncIterator[bytes]:
        """Yield the request's body as it comes; credit is returned as pieces are consumed."""
        if self.invites and not self._has_all:
            self.invites = False
            self._stream.interim(b"100 Continue\r\n")
        while True:
            while self._pieces:
                piece = self._pieces.popleft()
                self._stream.taken(len(piece))
                yield piece
            if self._has_all:
                return
            await self._change()

    async def read(self, at_most: int) -> bytes | None:
        """Return the whole body; None when it is longer than at_most bytes."""
        content = bytearray()
        async for piece in self.body():
            content += piece
            if len(content) > at_most:
                return None
        return bytes(content)

    # --- the answer -------------------------------------------------------------------------------

    async def respond(self, head: bytes, body: bytes = b"", *, fin: bool) -> None:
        """Send the head, and the body or its beginning. Raises StreamGone."""
        self._require_open()
        self.has_answered = True
        if self.is_head:
            body, fin = b"", True
        if not self._stream.respond(head, body, fin=fin):
            await self._until_sent()

    async def send(self, data: bytes, *, fin: bool = False) -> None:
        """Send more of the body; returns when it may go on. Raises StreamGone."""
        self._require_open()
        if not self._stream.send(data, fin=fin):
            await self._until_sent()

    def break_off(self, text: str) -> None:
        """End an answer that was begun, so that it can't be mistaken for a whole one."""
        self._is_gone = True
        self._stream.reset(Reason.BROKEN, text)

    # --- StreamHandler ----------------------------------------------------------------------------

    def on_data(self, data: bytes, fin: bool) -> None:
        if data:
            self._pieces.append(data)
        self._has_all = fin
        self._changed.set()

    def on_writable(self) -> None:
        self._changed.set()

    def on_reset(self, _reason: Reason, _text: str) -> None:
        self._is_gone = True
        self._changed.set()
        if self._task is not None and not self._task.cancelling():
            self._task.cancel()

    def on_interim(self, _head: bytes) -> None:
        raise AssertionError("the session lets only agents answer")

    def on_head(self, _head: bytes, _body: bytes, _fin: bool) -> None:
        raise AssertionError("the session lets only agents answer")

    # --- helpers ----------------------------------------------------------------------------------

    def _require_open(self) -> None:
        if self._is_gone or not self._stream.is_open:
            raise StreamGone

    async def _until_sent(self) -> None:
        while self._stream.is_holding:
            self._require_open()
            await self._change()

    async def _change(self) -> None:
        self._changed.clear()
        if self._is_gone:
            raise StreamGone
        await self._changed.wait()
