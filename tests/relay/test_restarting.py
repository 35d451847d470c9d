"""One process of the service ends and the next begins: no caller is refused in between."""

import asyncio

import pytest

from printreach.relay import front
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import relay
from tests.relay.waiting import PATIENCE_S, settle, until

LONG_S = 60.0
SHORT_S = 0.05


@on_a_loop
async def test_after_a_start_a_request_waits_for_its_agent() -> None:
    async with relay(settle_s=LONG_S) as rig, calling(rig.port) as caller:
        access = rig.connect()
        caller.send(request(access.host, access.bearer, target=b"/first"))
        await settle()
        await rig.agent()

        assert (await caller.answer()).body == b"GET /first"


@on_a_loop
async def test_the_body_of_a_request_waits_with_it() -> None:
    async with relay(settle_s=LONG_S) as rig, calling(rig.port) as caller:
        access = rig.connect()
        length = b"Content-Length: 10"
        caller.send(request(access.host, access.bearer, length, method=b"POST") + b"12345")
        await settle()
        caller.send(b"67890")
        agent = await rig.agent(script=lambda asked: None)
        asked = await agent.next()

        await until(lambda: asked.body == b"1234567890")


@on_a_loop
async def test_an_agent_that_does_not_come_is_not_waited_for_any_longer() -> None:
    async with relay(settle_s=SHORT_S) as rig, calling(rig.port) as caller:
        access = rig.connect()
        caller.send(request(access.host, access.bearer) * 2)

        assert [(await caller.answer()).status, (await caller.answer()).status] == [601, 601]


@on_a_loop
async def test_a_connection_that_ends_while_its_request_waits_is_refused() -> None:
    async with relay(settle_s=LONG_S) as rig, calling(rig.port) as caller:
        access = rig.connect()
        caller.send(request(access.host, access.bearer))
        await settle()
        await rig.revoke(access)
        await settle()
        await rig.agent()

        assert (await caller.answer()).status == 604


@on_a_loop
async def test_a_caller_accepted_just_before_the_stop_is_still_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(front, "NEW_CONNECTION_GRACE_S", PATIENCE_S)
    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect()
        await rig.agent()
        await until(lambda: rig.figure("connections") == 1)
        rig.begin_stop(grace_s=PATIENCE_S)
        await asyncio.sleep(0.05)
        caller.send(request(access.host, access.bearer))
        answer = await caller.answer()

        assert (answer.status, answer.get(b"connection")) == (200, b"close")
