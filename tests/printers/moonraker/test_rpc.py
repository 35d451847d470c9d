"""JSON-RPC over a WebSocket, against a server that says what it likes."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from printreach.printers.connecting import connect_to
from printreach.printers.moonraker import api as module
from printreach.printers.moonraker.api import Rpc, RpcRefused, RpcTimedOut
from printreach.printers.websocket import WebSocketFailed, websocket
from tests.printers.meddler import NONSENSE, TOO_LONG

Talk = Callable[[ServerConnection], Awaitable[None]]
DEADLINE_S = 30.0


class OnNotification:
    """The notifications that came."""

    def __init__(self) -> None:
        self.methods: list[str] = []

    def __call__(self, method: str, _params: object) -> None:
        self.methods.append(method)


def run(test: Coroutine[object, object, None]) -> None:
    async def with_deadline() -> None:
        async with asyncio.timeout(DEADLINE_S):
            await test

    asyncio.run(with_deadline())


@asynccontextmanager
async def talking_to(talk: Talk) -> AsyncIterator[tuple[Rpc, OnNotification, "asyncio.Task[None]"]]:
    async with serve(talk, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        connect = connect_to("127.0.0.1", port, tls=False)
        async with websocket(connect, f"ws://127.0.0.1:{port}/websocket") as socket:
            on_notification = OnNotification()
            rpc = Rpc(socket, on_notification)
            reading = asyncio.create_task(rpc.run())
            try:
                yield rpc, on_notification, reading
            finally:
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)


def answering(*before: Any, **answer: Any) -> Talk:
    """Says something first, then answers every call in the same way."""

    async def talk(peer: ServerConnection) -> None:
        async for message in peer:
            for other in before:
                await peer.send(other if isinstance(other, str | bytes) else json.dumps(other))
            number = json.loads(message)["id"]
            await peer.send(json.dumps({"jsonrpc": "2.0", "id": number, **answer}))

    return talk


async def silent(peer: ServerConnection) -> None:
    async for _ in peer:
        pass  # it listens, and says nothing


def test_a_call_has_its_own_answer_among_others() -> None:
    async def twice_the_other_way_round(peer: ServerConnection) -> None:
        calls = [json.loads(await peer.recv()) for _ in range(2)]
        for call in reversed(calls):
            await peer.send(json.dumps({"id": call["id"], "result": call["params"]["it"]}))
        await peer.wait_closed()

    async def body() -> None:
        async with talking_to(twice_the_other_way_round) as (rpc, _, _):
            calls = [rpc.call("server.info", {"it": number}) for number in (1, 2)]

            assert await asyncio.gather(*calls) == [1, 2]

    run(body())


def test_a_refusal_has_its_code_and_words() -> None:
    async def body() -> None:
        refusal = {"code": 400, "message": "Must home axis first"}
        async with talking_to(answering(error=refusal)) as (rpc, _, _):
            with pytest.raises(RpcRefused) as refused:
                await rpc.call("printer.gcode.script")

            assert (refused.value.code, refused.value.message) == (400, "Must home axis first")

    run(body())


def test_a_refusal_of_another_shape_is_one_all_the_same() -> None:
    async def body() -> None:
        async with talking_to(answering(error="no")) as (rpc, _, _):
            with pytest.raises(RpcRefused):
                await rpc.call("server.info")

    run(body())


def test_notifications_and_nonsense_in_between_disturb_nothing() -> None:
    notice = {"jsonrpc": "2.0", "method": "notify_klippy_ready"}
    strangers = [{"id": 99, "result": 1}, {"id": "1x", "result": 1}, {"id": None}, [], 7]

    async def body() -> None:
        talk = answering(*NONSENSE, notice, *strangers, result="ok")
        async with talking_to(talk) as (rpc, on_notification, _):
            assert await rpc.call("server.info") == "ok"
            assert on_notification.methods[-1] == "notify_klippy_ready"

    run(body())


def test_an_answer_that_comes_twice_counts_once() -> None:
    async def body() -> None:
        async with talking_to(answering({"id": 1, "result": "first"}, result="second")) as (
            rpc,
            _,
            reading,
        ):
            assert await rpc.call("server.info") == "first"
            await asyncio.sleep(0.02)
            assert not reading.done()

    run(body())


def test_a_call_without_an_answer_ends_in_time() -> None:
    async def body() -> None:
        async with talking_to(silent) as (rpc, _, reading):
            with pytest.raises(RpcTimedOut):
                await rpc.call("server.info", timeout_s=0.05)

            assert not reading.done()

    run(body())


def test_calls_are_not_gathered_without_end() -> None:
    async def body() -> None:
        async with talking_to(silent) as (rpc, _, _):
            waiting = [
                asyncio.ensure_future(rpc.call("server.info")) for _ in range(module.MAX_CALLS)
            ]
            await asyncio.sleep(0.05)
            with pytest.raises(RpcTimedOut):
                await rpc.call("server.info")
            for call in waiting:
                call.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    run(body())


def test_calls_hear_that_the_connection_ended() -> None:
    async def leave(peer: ServerConnection) -> None:
        await peer.recv()
        await peer.close()

    async def body() -> None:
        async with talking_to(leave) as (rpc, _, reading):
            with pytest.raises(WebSocketFailed):
                await rpc.call("server.info")
            with pytest.raises(WebSocketFailed):
                await reading
            with pytest.raises(WebSocketFailed):
                await rpc.call("server.info")

    run(body())


def test_a_message_of_ten_megabytes_ends_the_connection_and_nothing_else() -> None:
    async def body() -> None:
        async with talking_to(answering(TOO_LONG, result=1)) as (rpc, _, reading):
            with pytest.raises(WebSocketFailed):
                await rpc.call("server.info")

            assert isinstance(reading.exception(), WebSocketFailed)

    run(body())


def test_a_moonraker_that_falls_silent_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SILENCE_S", 0.1)

    async def body() -> None:
        async with talking_to(silent) as (_, _, reading):
            with pytest.raises(WebSocketFailed):
                await reading

    run(body())
