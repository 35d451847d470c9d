"""Heads and bodies that are too large, too slow, or refused before their end."""

from dataclasses import replace
from functools import partial

import pytest

from printreach.http1.server_core import LINGER_BYTES, State
from printreach.relay.connection import FrontConnection
from printreach.tunnel.stream import MIN_PIECE_BYTES
from printreach.wire.errors import Reason
from printreach.wire.frames import WINDOW_BYTES
from tests.fakes.skipping_loop import on_a_skipping_loop, skip
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import OWN, QUICK, Rig, relay
from tests.relay.scripted_agent import ignore
from tests.relay.waiting import PATIENCE_S, settle, until

LONG_S = 1000.0
ENDLESS = b"Content-Length: 1000000000"


async def the_connection(rig: Rig) -> FrontConnection:
    """The only one, once the relay has accepted it."""
    await until(lambda: rig.figure("connections") == 1)
    [connection] = rig.node._front._connections
    return connection


def ends_with(connection: FrontConnection, drop: bytes) -> bool:
    return connection._core.surplus.endswith(drop)


def awaits_head(connection: FrontConnection) -> bool:
    return connection._core.state is State.HEAD


@on_a_skipping_loop
async def test_a_head_that_drips_is_given_up_after_its_time() -> None:
    slow = replace(QUICK, head=LONG_S, linger=0.0)
    async with relay(timeouts=slow) as rig, calling(rig.port) as caller:
        connection = await the_connection(rig)
        caller.send(b"GET / HT")
        await until(partial(awaits_head, connection))
        skip(LONG_S)

        assert (await caller.answer()).status == 408
        assert await caller.is_closed()


@on_a_skipping_loop
async def test_dripping_on_does_not_buy_a_head_more_time() -> None:
    slow = replace(QUICK, head=LONG_S, linger=0.0)
    async with relay(timeouts=slow) as rig, calling(rig.port) as caller:
        connection = await the_connection(rig)
        caller.send(b"GET / HTTP/1.1\r\nHost: x\r\n")
        await until(partial(awaits_head, connection))
        for drop in (b"X: 1\r\n", b"X: 2\r\n", b"X: 3\r\n"):
            skip(LONG_S / 4)
            caller.send(drop)
            await until(partial(ends_with, connection, drop))
        skip(LONG_S / 4)

        assert (await caller.answer()).status == 408


@on_a_skipping_loop
async def test_a_head_has_its_whole_time_however_long_the_connection_was_silent_before() -> None:
    nearly_all = LONG_S - 2 * PATIENCE_S
    async with relay(timeouts=replace(QUICK, head=LONG_S)) as rig, calling(rig.port) as caller:
        access = rig.connect()
        asked = request(access.host, access.bearer)
        connection = await the_connection(rig)
        skip(nearly_all)
        caller.send(asked[:10])
        await until(partial(awaits_head, connection))
        skip(nearly_all)
        await rig.agent()
        caller.send(asked[10:])

        assert (await caller.answer()).status == 200


@on_a_loop
async def test_a_connection_that_asks_nothing_is_closed() -> None:
    async with relay(timeouts=replace(QUICK, head=0.02)) as rig, calling(rig.port) as caller:
        assert await caller.is_closed()


@on_a_loop
async def test_a_connection_that_asks_nothing_more_is_closed() -> None:
    async with relay(timeouts=replace(QUICK, idle=0.02)) as rig, calling(rig.port) as caller:
        caller.send(request(OWN))

        assert (await caller.answer()).status == 200
        assert await caller.is_closed()


@pytest.mark.parametrize("size", [32 * 1024 + 1, 200_000], ids=["just over", "far over"])
@on_a_loop
async def test_a_head_over_32_kib_is_431_before_it_ends(size: int) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        caller.send(b"GET / HTTP/1.1\r\nX: ".ljust(size, b"y"))

        assert (await caller.answer()).status == 431


@on_a_loop
async def test_a_head_of_just_32_kib_is_served() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent()
        short = request(access.host, access.bearer, b"X: ")
        filler = b"x" * (32 * 1024 - len(short))
        caller.send(request(access.host, access.bearer, b"X: " + filler))

        assert (await caller.answer()).status == 200
        assert agent.asked[0].all(b"x") == [filler]


