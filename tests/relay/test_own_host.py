"""The service's own host: requests are passed on to the web role."""

import asyncio
from collections.abc import AsyncGenerator
from ipaddress import ip_network

import pytest

from printreach.http1.messages import Answer as WebAnswer
from printreach.http1.messages import Call
from printreach.http1.stream import ByteStream
from tests.relay.caller import BrokenOff, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import OWN, relay
from tests.relay.waiting import PATIENCE_S, settle, until


def sent(call: Call, name: bytes) -> list[bytes]:
    """Every value of a header as the web role got it; name in lower case."""
    return [value for key, value in call.head.headers if key.lower() == name]


@on_a_loop
async def test_a_request_reaches_the_web_role_as_it_was_but_for_its_hop() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        fields = (b"Cookie: printreach_session=x", b"Authorization: Bearer y", b"TE: trailers")
        target = b"/a%2Fb//c?d=%20&service_api_key=z"
        caller.send(request(OWN, *fields, b"Connection: keep-alive", target=target))
        assert (await caller.answer()).status == 200

        asked = rig.web.asked[0]
        assert asked.head.target == target
        assert sent(asked, b"host") == [OWN]
        assert sent(asked, b"cookie") == [b"printreach_session=x"]
        assert sent(asked, b"authorization") == [b"Bearer y"]
        assert sent(asked, b"te") + sent(asked, b"connection") == []


@pytest.mark.parametrize("trusted", [True, False])
@on_a_loop
async def test_the_forwarding_fields_for_the_web_role_are_ours_alone(trusted: bool) -> None:
    networks = [ip_network("127.0.0.0/8")] if trusted else []
    async with relay(networks=networks) as rig, calling(rig.port) as caller:
        said = (
            b"X-Forwarded-For: 198.51.100.1, 203.0.113.9",
            b"X-Forwarded-Proto: https",
            b"X-Forwarded-Host: evil.example",
            b"X-Forwarded-Prefix: /evil",
            b"Forwarded: for=198.51.100.1",
            b"X-Real-IP: 198.51.100.1",
            b"X-Forwarded-Unproven: 0",
        )
        caller.send(request(OWN + b":8080", *said))
        await caller.answer()

        asked = rig.web.asked[0]
        assert sent(asked, b"x-forwarded-for") == [b"203.0.113.9" if trusted else b"127.0.0.1"]
        assert sent(asked, b"x-forwarded-proto") == [b"https" if trusted else b"http"]
        assert sent(asked, b"x-forwarded-host") == [OWN + b":8080"]
        assert sent(asked, b"x-forwarded-prefix") == []
        assert sent(asked, b"forwarded") + sent(asked, b"x-real-ip") == []
        assert sent(asked, b"x-forwarded-unproven") == ([] if trusted else [b"1"])


@pytest.mark.parametrize("chunked", [True, False])
@pytest.mark.parametrize("size", [0, 1, 100_000, 3_000_000])
@on_a_loop
async def test_an_upload_reaches_the_web_role_whole(chunked: bool, size: int) -> None:
    async def count(call: Call) -> WebAnswer:
        return WebAnswer(body=b"%d" % len(await call.body.read(1 << 30)))

    async with relay() as rig, calling(rig.port) as caller:
        rig.web.handler = count
        if chunked:
            caller.send(request(OWN, b"Transfer-Encoding: chunked", method=b"POST"))
            caller.send(b"%x\r\n%b\r\n" % (size, b"x" * size) if size else b"")
            caller.send(b"0\r\n\r\n")
        else:
            length = b"Content-Length: %d" % size
            caller.send(request(OWN, length, method=b"POST") + b"x" * size)

        assert (await caller.answer()).body == b"%d" % size


@on_a_loop
async def test_answers_come_as_they_are_made() -> None:
    go_on = asyncio.Event()

    async def events() -> AsyncGenerator[bytes, None]:
        yield b"one"
        await go_on.wait()
        yield b"two"

    async def stream(_call: Call) -> WebAnswer:
        return WebAnswer(body=events())

    async with relay() as rig, calling(rig.port) as caller:
        rig.web.handler = stream
        caller.send(request(OWN))
        assert (await caller.head()).status == 200
        assert await caller.read(8) == b"3\r\none\r\n"
        go_on.set()

        assert await caller.read(13) == b"3\r\ntwo\r\n0\r\n\r\n"


