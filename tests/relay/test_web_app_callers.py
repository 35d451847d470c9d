"""Callers of our own host that leave before their answer."""

import asyncio

import pytest

from printreach.relay.asgi import Receive, Scope, Send
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import OWN, relay
from tests.relay.test_web_app import body, read_all, start
from tests.relay.waiting import settle


@pytest.mark.parametrize(("method", "ends"), [(b"GET", True), (b"HEAD", True), (b"POST", False)])
@on_a_loop
async def test_a_read_ends_with_its_caller_and_a_change_is_carried_out(
    method: bytes, ends: bool
) -> None:
    begun, done, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def wait(_scope: Scope, receive: Receive, _send: Send) -> None:
        await read_all(receive)
        begun.set()
        try:
            await done.wait()
        except asyncio.CancelledError:
            ended.set()
            raise

    async with relay(web_app=wait) as rig, calling(rig.port) as caller:
        caller.send(request(OWN, method=method))
        await begun.wait()
        caller.leave()

        if ends:
            await ended.wait()
        else:
            await settle(200)
            assert not ended.is_set()


@on_a_loop
async def test_a_stream_is_told_that_its_reader_has_left() -> None:
    told = asyncio.Event()

    async def stream(_scope: Scope, receive: Receive, send: Send) -> None:
        await read_all(receive)
        await start(send)
        await body(send, b"one", more=True)
        while (await receive())["type"] != "http.disconnect":
            pass
        told.set()

    async with relay(web_app=stream) as rig, calling(rig.port) as caller:
        caller.send(request(OWN))
        await caller.head()
        caller.leave()

        await told.wait()
