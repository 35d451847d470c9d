"""The service's own host if the web role runs in this process: its ASGI application is called.

There is neither a socket nor another thread between the two, which would cost more than all the
rest of a small answer.
"""

import asyncio
import logging
from collections.abc import Callable
from email.utils import format_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING

from printreach.http1.request_ids import REQUEST_ID, SPAN
from printreach.ports import Clock
from printreach.wire.heads import REQUEST_ID_FIELD, Headers, get

from .answering import AnswerWriter, BrokenAnswer, encode_answer_fields
from .asgi import Application, Message, Scope, checked, scope_of, tell_route
from .caller_origin import Origin
from .connection import IncomingRequest
from .refusals import answer as answer_with

if TYPE_CHECKING:
    from .web_socket import WebSocketCall

log = logging.getLogger(__name__)

UNREAD_BYTES = 128 * 1024
"""Unread bytes of a body above which reading from the caller is paused."""

_REASONS = {status.value: status.phrase.encode() for status in HTTPStatus}
_BODILESS = frozenset({204, 304})
_READS = frozenset({b"GET", b"HEAD"})


class WebApp:
    """Answers requests by an application that runs in this event loop."""

    def __init__(self, application: Application, clock: Clock) -> None:
        self._application = application
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._calls: set[asyncio.Task[None]] = set()
        self._date = b""
        self._date_until = 0.0

    async def close(self) -> None:
        """End running calls; their answers are broken off."""
        for task in self._calls:
            task.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)

    def serve(self, incoming: IncomingRequest, origin: Origin) -> "WebCall | WebSocketCall | None":
        """Serve a request. None: it has been answered already."""
        request = incoming.request
        incoming.caller.account_id = ""
        call: WebCall | WebSocketCall
        if request.upgrade is None:
            call = WebCall(incoming, self._date_line)
        else:
            call = _web_socket_call(incoming)
            if call.refuse_bad_handshake():
                return None
        task = self._loop.create_task(call.run(self._application, scope_of(request, origin)))
        if isinstance(call, WebCall) and request.method in _READS:
            call.ends_with_caller(task)
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)
        return call

    def _date_line(self) -> bytes:
        """Return the value of `Date`, which has whole seconds and is formatted once for each."""
        now = self._loop.time()
        if now >= self._date_until:
            at = self._clock.now()
            self._date = format_datetime(at, usegmt=True).encode()
            self._date_until = now + 1 - at.microsecond / 1e6
        return self._date


def _web_socket_call(incoming: IncomingRequest) -> "WebSocketCall":
    from .web_socket import WebSocketCall  # few installations have an app that follows events

    return WebSocketCall(incoming.caller, incoming.request)


