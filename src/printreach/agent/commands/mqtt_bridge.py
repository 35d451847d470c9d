"""MQTT over WebSocket, from the tunnel to the printer's own broker.

The WebSocket ends here: the bytes of its messages go to the broker unchanged, and the broker's
bytes come back in messages, whose boundaries mean nothing to MQTT.
"""

import asyncio
from collections.abc import Coroutine

from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from printreach.agent.commands.mqtt_connect import BadConnect, ConnectCompleter
from printreach.agent.commands.request import CommandRequest, bad_arguments
from printreach.contract.commands import CommandStatus
from printreach.languages import N_, in_english
from printreach.printers.connecting import MAX_MQTT_MESSAGE_BYTES, unverified_tls
from printreach.printers.port import MqttEndpoint, PrinterRefused
from printreach.tunnel.served import ServedStream
from printreach.wire.heads import encode_response, strip_hop_by_hop

CONNECT_S = 8.0
READ_BYTES = 64 * 1024
SUBPROTOCOL = Subprotocol("mqtt")

_DATA = (Opcode.BINARY, Opcode.TEXT, Opcode.CONT)
_HANDSHAKE = (b"Connection: Upgrade", b"Upgrade: websocket")


async def serve_mqtt(request: CommandRequest, endpoint: MqttEndpoint) -> None:
    """Serve one connection, from handshake to end. Raises PrinterRefused before it has begun."""
    stream = request.stream
    if not stream.is_upgrade:
        raise bad_arguments(N_("This address takes WebSocket connections, and nothing else."))
    websocket = ServerProtocol(subprotocols=[SUBPROTOCOL], max_size=MAX_MQTT_MESSAGE_BYTES)
    accepted = _shake_hands(websocket, request)
    reader, writer = await _connect(endpoint)
    try:
        await stream.respond(accepted, fin=False)
        completer = ConnectCompleter(endpoint.user, endpoint.password)
        pump = Pump(stream, websocket, writer, completer)
        await _first_of(pump.up(), pump.down(reader))
        await pump.end()
    finally:
        writer.close()


class Pump:
    """Copies the bytes of one connection in both directions, each with its own backpressure."""

    def __init__(
        self,
        stream: ServedStream,
        websocket: ServerProtocol,
        writer: asyncio.StreamWriter,
        completer: ConnectCompleter,
    ) -> None:
        self._stream = stream
        self._websocket = websocket
        self._writer = writer
        self._completer = completer

    async def up(self) -> None:
        """To the broker, until the caller ends it."""
        async for piece in self._stream.body():
            self._websocket.receive_data(piece)
            for event in self._websocket.events_received():
                if isinstance(event, Frame) and event.opcode in _DATA and event.data:
                    await self._pass_up(bytes(event.data))
            await self._flush()
            if self._websocket.state is not State.OPEN:
                return

    async def down(self, reader: asyncio.StreamReader) -> None:
        """To the caller, until the broker ends it."""
        while data := await _read(reader):
            if self._websocket.state is not State.OPEN:
                return
            self._websocket.send_binary(data)
            await self._flush()

    async def end(self) -> None:
        if self._websocket.state is State.OPEN:
            self._websocket.send_close(CloseCode.NORMAL_CLOSURE, "the printer ended it")
        await self._flush()
        await self._stream.send(b"", fin=True)

    async def _pass_up(self, data: bytes) -> None:
        try:
            passed_on = self._completer.feed(data)
        except BadConnect as exc:
            self._websocket.fail(CloseCode.PROTOCOL_ERROR, str(exc))
            return
        self._writer.write(passed_on)
        try:
            await self._writer.drain()
        except OSError:
            pass  # down() sees the end, and what the broker said before it

    async def _flush(self) -> None:
        for data in self._websocket.data_to_send():
            if data:
                await self._stream.send(data)


def _shake_hands(websocket: ServerProtocol, request: CommandRequest) -> bytes:
    """Return the head of the answer that accepts it. Raises PrinterRefused (751)."""
    fields = [b"%b: %b" % field for field in request.headers]
    lines = [b"GET / HTTP/1.1", *fields, *_HANDSHAKE, b"", b""]
    websocket.receive_data(b"\r\n".join(lines))
    handshake = next(iter(websocket.events_received()), None)
    if not isinstance(handshake, Request):
        raise bad_arguments(N_("The WebSocket handshake can't be read."))
    answer = websocket.accept(handshake)
    websocket.send_response(answer)
    websocket.data_to_send()  # the relay writes the head
    if answer.status_code != 101:
        raise bad_arguments(N_("The WebSocket handshake is not valid, or does not ask for mqtt."))
    headers = [(name.encode(), value.encode()) for name, value in answer.headers.raw_items()]
    return encode_response(101, b"Switching Protocols", strip_hop_by_hop(headers))


async def _connect(endpoint: MqttEndpoint) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    context = unverified_tls() if endpoint.tls else None
    try:
        async with asyncio.timeout(CONNECT_S):
            return await asyncio.open_connection(
                endpoint.host, endpoint.port, ssl=context, limit=READ_BYTES
            )
    except (OSError, TimeoutError) as exc:
        sentence = in_english(
            "The printer's broker at %(host)s can't be reached.", host=endpoint.host
        )
        raise PrinterRefused(CommandStatus.NOT_CONNECTED, sentence) from exc


async def _read(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read(READ_BYTES)
    except OSError:
        return b""


async def _first_of(*ways: Coroutine[object, object, None]) -> None:
    """Run all until one ends; the others are cancelled. Raises what that one raised."""
    tasks = [asyncio.create_task(way) for way in ways]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()