@on_a_loop
async def test_one_connection_carries_many_requests_one_after_the_other() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        caller.send(b"".join(request(OWN, target=b"/%d" % number) for number in range(30)))
        bodies = [(await caller.answer()).body for _ in range(30)]

        assert bodies == [b'{"web": "GET /%d"}' % number for number in range(30)]


@on_a_loop
async def test_head_and_answers_without_body_leave_the_connection_in_step() -> None:
    async def answer(call: Call) -> WebAnswer:
        return WebAnswer(status=int(call.path[1:]), body=b"")

    async with relay() as rig, calling(rig.port) as caller:
        rig.web.handler = answer
        for method, status in ((b"HEAD", 200), (b"GET", 204), (b"GET", 304), (b"GET", 200)):
            caller.send(request(OWN, method=method, target=b"/%d" % status))
            assert (await caller.answer(to_head=method == b"HEAD")).status == status


@on_a_loop
async def test_a_web_role_that_is_away_is_503_with_a_time_to_try_again() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        await rig.web.server.close()
        caller.send(request(OWN))
        answer = await caller.answer()

        assert (answer.status, answer.get(b"retry-after")) == (503, b"5")


@on_a_loop
async def test_a_web_role_that_breaks_an_answer_off_breaks_ours() -> None:
    async def half() -> AsyncGenerator[bytes, None]:
        yield b"half of it"
        raise ConnectionError("the web role died")

    async def break_off(_call: Call) -> WebAnswer:
        return WebAnswer(body=half())

    async with relay() as rig, calling(rig.port) as caller:
        rig.web.handler = break_off
        caller.send(request(OWN))

        with pytest.raises(BrokenOff):
            await caller.answer()


@on_a_loop
async def test_a_caller_that_leaves_ends_its_request_at_the_web_role() -> None:
    ended = asyncio.Event()

    async def wait(_call: Call) -> WebAnswer:
        try:
            await asyncio.sleep(10 * PATIENCE_S)
        finally:
            ended.set()
        raise AssertionError("nobody waits for it")

    async with relay() as rig, calling(rig.port) as caller:
        rig.web.handler = wait
        caller.send(request(OWN))
        await until(lambda: rig.web.asked)
        caller.leave()

        await asyncio.wait_for(ended.wait(), PATIENCE_S)


@on_a_loop
async def test_a_slow_reader_holds_the_web_role_up() -> None:
    made = 0

    async def pieces() -> AsyncGenerator[bytes, None]:
        nonlocal made
        while made < 100_000_000:
            made += 65536
            yield b"x" * 65536

    async def much(_call: Call) -> WebAnswer:
        return WebAnswer(body=pieces())

    async with relay() as rig, calling(rig.port, receive_buffer=4096) as caller:
        rig.web.handler = much
        caller.send(request(OWN))
        await settle(200)

        assert made < 20_000_000


@on_a_loop
async def test_a_websocket_to_the_web_role_is_carried_raw() -> None:
    async def shout(stream: ByteStream) -> None:
        while data := await stream.receive():
            await stream.send(data.upper())

    async def agree(_call: Call) -> WebAnswer:
        headers = [(b"Connection", b"Upgrade"), (b"Upgrade", b"websocket")]
        return WebAnswer(status=101, headers=headers, upgraded=shout)

    async with relay() as rig, calling(rig.port) as caller:
        rig.web.handler = agree
        caller.send(request(OWN, b"Connection: Upgrade", b"Upgrade: websocket"))
        assert (await caller.answer()).status == 101
        caller.send(b"hello")
        assert await caller.read(5) == b"HELLO"
        caller.leave()
        await settle()


@on_a_loop
async def test_the_web_role_may_refuse_an_upload_before_it_ends() -> None:
    async def refuse(_call: Call) -> WebAnswer:
        return WebAnswer(status=413, body=b"no")

    async with relay() as rig, calling(rig.port) as caller:
        rig.web.handler = refuse
        caller.send(request(OWN, b"Content-Length: 1000000", method=b"POST") + b"x" * 10)
        answer = await caller.answer()

        assert (answer.status, answer.get(b"connection")) == (413, b"close")