@on_a_loop
async def test_as_many_short_headers_as_fit_32_kib_fit_the_tunnel_too() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent()
        short = request(access.host, access.bearer)
        many = [b"a:"] * ((32 * 1024 - len(short)) // 4)
        caller.send(request(access.host, access.bearer, *many))

        assert (await caller.answer()).status == 200
        assert len(agent.asked[0].all(b"a")) == len(many)


@on_a_loop
async def test_a_head_that_the_relay_makes_too_large_for_the_tunnel_is_refused() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect()
        await rig.agent()
        fields, target = (access.bearer, b"Idempotency-Key: k"), b"/service-command-api/x"
        short = request(access.host, *fields, target=target)
        many = [b"a:"] * ((32 * 1024 - len(short)) // 4)
        caller.send(request(access.host, *fields, *many, target=target))

        assert (await caller.answer()).status == 612


@on_a_loop
async def test_one_empty_line_before_a_request_is_skipped() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        caller.send(b"\r\n" + request(OWN) + b"\r\n" + request(OWN))

        assert [(await caller.answer()).status for _ in range(2)] == [200, 200]


@pytest.mark.parametrize("size", [1, 100], ids=["byte by byte", "whole"])
@on_a_loop
async def test_a_second_empty_line_before_a_request_is_refused(size: int) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        await caller.send_in_pieces(b"\r\n\r\n" + request(OWN), size)

        assert (await caller.answer()).status == 400


@on_a_loop
async def test_a_long_head_costs_no_more_when_it_comes_byte_by_byte(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at = 0

    def counting(buffer: bytes, start: int = 0) -> int:
        nonlocal looked_at
        looked_at += len(buffer) - start
        return -1

    monkeypatch.setattr("printreach.http1.server_core.find_head_end", counting)
    async with relay() as rig, calling(rig.port) as caller:
        await caller.send_in_pieces(b"GET / HTTP/1.1\r\nX: ".ljust(2000, b"y"))
        await settle()

        assert looked_at < 5 * 2000


@on_a_skipping_loop
async def test_a_body_that_stops_coming_ends_the_request() -> None:
    async with relay(timeouts=replace(QUICK, body=LONG_S)) as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer, ENDLESS, method=b"POST") + b"begun")
        asked = await agent.next()
        await until(lambda: asked.body == b"begun")
        skip(LONG_S)

        assert await caller.is_closed()
        await until(lambda: asked.reset is Reason.CANCELLED)


@on_a_skipping_loop
async def test_an_upload_that_waits_for_the_printer_is_not_given_up() -> None:
    async with relay(timeouts=replace(QUICK, body=20.0)) as rig, calling(rig.port) as caller:
        access = rig.connect()
        agent = await rig.agent(script=ignore)
        agent.takes_bodies = False
        body = b"x" * 2_000_000
        caller.send(request(access.host, access.bearer, method=b"POST", body=body))
        asked = await agent.next()
        await until(lambda: len(asked.body) > WINDOW_BYTES - MIN_PIECE_BYTES)
        for _ in range(4):
            skip(6.0)  # not so long that the tunnel's ends miss each other
            await settle()
        assert asked.reset is None
        asked.takes_body = True
        asked.stream.taken(len(asked.body))
        await until(lambda: asked.is_complete)
        asked.answer_with_length(b"done")

        assert (await caller.answer()).body == b"done"
        assert asked.body == body


@on_a_loop
async def test_an_upload_waits_in_the_socket_while_the_printer_is_slow() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        agent.takes_bodies = False
        caller.send(request(access.host, access.bearer, ENDLESS, method=b"POST"))
        caller.send(b"x" * 20_000_000)
        asked = await agent.next()
        await settle(100)

        assert len(asked.body) <= WINDOW_BYTES
        assert caller.unsent > 10_000_000


@on_a_loop
async def test_a_caller_reads_why_its_upload_was_refused_while_it_sends_on() -> None:
    async with relay(timeouts=replace(QUICK, linger=LONG_S)) as rig, calling(rig.port) as caller:
        access = rig.connect()
        caller.send(request(access.host, ENDLESS, method=b"POST") + b"x" * (LINGER_BYTES // 2))
        await until(lambda: caller.unsent == 0)
        answer = await caller.answer()
        assert (answer.status, answer.get(b"connection")) == (606, b"close")
        caller.send(b"x" * (LINGER_BYTES // 4))
        await until(lambda: caller.unsent == 0)

        assert rig.figure("connections") == 1


@on_a_loop
async def test_a_refused_upload_is_drained_for_two_seconds_at_most() -> None:
    async with relay(timeouts=replace(QUICK, linger=0.05)) as rig, calling(rig.port) as caller:
        access = rig.connect()
        caller.send(request(access.host, ENDLESS, method=b"POST"))
        assert (await caller.answer()).status == 606

        assert await caller.is_closed()
        assert QUICK.linger == 2.0


@on_a_loop
async def test_a_refused_upload_is_drained_for_8_mib_at_most() -> None:
    assert LINGER_BYTES == 8 * 1024 * 1024
    async with relay(timeouts=replace(QUICK, linger=60.0)) as rig, calling(rig.port) as caller:
        access = rig.connect()
        caller.send(request(access.host, ENDLESS, method=b"POST"))
        assert (await caller.answer()).status == 606
        caller.send(b"x" * LINGER_BYTES)
        await until(lambda: caller.unsent == 0)
        caller.send(b"x" * 4_000_000)

        assert await caller.is_closed()
