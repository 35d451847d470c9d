"""A WebSocket to the service's own host, between its caller and the application."""

import asyncio
import logging
from collections import deque
from http import HTTPStatus

from websockets.datastructures import Headers as HandshakeHeaders
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request as Handshake
from websockets.http11 import Response as HandshakeAnswer
from websockets.protocol import Event, State
from websockets.server import ServerProtocol

from printreach.http1.heads import Request
from printreach.http1.request_ids import REQUEST_ID, SPAN
from printreach.rules.rate_limits import TokenBucket
from printreach.wire.heads import Headers

from .answering import AnswerWriter, encode_answer_fields
from .asgi import Application, Message, Scope, checked, tell_route
from .connection import FrontConnection
from .refusals import answer as answer_with

log = logging.getLogger(__name__)

MAX_MESSAGE_BYTES = 64 * 1024
MAX_UNPARSED_BYTES = 64 * 1024
"""Bytes that wait until the application asks, above which reading from the caller is paused."""
PARSED_BYTES = 512
"""The most bytes whose frames are parsed in a turn of the loop: up to 85, in half a millisecond."""
MAX_FRAMES = 1024
FRAME_EVERY_S = 0.01
"""A caller may send so many frames at once, and one more each time this passes. Programs that read
events send a ping every few seconds."""
MAX_REASON_BYTES = 123
"""As RFC 6455, section 5.5, has it for the text of a close."""
CLOSE_TIMEOUT_S = 5.0
"""The time in which a caller has to answer our close."""

_TEXT: Headers = [(b"Content-Type", b"text/plain; charset=utf-8")]
_FRAMING = frozenset({"connection", "content-length"})


