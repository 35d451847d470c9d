"""How exchanges under way are ended when the web role stops."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from printreach.web.draining import DrainMiddleware

HTTP = cast("Scope", {"type": "http"})
WEBSOCKET = cast("Scope", {"type": "websocket"})
EVENTS = [(b"content-type", b"text/event-stream; charset=utf-8")]
END_OF_BODY = {"type": "http.response.body", "body": b"", "more_body": False}


def message(**fields: object) -> Message:
    return cast("Message", fields)


def start(headers: list[tuple[bytes, bytes]]) -> Message:
    return message(type="http.response.start", status=200, headers=headers)


def piece(body: bytes, more_body: bool) -> Message:
    return message(type="http.response.body", body=body, more_body=more_body)


async def event_stream(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send(start(EVENTS))
    await send(piece(b"data: 1\n\n", more_body=True))
    await asyncio.Event().wait()


async def endless_download(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send(start([(b"content-type", b"model/gcode")]))
    await send(piece(b"G28\n", more_body=True))
    await asyncio.Event().wait()


async def silent(_scope: Scope, _receive: Receive, _send: Send) -> None:
    await asyncio.Event().wait()


async def websocket(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send(message(type="websocket.accept"))
    await asyncio.Event().wait()


class Server:
    """Calls an application as a server does, and keeps what it sends."""

    def __init__(self, app: ASGIApp) -> None:
        self.draining = DrainMiddleware(app)
        self.sent: list[Any] = []
        self.client_reads = asyncio.Event()
        self.client_reads.set()

    def call(self, scope: Scope) -> asyncio.Task[None]:
        async def request() -> None:
            await self.draining(scope, self._receive, self._send)

        return asyncio.create_task(request())

    async def _receive(self) -> Any:
        await asyncio.Event().wait()

    async def _send(self, sent: Message) -> None:
        await self.client_reads.wait()
        self.sent.append(sent)


async def settle() -> None:
    """Let every task go as far as it can without a clock."""
    for _ in range(10):
        await asyncio.sleep(0)


Ending = Callable[[DrainMiddleware], None]


def after(app: ASGIApp, ending: Ending, scope: Scope = HTTP) -> tuple[list[Any], str]:
    """Run a request until it rests, end it, let it rest again: what was sent, how it is."""

    async def scenario() -> tuple[list[Any], str]:
        server = Server(app)
        task = server.call(scope)
        await settle()
        ending(server.draining)
        await settle()
        return server.sent, state_of(task)

    return asyncio.run(scenario())


def state_of(task: asyncio.Task[None]) -> str:
    if not task.done():
        return "runs"
    if task.cancelled():
        return "was cut"
    task.result()
    return "came to its end"


def test_an_event_stream_is_ended_at_once_and_properly() -> None:
    sent, state = after(event_stream, DrainMiddleware.end_streams)

    assert state == "came to its end"
    assert sent[-1] == END_OF_BODY


def test_an_event_stream_that_begins_during_the_stop_is_ended_too() -> None:
    async def scenario() -> list[Any]:
        server = Server(event_stream)
        server.draining.end_streams()
        await server.call(HTTP)
        return server.sent

    assert asyncio.run(scenario())[-1] == END_OF_BODY


def test_a_websocket_is_closed_with_restart() -> None:
    sent, _ = after(websocket, DrainMiddleware.end_streams, WEBSOCKET)

    assert (sent[-1]["type"], sent[-1]["code"]) == ("websocket.close", 1012)


@pytest.mark.parametrize("app", [endless_download, silent])
def test_an_ordinary_request_is_left_alone_until_its_time_is_up(app: ASGIApp) -> None:
    sent, state = after(app, DrainMiddleware.end_streams)

    assert state == "runs"
    assert END_OF_BODY not in sent


def test_a_request_without_an_answer_gets_503_when_its_time_is_up() -> None:
    sent, state = after(silent, DrainMiddleware.end_all)

    assert state == "came to its end"
    assert [each.get("status") for each in sent] == [503, None]


def test_half_a_download_is_cut_and_never_looks_whole() -> None:
    sent, state = after(endless_download, DrainMiddleware.end_all)

    assert state == "was cut"
    assert all(each.get("more_body", True) for each in sent)


def test_a_cancellation_by_somebody_else_is_not_swallowed() -> None:
    async def scenario() -> tuple[list[Any], str]:
        server = Server(silent)
        task = server.call(HTTP)
        await settle()
        task.cancel()
        await settle()
        return server.sent, state_of(task)

    assert asyncio.run(scenario()) == ([], "was cut")


def test_what_has_finished_is_forgotten() -> None:
    async def quick(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send(start([]))
        await send(piece(b"done", more_body=False))

    sent, state = after(quick, DrainMiddleware.end_all)

    assert state == "came to its end"
    assert len(sent) == 2


def test_a_stream_whose_client_does_not_read_can_be_ended_a_second_time() -> None:
    async def scenario() -> list[str]:
        server = Server(event_stream)
        task = server.call(HTTP)
        await settle()
        server.client_reads.clear()
        states = []
        for end in (server.draining.end_streams, server.draining.end_all):
            end()
            await settle()
            states.append(state_of(task))
        return states

    assert asyncio.run(scenario()) == ["runs", "was cut"]