class WebCall:
    """One request to the application, and its answer."""

    __slots__ = (
        "_caller",
        "_changed",
        "_date_line",
        "_expects_continue",
        "_head",
        "_is_congested",
        "_is_listening",
        "_is_over",
        "_is_read",
        "_is_sent",
        "_scope",
        "_task",
        "_unread",
        "_writer",
    )

    def __init__(self, incoming: IncomingRequest, date_line: Callable[[], bytes]) -> None:
        self._caller = incoming.caller
        self._writer = AnswerWriter(incoming.caller, incoming.request)
        self._date_line = date_line
        self._expects_continue = incoming.request.expects_continue and not incoming.body
        self._unread = incoming.body
        self._is_sent = incoming.fin  # the whole body has come
        self._is_read = False  # and the application has it
        self._is_over = False  # the answer is whole, or the caller has left
        self._is_congested = False
        self._is_listening = False  # the application waits for the caller
        self._head: tuple[int, Headers] | None = None
        self._changed: asyncio.Event | None = None  # made at the first wait
        self._task: asyncio.Task[None] | None = None  # of a read
        self._scope: Scope  # of the running application

    def ends_with_caller(self, task: asyncio.Task[None]) -> None:
        """Have the work of a request that changes nothing end if its caller leaves.

        An application that waits for the caller, or has begun its answer, is told instead, and
        ends what it has open.
        """
        self._task = task

    async def run(self, application: Application, scope: Scope) -> None:
        """Run the application to its end, which may be long after its answer."""
        REQUEST_ID.set(self._writer.request.request_id.decode("ascii"))
        SPAN.set(self._writer.request.span)
        self._scope = scope
        try:
            await application(scope, self._receive, self._send)
        except BrokenAnswer as fault:
            log.error("the web role gave an invalid answer: %s", fault)
        except Exception:
            log.exception("the web role failed")
        finally:
            self._break_off()

    # --- from the caller --------------------------------------------------------------------------

    def on_body(self, data: bytes, fin: bool) -> None:
        self._unread = self._unread + data if self._unread else data
        self._is_sent = fin
        self._expects_continue = False
        if len(self._unread) > UNREAD_BYTES:
            self._caller.pause()
        self._wake()

    def on_raw(self, data: bytes) -> None:
        """Unused: upgrades don't come here."""

    def on_raw_end(self) -> None:
        """Unused, too."""

    def on_caller_writable(self) -> None:
        self._is_congested = False
        self._wake()

    def on_caller_gone(self) -> None:
        self._is_over = True
        self._unread = b""
        if self._task is not None and self._head is None and not self._is_listening:
            self._task.cancel()
        self._wake()

    # --- from the application ---------------------------------------------------------------------

    async def _receive(self) -> Message:
        if self._expects_continue and not self._writer.is_started:
            self._expects_continue = False
            self._writer.interim(100, b"Continue", b"")
        while not (self._is_over or self._has_body()):
            self._is_listening = True
            try:
                await self._wait()
            finally:
                self._is_listening = False
        if self._is_over:
            return {"type": "http.disconnect"}
        body, self._unread = self._unread, b""
        self._is_read = self._is_sent
        self._caller.resume()
        return {"type": "http.request", "body": body, "more_body": not self._is_read}

    async def _send(self, message: Message) -> None:
        if self._is_over:
            return
        if message["type"] == "http.response.start":
            tell_route(self._writer.request.span, self._scope)
            self._head = (message["status"], list(message.get("headers", ())))
            return
        fin = not message.get("more_body", False)
        self._write(bytes(message.get("body", b"")), fin=fin)
        while self._is_congested and not self._is_over:
            await self._wait()

    # --- helpers ----------------------------------------------------------------------------------

    def _has_body(self) -> bool:
        return not self._is_read and (self._is_sent or bool(self._unread))

    async def _wait(self) -> None:
        if self._changed is None:
            self._changed = asyncio.Event()
        self._changed.clear()
        await self._changed.wait()

    def _wake(self) -> None:
        if self._changed is not None:
            self._changed.set()

    def _write(self, body: bytes, *, fin: bool) -> None:
        """Raises BrokenAnswer."""
        writer = self._writer
        if self._head is None:
            raise BrokenAnswer("a body comes before its head")
        status, headers = self._head
        if writer.request.method == b"HEAD" or status in _BODILESS:
            body = b""
        if writer.is_started:
            self._is_congested = not writer.body(body, fin=fin)
        else:
            headers = checked(headers)
            length = _length(headers)
            if get(headers, b"date") is None:
                headers.append((b"Date", self._date_line()))
            headers.append((REQUEST_ID_FIELD, writer.request.request_id))
            if not self._is_sent:
                writer.keep_alive = False
            reason = _REASONS.get(status, b"")
            fields = encode_answer_fields(status, headers)
            writable = writer.start(status, reason, fields, length, body, fin=fin)
            self._is_congested = not writable
        if fin:
            self._is_over = True
            self._wake()

    def _break_off(self) -> None:
        """Break off an answer that the application has left open."""
        if self._is_over:
            return
        self._is_over = True
        if self._writer.is_started:
            self._caller.abort()
            return
        self._writer.keep_alive = self._writer.keep_alive and self._is_sent
        headers: Headers = [(b"Content-Type", b"text/plain; charset=utf-8")]
        text = b"Something went wrong here.\n"
        answer_with(self._writer, 500, b"Internal Server Error", headers, text)


def _length(headers: Headers) -> int | None:
    value = get(headers, b"content-length")
    if value is not None and not value.isdigit():
        raise BrokenAnswer(f"a length of {value!r}")
    return None if value is None else int(value)