class WebSocketCall:
    """One WebSocket; the handler of its caller's connection.

    Nothing of the caller's is parsed before the application asks for a message, and then a little
    in each turn of the loop: a frame costs much more than its bytes.
    """

    def __init__(self, caller: FrontConnection, request: Request) -> None:
        self._caller = caller
        self._writer = AnswerWriter(caller, request)
        self._handshake = _answer_to(request)
        self._protocol = ServerProtocol(state=State.OPEN, max_size=MAX_MESSAGE_BYTES)
        self._loop = asyncio.get_running_loop()
        self._frames = TokenBucket(MAX_FRAMES, FRAME_EVERY_S, self._loop.time())
        self._unparsed = bytearray()
        self._has_ended = False  # the caller's direction, after the unparsed bytes
        self._will_parse = False
        self._waiting: deque[Message] = deque([{"type": "websocket.connect"}])
        self._is_awaited = False  # the application waits for a message
        self._part = bytearray()  # of a message that isn't whole yet
        self._is_text = False
        self._is_accepted = False
        self._is_congested = False
        self._is_over = False  # the application can neither send nor receive any more
        self._changed = asyncio.Event()
        self._closing_timer: asyncio.TimerHandle | None = None
        self._scope: Scope  # of the running application

    def refuse_bad_handshake(self) -> bool:
        """Answer a handshake that can't be accepted; return whether it was one."""
        if self._handshake.status_code == 101:
            return False
        headers = [
            (name.encode("latin-1"), value.encode("latin-1"))
            for name, value in self._handshake.headers.raw_items()
            if name.lower() not in _FRAMING
        ]
        self._answer(self._handshake.status_code, headers, bytes(self._handshake.body))
        return True

    async def run(self, application: Application, scope: Scope) -> None:
        """Run the application to its end."""
        code = CloseCode.INTERNAL_ERROR
        REQUEST_ID.set(self._writer.request.request_id.decode("ascii"))
        SPAN.set(self._writer.request.span)
        self._scope = scope
        try:
            await application(scope, self._receive, self._send)
            code = CloseCode.NORMAL_CLOSURE
        except Exception:
            log.exception("the web role failed at a WebSocket")
        finally:
            self._end(code)

    # --- from the caller --------------------------------------------------------------------------

    def on_body(self, data: bytes, fin: bool) -> None:
        """Unused: a handshake has no body."""

    def on_raw(self, data: bytes) -> None:
        self._unparsed += data
        if len(self._unparsed) > MAX_UNPARSED_BYTES:
            self._caller.pause()
        self._parse_soon()

    def on_raw_end(self) -> None:
        self._has_ended = True
        self._parse_soon()

    def on_caller_writable(self) -> None:
        self._is_congested = False
        self._parse_soon()
        self._changed.set()

    def on_caller_gone(self) -> None:
        self._leave(CloseCode.ABNORMAL_CLOSURE)
        self._stop_timer()
        self._drop_unparsed()

    # --- from the application ---------------------------------------------------------------------

    async def _receive(self) -> Message:
        self._is_awaited = True
        try:
            while not self._waiting:
                self._parse_soon()
                await self._wait()
        finally:
            self._is_awaited = False
        if self._is_over and len(self._waiting) == 1:
            return self._waiting[0]  # the disconnect, which stays
        return self._waiting.popleft()

    async def _send(self, message: Message) -> None:
        if self._is_over:
            return
        match message["type"]:
            case "websocket.accept":
                tell_route(self._writer.request.span, self._scope)
                self._accept(message)
            case "websocket.send":
                text = message.get("text")
                if text is not None:
                    self._protocol.send_text(text.encode())
                else:
                    self._protocol.send_binary(message["bytes"])
                self._flush()
                while self._is_congested and not self._is_over:
                    await self._wait()
            case "websocket.close" if self._is_accepted:
                self._close(message.get("code", 1000), message.get("reason") or "")
            case "websocket.close":
                self._answer(403, _TEXT, b"This WebSocket was refused.\n")

    # --- helpers ----------------------------------------------------------------------------------

    async def _wait(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def _accept(self, message: Message) -> None:
        """Raises BrokenAnswer."""
        headers = checked(list(message.get("headers", ())))
        accepted = self._handshake.headers["Sec-WebSocket-Accept"].encode()
        headers.append((b"Sec-WebSocket-Accept", accepted))
        if message.get("subprotocol"):
            headers.append((b"Sec-WebSocket-Protocol", message["subprotocol"].encode()))
        self._is_accepted = True
        self._writer.upgrade(encode_answer_fields(101, headers), b"")
        self._caller.upgraded()

    def _parse_soon(self) -> None:
        if not self._will_parse and (self._unparsed or self._has_ended):
            self._will_parse = True
            self._loop.call_soon(self._parse)

    def _parse(self) -> None:
        """Parse until something has come; what follows it is left for later turns of the loop."""
        self._will_parse = False
        if self._is_congested or not (self._is_over or (self._is_awaited and not self._waiting)):
            return  # a congested caller could have us gather answers to its pings
        events: list[Event] = []
        while self._unparsed and not events:
            self._protocol.receive_data(bytes(self._unparsed[:PARSED_BYTES]))
            del self._unparsed[:PARSED_BYTES]
            events = self._protocol.events_received()
        if self._has_ended and not self._unparsed:
            self._has_ended = False
            self._protocol.receive_eof()
        if len(self._unparsed) <= MAX_UNPARSED_BYTES:
            self._caller.resume()
        self._take_all(events)
        self._parse_soon()

    def _take_all(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, Frame) and not self._is_over:
                self._take(event)
        if self._frames.reserve(self._loop.time(), len(events)):
            self._protocol.fail(CloseCode.POLICY_VIOLATION, "too many frames")
        self._flush()

    def _take(self, frame: Frame) -> None:
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY):
            self._is_text = frame.opcode is Opcode.TEXT
        elif frame.opcode is not Opcode.CONT:
            return
        self._part += frame.data
        if not frame.fin:
            return
        whole, self._part = bytes(self._part), bytearray()
        try:
            content = {"text": whole.decode()} if self._is_text else {"bytes": whole}
        except UnicodeDecodeError:
            self._protocol.fail(CloseCode.INVALID_DATA, "a text message has to be UTF-8")
            return
        self._waiting.append({"type": "websocket.receive", **content})
        self._changed.set()

    def _flush(self) -> None:
        """Write what the protocol has to say, and close the connection where that is the end."""
        pieces = self._protocol.data_to_send()
        data = b"".join(pieces)
        if data:
            self._is_congested = not self._caller.write(data)
        if b"" in pieces or self._protocol.state is State.CLOSED:
            closed = self._protocol.close_rcvd
            self._leave(CloseCode.ABNORMAL_CLOSURE if closed is None else closed.code)
            self._stop_timer()
            self._caller.close_raw()
            self._drop_unparsed()

    def _drop_unparsed(self) -> None:
        self._unparsed.clear()
        self._has_ended = False

    def _end(self, code: CloseCode) -> None:
        """End what the application has left open."""
        if self._is_over:
            return
        if self._is_accepted:
            self._close(code, "")
        else:
            self._answer(500, _TEXT, b"Something went wrong here.\n")

    def _close(self, code: int, reason: str) -> None:
        """Send a close; the connection ends when the caller has answered it, or after a while."""
        self._leave(code)
        shown = reason.encode()[:MAX_REASON_BYTES].decode(errors="ignore")
        self._protocol.send_close(code, shown)
        self._closing_timer = self._loop.call_later(CLOSE_TIMEOUT_S, self._caller.abort)
        self._flush()
        self._parse_soon()

    def _answer(self, status: int, headers: Headers, body: bytes) -> None:
        self._leave(CloseCode.ABNORMAL_CLOSURE)
        self._writer.keep_alive = False  # what follows the handshake may be frames already
        answer_with(self._writer, status, HTTPStatus(status).phrase.encode(), headers, body)

    def _stop_timer(self) -> None:
        if self._closing_timer is not None:
            self._closing_timer.cancel()

    def _leave(self, code: int) -> None:
        """Tell the application that nothing follows."""
        if not self._is_over:
            self._is_over = True
            self._waiting.append({"type": "websocket.disconnect", "code": code})
            self._changed.set()


def _answer_to(request: Request) -> HandshakeAnswer:
    fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers]
    target, method = request.target.decode("latin-1"), request.method.decode("ascii")
    return ServerProtocol().accept(Handshake(target, HandshakeHeaders(fields), method))
