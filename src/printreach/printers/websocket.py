"""WebSockets to a printer, and the printer's end of one: the websockets library's protocol, on a
connection of ours.

Messages are bounded and every wait has an end, since what is at the other end is a printer that may
be switched off, frozen, or say anything.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol as Interface
from typing import cast

from websockets.client import ClientProtocol
from websockets.datastructures import Headers as HandshakeHeaders
from websockets.exceptions import InvalidHandshake, InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import Protocol, State
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

from printreach.http1.client import Connect, reason_of
from printreach.http1.messages import Answer, Call
from printreach.http1.stream import ByteStream
from printreach.languages import N_, in_english
from printreach.wire.heads import Headers

MAX_MESSAGE_BYTES = 8 * 1024 * 1024
OPEN_S = 10.0
SEND_S = 10.0
PING_AFTER_S = 10.0
BUFFERED_BYTES = 64 * 1024
PARSED_BYTES = 4 * 1024
"""The most bytes whose frames are parsed in one turn of the loop: up to 2048, which take 5 ms."""
_FRAMING = frozenset({b"connection", b"content-length"})


class WebSocketFailed(Exception):
    """There is no connection, or no more. The message ends a sentence.

    status: the HTTP status with which the handshake was refused, else None.
    """

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.status = status


@asynccontextmanager
async def websocket(
    connect: Connect,
    url: str,
    headers: Headers = [],  # noqa: B006  # never changed
    *,
    at_most: int = MAX_MESSAGE_BYTES,
) -> AsyncIterator["WebSocket"]:
    """Open a WebSocket. url: `ws://host:port/target`, whatever connect does about TLS.

    at_most: bytes of a message; a longer one ends the connection. Raises WebSocketFailed.
    """
    opened: WebSocket | None = None
    protocol = ClientProtocol(parse_uri(url), max_size=at_most)
    try:
        async with asyncio.timeout(OPEN_S):
            opened = WebSocket(protocol, await _connect(connect))
            await opened.shake_hands(protocol, headers)
    except TimeoutError:
        raise WebSocketFailed(
            in_english("no WebSocket within %(seconds)s s", seconds=f"{OPEN_S:.0f}")
        ) from None
    except (OSError, ValueError) as exc:  # ValueError: a name that no name server could have
        raise WebSocketFailed(reason_of(exc)) from exc
    finally:
        if opened is not None and not opened.is_open:
            opened.abort()
    try:
        yield opened
    finally:
        opened.close()


def accept_websocket(call: Call, serve: Callable[["WebSocket"], Awaitable[None]]) -> Answer:
    """Answer a handshake. After a good one `serve` has the connection, until it returns or lets
    WebSocketFailed pass.
    """
    request = [
        (name.decode("latin-1"), value.decode("latin-1")) for name, value in call.head.headers
    ]
    handshake = Request(call.head.target.decode("latin-1"), HandshakeHeaders(request))
    response = ServerProtocol().accept(handshake)
    headers = [(k.encode("latin-1"), v.encode("latin-1")) for k, v in response.headers.raw_items()]
    if response.status_code != 101:
        headers = [field for field in headers if field[0].lower() not in _FRAMING]
        return Answer(status=response.status_code, headers=headers, body=bytes(response.body))

    async def upgraded(stream: ByteStream) -> None:
        # The handshake is over, so the protocol begins with the first frame.
        protocol = ServerProtocol(state=State.OPEN, max_size=MAX_MESSAGE_BYTES)
        socket = WebSocket(protocol, stream)
        try:
            await serve(socket)
        except WebSocketFailed:
            pass  # the client has left
        finally:
            socket.close()

    return Answer(status=101, headers=headers, upgraded=upgraded)


class MessageReader:
    """Joins frames into messages, at either end. arrived: those not yet taken.

    Bytes of a text that are no UTF-8 are replaced.
    """

    def __init__(self, protocol: Protocol) -> None:
        self.arrived: deque[str | bytes] = deque()
        self._protocol = protocol
        self._unfinished = bytearray()
        self._is_text = False

    def feed(self, data: bytes) -> None:
        """Take what the connection brought; no bytes are its end."""
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._take(event)

    def _take(self, frame: Frame) -> None:
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY):
            self._is_text = frame.opcode is Opcode.TEXT
        elif frame.opcode is not Opcode.CONT:
            return
        self._unfinished += frame.data
        if frame.fin:
            message, self._unfinished = bytes(self._unfinished), bytearray()
            self.arrived.append(message.decode(errors="replace") if self._is_text else message)


class Connection(Interface):
    """The bytes under a WebSocket. Those that wait raise OSError when it is lost."""

    async def receive(self) -> bytes:
        """Return the next bytes; none at the end."""
        ...

    async def send(self, data: bytes) -> None: ...
    def write(self, data: bytes) -> None: ...
    def close(self) -> None: ...
    def abort(self) -> None: ...


class WebSocket:
    """An open connection, at either end. One task receives; any may send."""

    def __init__(self, protocol: Protocol, connection: Connection) -> None:
        self._protocol = protocol
        self._connection = connection
        self._messages = MessageReader(protocol)

    @property
    def is_open(self) -> bool:
        return self._protocol.state is State.OPEN

    async def shake_hands(self, protocol: ClientProtocol, headers: Headers) -> None:
        """protocol: the one it was made with."""
        request = protocol.connect()
        for name, value in headers:
            request.headers[name.decode("latin-1")] = value.decode("latin-1")
        protocol.send_request(request)
        await self._flush()
        while protocol.state is State.CONNECTING:
            await self._read()
            if protocol.handshake_exc is not None:
                raise _refused(protocol.handshake_exc)

    async def receive(self, silence_s: float) -> str | bytes:
        """Return the next message.

        silence_s: without a byte for so long, the connection is given up; a ping after 10 s asks
        for one. Raises WebSocketFailed.
        """
        silent_s = 0.0
        while not self._messages.arrived:
            if not self.is_open:
                raise WebSocketFailed(_goodbye(self._protocol))
            wait_s = min(PING_AFTER_S, silence_s - silent_s)
            try:
                async with asyncio.timeout(wait_s):
                    await self._read()
            except TimeoutError:
                silent_s += wait_s
                if silent_s >= silence_s:
                    raise WebSocketFailed(
                        in_english("nothing came for %(seconds)s s", seconds=f"{silence_s:.0f}")
                    ) from None
                self._protocol.send_ping(b"")
                await self._flush()
            else:
                silent_s = 0.0
        return self._messages.arrived.popleft()

    async def send(self, message: str | bytes) -> None:
        """Raises WebSocketFailed."""
        if not self.is_open:
            raise WebSocketFailed(N_("the connection is closed"))
        if isinstance(message, str):
            self._protocol.send_text(message.encode())
        else:
            self._protocol.send_binary(message)
        await self._flush()

    def close(self) -> None:
        """Say goodbye and leave, without waiting for an answer."""
        if self.is_open:
            self._protocol.send_close()
            self._connection.write(self._unsent())
        self._connection.close()

    def abort(self) -> None:
        self._connection.abort()

    async def _read(self) -> None:
        """Take what comes next. Raises WebSocketFailed when that is the end."""
        await asyncio.sleep(0)  # reading doesn't wait while bytes are there
        try:
            data = await self._connection.receive()
        except OSError as exc:
            raise WebSocketFailed(reason_of(exc)) from exc
        self._messages.feed(data)
        if self._protocol.state is State.OPEN:
            await self._flush()
        elif self._protocol.handshake_exc is None:
            self._connection.write(self._unsent())
            if not self._messages.arrived:
                raise WebSocketFailed(_goodbye(self._protocol))

    async def _flush(self) -> None:
        try:
            async with asyncio.timeout(SEND_S):
                await self._connection.send(self._unsent())
        except TimeoutError:
            raise WebSocketFailed(N_("the printer takes nothing any more")) from None
        except OSError as exc:
            raise WebSocketFailed(reason_of(exc)) from exc

    def _unsent(self) -> bytes:
        return b"".join(self._protocol.data_to_send())


class _ClientConnection:
    """The connection to a printer."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.write = writer.write
        self.close = writer.close
        self.abort = writer.transport.abort
        self._drain = writer.drain

    async def receive(self) -> bytes:
        return await self._reader.read(PARSED_BYTES)

    async def send(self, data: bytes) -> None:
        self.write(data)
        await self._drain()


