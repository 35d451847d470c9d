"""WebSocket connections: the websockets library's sans-IO protocol on a stream of ours."""

import asyncio
from collections.abc import Awaitable, Callable

from websockets.datastructures import Headers
from websockets.frames import CloseCode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol

from printreach.http1.messages import Answer, Call
from printreach.http1.stream import ByteStream, ClientGone
from printreach.printers.websocket import MessageReader

MAX_MESSAGE_BYTES = 16 << 20
_PING_AFTER_S = 20.0
"""A client whose machine is gone says nothing, not even goodbye; two silences of this are one."""
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
        self._reader = MessageReader(self._protocol)
        self._stream = stream
        self._is_pinged = False

    @property
    def is_open(self) -> bool:
        return self._protocol.state is State.OPEN

    async def run(self, talk: Talk) -> None:
        """Talk until either side ends it, then say goodbye."""
        try:
            await talk(self)
            if self.is_open:
                self._protocol.send_close(CloseCode.NORMAL_CLOSURE)
                await self._flush()
            while await self.receive() is not None:
                pass
        except ClientGone:
            pass  # gone without a goodbye: nothing is owed

    async def receive(self) -> str | bytes | None:
        """Return the next message; None when no more will come. Pings a client that is silent."""
        while not self._reader.arrived:
            if self._protocol.state is State.CLOSED:
                return None
            try:
                async with asyncio.timeout(_PING_AFTER_S if self.is_open else _GOODBYE_S):
                    data = await self._stream.receive()
            except TimeoutError:
                if self._is_pinged or not self.is_open:
                    raise ClientGone("the client is silent") from None
                self._protocol.send_ping(b"")
                self._is_pinged = True
            else:
                self._reader.feed(data)
                self._is_pinged = False
            await self._flush()
        return self._reader.arrived.popleft()

    async def send(self, message: str | bytes) -> None:
        """Raises ClientGone when the connection is closed or closing."""
        if not self.is_open:
            raise ClientGone("the WebSocket is closing")
        if isinstance(message, str):
            self._protocol.send_text(message.encode())
        else:
            self._protocol.send_binary(message)
        await self._flush()

    async def _flush(self) -> None:
        pieces = self._protocol.data_to_send()
        if data := b"".join(pieces):
            await self._stream.send(data)
        if b"" in pieces:
            self._stream.end()
