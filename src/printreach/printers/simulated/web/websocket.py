"""WebSocket connections: the websockets library's sans-IO protocol on a stream of ours."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from websockets.datastructures import Headers
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol

from printreach.http1.messages import Answer, Call
from printreach.http1.stream import ByteStream, ClientGone

MAX_MESSAGE_BYTES = 16 << 20
_PING_EVERY_S = 20.0
_SILENT_S = 50.0
"""A client whose machine is gone says nothing, not even goodbye."""
_GOODBYE_S = 2.0
_FRAMING = frozenset({b"connection", b"content-length"})

Talk = Callable[["WebSocket"], Awaitable[None]]


def accept_websocket(call: Call, talk: Talk) -> Answer:
    """Answer a handshake; after a good one `talk` has the connection."""
    request = [
        (name.decode("latin-1"), value.decode("latin-1")) for name, value in call.head.headers
    ]
    handshake = ServerProtocol()
    response = handshake.accept(Request(call.head.target.decode("latin-1"), Headers(request)))
    headers = [(k.encode("latin-1"), v.encode("latin-1")) for k, v in response.headers.raw_items()]
    if response.status_code != 101:
        headers = [field for field in headers if field[0].lower() not in _FRAMING]
        return Answer(status=response.status_code, headers=headers, body=bytes(response.body))

    async def upgraded(stream: ByteStream) -> None:
        await WebSocket(stream).run(talk)

    return Answer(status=101, headers=headers, upgraded=upgraded)


class WebSocket:
    """The server's end of an open connection: whole messages in and out."""

    def __init__(self, stream: ByteStream) -> None:
        # The handshake is over, so the protocol begins with the first frame.
        self._protocol = ServerProtocol(state=State.OPEN, max_size=MAX_MESSAGE_BYTES)
        self._stream = stream
        self._arrived: deque[str | bytes] = deque()
        self._parts: list[bytes] = []
        self._is_text = False

    async def run(self, talk: Talk) -> None:
        """Talk until either side ends it, then say goodbye."""
        pinging = asyncio.create_task(self._ping())
        try:
            await talk(self)
            if self._protocol.state is State.OPEN:
                self._protocol.send_close(CloseCode.NORMAL_CLOSURE)
                await self._flush()
            while await self.receive() is not None:
                pass
        except (ClientGone, TimeoutError):
            pass  # gone without a goodbye: nothing is owed
        finally:
            pinging.cancel()

    async def receive(self) -> str | bytes | None:
        """Return the next message; None when no more will come."""
        while not self._arrived:
            if self._protocol.state is State.CLOSED:
                return None
            await self._receive_some()
        return self._arrived.popleft()

    async def send(self, message: str | bytes) -> None:
        """Raises ClientGone when the connection is closed or closing."""
        if self._protocol.state is not State.OPEN:
            raise ClientGone("the WebSocket is closing")
        if isinstance(message, str):
            self._protocol.send_text(message.encode())
        else:
            self._protocol.send_binary(message)
        await self._flush()

    async def _receive_some(self) -> None:
        is_open = self._protocol.state is State.OPEN
        async with asyncio.timeout(_SILENT_S if is_open else _GOODBYE_S):
            data = await self._stream.receive()
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._take(event)
        await self._flush()

    def _take(self, frame: Frame) -> None:
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY):
            self._is_text = frame.opcode is Opcode.TEXT
        elif frame.opcode is not Opcode.CONT:
            return
        self._parts.append(bytes(frame.data))
        if not frame.fin:
            return
        message, self._parts = b"".join(self._parts), []
        try:
            self._arrived.append(message.decode() if self._is_text else message)
        except UnicodeDecodeError:
            self._protocol.fail(CloseCode.INVALID_DATA, "a text message has to be UTF-8")

    async def _flush(self) -> None:
        pieces = self._protocol.data_to_send()
        if data := b"".join(pieces):
            await self._stream.send(data)
        if b"" in pieces:
            self._stream.end()

    async def _ping(self) -> None:
        try:
            while self._protocol.state is State.OPEN:
                await asyncio.sleep(_PING_EVERY_S)
                if self._protocol.state is State.OPEN:
                    self._protocol.send_ping(b"")
                    await self._flush()
        except ClientGone:
            pass  # the one who receives is told too
