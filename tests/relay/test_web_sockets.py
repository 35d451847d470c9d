"""WebSockets to our own host, answered by an ASGI application of the same process."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_network

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Opcode
from websockets.typing import Subprotocol

from printreach.relay import web_socket
from printreach.relay.asgi import Application, Message, Receive, Scope, Send
from printreach.relay.web_socket import MAX_MESSAGE_BYTES
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import OWN, Rig, relay
from tests.relay.waiting import PATIENCE_S, settle, until

KEY = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
VERSION = b"Sec-WebSocket-Version: 13"
UPGRADE = (b"Connection: Upgrade", b"Upgrade: websocket")
HANDSHAKE = (*UPGRADE, KEY, VERSION)


@asynccontextmanager
async def opened(
    rig: Rig, target: str = "/", *, subprotocols: list[str] | None = None, **headers: str
) -> AsyncIterator[ClientConnection]:
    async with connect(
        f"ws://{OWN.decode()}{target}",
        host="127.0.0.1",
        port=rig.port,
        additional_headers={name.replace("_", "-"): value for name, value in headers.items()},
        subprotocols=[Subprotocol(name) for name in subprotocols or []] or None,
        open_timeout=PATIENCE_S,
        close_timeout=PATIENCE_S,
        proxy=None,
    ) as socket:
        yield socket


class Recorder:
    """An application that keeps what it receives, and does what the caller says."""

    def __init__(self) -> None:
        self.scope: Scope = {}
        self.heard: list[Message] = []
        self.subprotocol: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        while True:
            message = await receive()
            self.heard.append(message)
            match message["type"]:
                case "websocket.connect":
                    accepted = {"type": "websocket.accept", "headers": [(b"x-thing", b"one")]}
                    await send({**accepted, "subprotocol": self.subprotocol})
                case "websocket.disconnect":
                    return
                case _ if message.get("text") == "close":
                    await send({"type": "websocket.close", "code": 4001, "reason": "as you wish"})
                case _ if message.get("text") == "fail":
                    raise RuntimeError("the application has a fault")
                case _ if message.get("text") == "return":
                    return
                case _:
                    await send({**message, "type": "websocket.send"})

    @property
    def disconnect(self) -> Message | None:
        return next((one for one in self.heard if one["type"] == "websocket.disconnect"), None)


@on_a_loop
async def test_messages_pass_in_both_directions() -> None:
    async with relay(web_app=Recorder()) as rig, opened(rig) as socket:
        for message in ("text \N{SNOWMAN}", b"bytes \xff", "", "x" * MAX_MESSAGE_BYTES):
            await socket.send(message)
            assert await socket.recv() == message


@on_a_loop
async def test_a_message_in_fragments_is_one_message() -> None:
    async with relay(web_app=Recorder()) as rig, opened(rig) as socket:
        await socket.send(["one, ", "", "two"])

        assert await socket.recv() == "one, two"


@on_a_loop
async def test_the_application_hears_who_asks_for_what() -> None:
    app = Recorder()
    async with relay(web_app=app, networks=[ip_network("127.0.0.0/8")]) as rig:
        told = {"X_Forwarded_For": "203.0.113.9", "X_Forwarded_Proto": "https", "Cookie": "a=b"}
        async with opened(rig, "/a%2Fb?c=d", subprotocols=["one", "two"], **told) as socket:
            assert socket.response is not None
            assert socket.response.headers["x-thing"] == "one"

    assert (app.scope["type"], app.scope["scheme"]) == ("websocket", "wss")
    assert (app.scope["path"], app.scope["query_string"]) == ("/a/b", b"c=d")
    assert app.scope["client"] == ("203.0.113.9", 0)
    assert app.scope["subprotocols"] == ["one", "two"]
    names = [name for name, _ in app.scope["headers"]]
    assert b"cookie" in names
    assert not [name for name in names if name.startswith(b"x-forwarded")]


@on_a_loop
async def test_the_application_chooses_the_subprotocol() -> None:
    app = Recorder()
    app.subprotocol = "two"
    async with relay(web_app=app) as rig, opened(rig, subprotocols=["one", "two"]) as socket:
        assert socket.subprotocol == "two"


@on_a_loop
async def test_the_application_closes_with_a_code_and_a_reason() -> None:
    app = Recorder()
    async with relay(web_app=app) as rig, opened(rig) as socket:
        await socket.send("close")
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()

        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4001, "as you wish")
        await until(lambda: app.disconnect)
        assert rig.figure("connections") == 0


@pytest.mark.parametrize(("word", "code"), [("return", 1000), ("fail", 1011)])
@on_a_loop
async def test_a_socket_that_the_application_leaves_open_is_closed(word: str, code: int) -> None:
    async with relay(web_app=Recorder()) as rig, opened(rig) as socket:
        await socket.send(word)
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()

        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == code


@on_a_loop
async def test_the_application_hears_a_callers_close() -> None:
    app = Recorder()
    async with relay(web_app=app) as rig, opened(rig) as socket:
        await socket.close(4002)

        await until(lambda: app.disconnect)
        assert app.disconnect == {"type": "websocket.disconnect", "code": 4002}


@pytest.mark.parametrize("half", [True, False])
@on_a_loop
async def test_a_caller_that_leaves_without_a_close_is_told_to_the_application(half: bool) -> None:
    app = Recorder()
    async with relay(web_app=app) as rig, calling(rig.port) as caller:
        caller.send(request(OWN, *HANDSHAKE))
        assert (await caller.head()).status == 101
        caller.half_close() if half else caller.leave()

        await until(lambda: app.disconnect)
        assert app.disconnect == {"type": "websocket.disconnect", "code": 1006}


async def refuse(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "websocket.close", "code": 4403})


async def fail(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise RuntimeError("the application has a fault")


@pytest.mark.parametrize(("app", "status"), [(refuse, 403), (fail, 500)])
@on_a_loop
async def test_a_refused_handshake_is_an_answer_of_http(app: Application, status: int) -> None:
    async with relay(web_app=app) as rig:
        with pytest.raises(InvalidStatus) as refused:
            async with opened(rig):
                pass

        assert refused.value.response.status_code == status


@on_a_loop
async def test_after_a_refusal_early_frames_are_no_request() -> None:
    async with relay(web_app=refuse) as rig, calling(rig.port) as caller:
        caller.send(request(OWN, *HANDSHAKE) + request(OWN))
        answer = await caller.answer()

        assert (answer.status, answer.get(b"connection")) == (403, b"close")
        assert await caller.is_closed()


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        (UPGRADE, 400),
        ((*UPGRADE, VERSION), 400),
        ((*UPGRADE, VERSION, b"Sec-WebSocket-Key: short"), 400),
        ((*UPGRADE, KEY, b"Sec-WebSocket-Version: 8"), 400),
    ],
)
@on_a_loop
async def test_a_bad_handshake_never_reaches_the_application(
    fields: tuple[bytes, ...], status: int
) -> None:
    app = Recorder()
    async with relay(web_app=app) as rig, calling(rig.port) as caller:
        caller.send(request(OWN, *fields))

        assert (await caller.answer()).status == status
        assert app.scope == {}


@pytest.mark.parametrize("message", ["x" * (MAX_MESSAGE_BYTES + 1), ["x" * MAX_MESSAGE_BYTES, "x"]])
@on_a_loop
async def test_a_message_that_is_too_large_ends_the_socket(message: str | list[str]) -> None:
    app = Recorder()
    async with relay(web_app=app) as rig, opened(rig) as socket:
        await socket.send(message)
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()

        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009
        await until(lambda: app.disconnect)


@on_a_loop
async def test_text_that_is_not_utf_8_ends_the_socket() -> None:
    async with relay(web_app=Recorder()) as rig, opened(rig) as socket:
        await socket.send(b"\xff", text=True)
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()

        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1007


@on_a_loop
async def test_a_slow_reader_holds_the_application_up() -> None:
    made = 0

    async def much(_scope: Scope, _receive: Receive, send: Send) -> None:
        nonlocal made
        await send({"type": "websocket.accept"})
        while made < 100_000_000:
            made += 65536
            await send({"type": "websocket.send", "bytes": b"x" * 65536})

    async with relay(web_app=much) as rig, calling(rig.port, receive_buffer=4096) as caller:
        caller.send(request(OWN, *HANDSHAKE))
        await settle(200)

        assert 0 < made < 20_000_000


def masked(opcode: Opcode, payload: bytes) -> bytes:
    """One frame of a caller, masked with zeros."""
    assert len(payload) < 126
    return bytes((0x80 | opcode, 0x80 | len(payload))) + bytes(4) + payload


@pytest.mark.parametrize("opcode", [Opcode.TEXT, Opcode.PING])
@on_a_loop
async def test_a_caller_that_only_sends_is_held_up(opcode: Opcode) -> None:
    """Neither messages that nobody receives nor answers to pings are gathered without end."""

    async def wait(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "websocket.accept"})
        await asyncio.Event().wait()

    async with relay(web_app=wait) as rig, calling(rig.port, receive_buffer=4096) as caller:
        caller.send(request(OWN, *HANDSHAKE))
        await until(lambda: rig.figure("connections") == 1)
        frames, sent = masked(opcode, b"x" * 120) * 4096, 0
        while sent < 64 << 20 and not caller.unsent:
            caller.send(frames)
            sent += len(frames)
            await settle()

        assert caller.unsent


@on_a_loop
async def test_nothing_is_parsed_before_the_application_asks_for_it() -> None:
    asks = asyncio.Event()

    async def look_up_and_refuse(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "websocket.accept"})
        await asks.wait()
        await send({"type": "websocket.close", "code": 4401})

    async with relay(web_app=look_up_and_refuse) as rig, calling(rig.port) as caller:
        unmasked = bytes((0x80 | Opcode.TEXT, 1)) + b"x"
        caller.send(request(OWN, *HANDSHAKE) + unmasked)
        assert (await caller.head()).status == 101
        asks.set()

        assert await caller.rest() == b"\x88\x02" + (4401).to_bytes(2, "big")


@on_a_loop
async def test_tiny_frames_are_parsed_a_few_in_each_turn_of_the_loop() -> None:
    loop = asyncio.get_running_loop()
    turn = 0
    heard: list[int] = []

    def count_turns() -> None:
        nonlocal turn
        turn += 1
        loop.call_soon(count_turns)

    async def note_turns(_scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while (await receive())["type"] != "websocket.disconnect":
            heard.append(turn)

    async with relay(web_app=note_turns) as rig, calling(rig.port) as caller:
        count_turns()
        tiny = masked(Opcode.TEXT, b"")
        caller.send(request(OWN, *HANDSHAKE) + tiny * web_socket.MAX_FRAMES)
        await until(lambda: len(heard) == web_socket.MAX_FRAMES)

    most_in_a_turn = web_socket.PARSED_BYTES // len(tiny) + 1
    assert max(Counter(heard).values()) <= most_in_a_turn


@on_a_loop
async def test_what_was_sent_before_the_end_reaches_the_application_in_order() -> None:
    app = Recorder()
    async with relay(web_app=app) as rig, calling(rig.port) as caller:
        numbers = [str(number) for number in range(500)]
        frames = b"".join(masked(Opcode.TEXT, number.encode()) for number in numbers)
        caller.send(request(OWN, *HANDSHAKE) + frames)
        caller.half_close()
        await until(lambda: app.disconnect)

    received = [one["text"] for one in app.heard if one["type"] == "websocket.receive"]
    assert received == numbers


@on_a_loop
async def test_a_caller_that_sends_too_many_frames_is_closed_with_1008(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(web_socket, "MAX_FRAMES", 8)
    monkeypatch.setattr(web_socket, "FRAME_EVERY_S", 600.0)
    async with relay(web_app=Recorder()) as rig, opened(rig) as socket:
        for _ in range(8):
            await socket.send("")
            assert await socket.recv() == ""
        await socket.ping()
        with pytest.raises(ConnectionClosed) as closed:
            async with asyncio.timeout(PATIENCE_S):
                await socket.recv()

        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008


@on_a_loop
async def test_a_caller_that_sends_on_after_our_close_is_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(web_socket, "CLOSE_TIMEOUT_S", 600.0)
    async with relay(web_app=Recorder()) as rig, calling(rig.port) as caller:
        caller.send(request(OWN, *HANDSHAKE) + masked(Opcode.TEXT, b"close"))
        assert (await caller.head()).status == 101
        caller.send(masked(Opcode.TEXT, b"") * 2 * web_socket.MAX_FRAMES)
        await until(lambda: rig.figure("connections") == 0)


@on_a_loop
async def test_a_caller_that_does_not_answer_a_close_is_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(web_socket, "CLOSE_TIMEOUT_S", 0.1)
    async with relay(web_app=Recorder()) as rig, calling(rig.port) as caller:
        caller.send(request(OWN, *HANDSHAKE) + masked(Opcode.TEXT, b"close"))
        assert (await caller.head()).status == 101
        assert await caller.rest() == b"\x88\x0d" + (4001).to_bytes(2, "big") + b"as you wish"
        await until(lambda: rig.figure("connections") == 0)