async def _connect(connect: Connect) -> _ClientConnection:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=BUFFERED_BYTES)
    protocol = asyncio.StreamReaderProtocol(reader)
    opened = cast("tuple[asyncio.Transport, object]", await connect(lambda: protocol))
    return _ClientConnection(reader, asyncio.StreamWriter(opened[0], protocol, reader, loop))


def _refused(exc: Exception) -> WebSocketFailed:
    if isinstance(exc, InvalidStatus):
        status = exc.response.status_code
        refused = in_english("the WebSocket was refused with %(status)s", status=status)
        return WebSocketFailed(refused, status)
    return WebSocketFailed(
        N_("the answer to the handshake is no WebSocket")
        if isinstance(exc, InvalidHandshake)
        else N_("the answer to the handshake ended")
    )


def _goodbye(protocol: Protocol) -> str:
    if protocol.close_rcvd is not None:
        code, reason = protocol.close_rcvd.code, protocol.close_rcvd.reason[:100]
        said = f"{code}: {reason}" if reason else str(code)
        return in_english("the WebSocket was closed (%(said)s)", said=said)
    if protocol.close_sent is not None:
        return in_english(
            "the WebSocket broke the protocol (%(number)s)", number=protocol.close_sent.code
        )
    return N_("the connection ended")
