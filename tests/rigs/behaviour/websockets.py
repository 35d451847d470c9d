"""The printer's WebSockets."""

import asyncio

from aiohttp import WSMsgType, web

from tests.rigs.behaviour.answers import query
from tests.rigs.behaviour.journal import Journal

PROTOCOLS = ("v2.printer", "mqtt")
LARGEST = 64 << 20


async def _accept(request: web.BaseRequest, *, compress: bool = True) -> web.WebSocketResponse:
    socket = web.WebSocketResponse(protocols=PROTOCOLS, max_msg_size=LARGEST, compress=compress)
    await socket.prepare(request)
    return socket


async def echo_socket(request: web.BaseRequest, journal: Journal) -> web.StreamResponse:
    """Send every message back as it came, and note the code that the caller closed with."""
    socket = await _accept(request)
    async for message in socket:
        if message.type is WSMsgType.TEXT:
            await socket.send_str(message.data)
        elif message.type is WSMsgType.BINARY:
            await socket.send_bytes(message.data)
    journal.note(query(request).get("key", ""), "closed", socket.close_code or 0)
    return socket


async def target_socket(request: web.BaseRequest, journal: Journal) -> web.StreamResponse:
    """Send the request's target and headers back as the first message."""
    socket = await _accept(request)
    await socket.send_json({"target": request.raw_path, "headers": dict(request.headers)})
    await socket.close()
    return socket


async def closing_socket(request: web.BaseRequest, journal: Journal) -> web.StreamResponse:
    """Close at once with ?code= and ?reason=."""
    arguments = query(request)
    socket = await _accept(request)
    await socket.close(code=int(arguments["code"]), message=arguments["reason"].encode())
    return socket


async def pinging_socket(request: web.BaseRequest, journal: Journal) -> web.StreamResponse:
    """Ping with ?payload= and say in a text message which pong came back."""
    socket = web.WebSocketResponse(autoping=False)
    await socket.prepare(request)
    await socket.ping(query(request)["payload"].encode())
    answer = await socket.receive(timeout=60)
    await socket.send_str(f"{answer.type.name} {answer.data.decode()}")
    await socket.close()
    return socket


async def fragmenting_socket(request: web.BaseRequest, journal: Journal) -> web.StreamResponse:
    """Send one text message in three frames, a ping between them."""
    socket = await _accept(request, compress=False)
    assert request.transport is not None
    for head, payload in ((0x01, b"one "), (0x89, b"ping"), (0x00, b"two "), (0x80, b"three")):
        request.transport.write(bytes((head, len(payload))) + payload)
        await asyncio.sleep(0.01)  # a packet each, or the kernel would join them
    await socket.close()
    return socket


async def refusing_socket(request: web.BaseRequest, journal: Journal) -> web.StreamResponse:
    """Refuse the handshake as the printer's own web server does."""
    return web.Response(status=403, text="not for you")
