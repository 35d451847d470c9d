"""The link over a WebSocket, against real sockets, on both event loops that it runs on."""

import asyncio
import time
from typing import cast

import pytest
from picows import ws_connect

from printreach.tunnel import websocket_link
from printreach.tunnel.websocket_link import WebSocketLink
from printreach.wire.frames import MAX_MESSAGE_BYTES
from tests.fakes.loop import on_a_loop
from tests.tunnel.raw_websocket import (
    BINARY,
    CLOSE,
    CONTINUATION,
    PING,
    PONG,
    TEXT,
    TIMEOUT_S,
    RawClient,
    RecordingReceiver,
    frame_of,
    raw_connection,
)

pytestmark = pytest.mark.usefixtures("event_loop_of")

NORMAL, PROTOCOL_ERROR, UNSUPPORTED_DATA, TOO_BIG = 1000, 1002, 1003, 1009


@pytest.fixture(autouse=True)
def a_close_may_take_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A time-out that is longer than a busy machine is stalled."""
    monkeypatch.setattr(websocket_link, "CLOSE_WITHIN_S", TIMEOUT_S)


def started(link: WebSocketLink) -> RecordingReceiver:
    receiver = RecordingReceiver()
    link.start(receiver)
    return receiver


@on_a_loop
async def test_messages_travel_both_ways() -> None:
    async with raw_connection() as (client, link):
        receiver = started(link)
        client.send(BINARY, b"to the link")
        link.send(b"from the link")

        assert await receiver.until_messages(1) == [b"to the link"]
        assert await client.receive() == (BINARY, b"from the link")


@on_a_loop
async def test_two_links_speak_with_each_other() -> None:
    async with raw_connection() as (client, _):
        port = client.writer.get_extra_info("peername")[1]
        here = WebSocketLink()
        url = f"ws://127.0.0.1:{port}/"
        await ws_connect(lambda: here, url, websocket_handshake_timeout=TIMEOUT_S)
        receiver = started(here)
        here.send(b"x" * MAX_MESSAGE_BYTES)
        here.close()

        assert await receiver.until_lost() == "the connection was closed"


@on_a_loop
async def test_messages_that_came_before_the_start_are_delivered_first() -> None:
    async with raw_connection() as (client, link):
        client.send(BINARY, b"early")
        client.send(PING, b"")
        assert await client.receive() == (PONG, b"")  # so the message has arrived

        receiver = started(link)
        client.send(BINARY, b"late")

        assert await receiver.until_messages(2) == [b"early", b"late"]


@on_a_loop
async def test_a_loss_before_the_start_is_reported_at_the_start() -> None:
    async with raw_connection() as (client, link):
        client.send(BINARY, b"early")
        client.send(CLOSE, b"\x03\xe8")
        assert await client.closing() == NORMAL

        receiver = started(link)

        assert receiver.messages == [b"early"]
        assert receiver.losses == ["the connection was closed"]


@on_a_loop
async def test_a_message_that_a_proxy_has_fragmented_is_gathered() -> None:
    async with raw_connection() as (client, link):
        receiver = started(link)
        client.send(BINARY, b"one ", fin=False)
        client.send(CONTINUATION, b"two ", fin=False)
        client.send(PING, b"between")
        client.send(CONTINUATION, b"", fin=False)
        client.send(CONTINUATION, b"three")
        client.send(BINARY, b"next")

        assert await receiver.until_messages(2) == [b"one two three", b"next"]
        assert await client.receive() == (PONG, b"between")


@on_a_loop
async def test_a_message_of_the_largest_size_is_taken_whole_or_in_fragments() -> None:
    async with raw_connection() as (client, link):
        receiver = started(link)
        half = b"x" * (MAX_MESSAGE_BYTES // 2)
        client.send(BINARY, half + half)
        client.send(BINARY, half, fin=False)
        client.send(CONTINUATION, half)

        assert await receiver.until_messages(2) == [half + half] * 2


@on_a_loop
async def test_a_message_over_a_mebibyte_is_refused() -> None:
    async with raw_connection() as (client, link):
        receiver = started(link)
        client.send(BINARY, b"x" * (MAX_MESSAGE_BYTES + 1))

        assert await receiver.until_lost() == "the connection was closed"
        assert receiver.messages == []


@on_a_loop
async def test_fragments_over_a_mebibyte_together_are_refused() -> None:
    async with raw_connection() as (client, link):
        receiver = started(link)
        client.send(BINARY, b"x" * MAX_MESSAGE_BYTES, fin=False)
        client.send(CONTINUATION, b"x")

        assert await client.closing() == TOO_BIG
        await receiver.until_lost()
        assert receiver.messages == []


@pytest.mark.slow
@on_a_loop
async def test_a_hundred_thousand_tiny_fragments_cost_little() -> None:
    async with raw_connection() as (client, link):
        receiver = started(link)
        client.send(BINARY, b"x", fin=False)
        began_at = time.process_time()
        client.writer.write(frame_of(CONTINUATION, b"x", fin=False) * 100_000)
        client.send(CONTINUATION, b"x")

        assert await receiver.until_messages(1) == [b"x" * 100_002]
        assert time.process_time() - began_at < 2.0


@pytest.mark.parametrize(
    ("frames", "code"),
    [
        ([frame_of(TEXT, b"{}")], UNSUPPORTED_DATA),
        ([frame_of(TEXT, b"{", fin=False)], UNSUPPORTED_DATA),
        ([frame_of(CONTINUATION, b"of nothing")], PROTOCOL_ERROR),
        ([frame_of(CONTINUATION, b"of nothing", fin=False)], PROTOCOL_ERROR),
        ([frame_of(BINARY, b"one", fin=False), frame_of(BINARY, b"two")], PROTOCOL_ERROR),
        ([frame_of(BINARY, b"one", fin=False), frame_of(TEXT, b"two")], UNSUPPORTED_DATA),
    ],
)
def test_a_message_that_is_not_binary_is_refused_and_nothing_after_it_is_delivered(
    frames: list[bytes], code: int
) -> None:
    @on_a_loop
    async def body() -> None:
        async with raw_connection() as (client, link):
            receiver = started(link)
            client.writer.write(b"".join(frames) + frame_of(BINARY, b"behind it"))

            assert await client.closing() == code
            await receiver.until_lost()
            assert receiver.messages == []

    body()


@on_a_loop
async def test_a_close_is_answered_and_reported_as_a_loss_once() -> None:
    async with raw_connection() as (client, link):
        receiver = started(link)
        client.send(CLOSE, b"\x03\xe8bye")

        assert await client.closing() == NORMAL
        await receiver.until_lost()
        link.close()
        link.abort()
        link.send(b"too late")
        await asyncio.sleep(0)
        assert receiver.losses == ["the connection was closed"]


@on_a_loop
async def test_our_own_close_sends_queued_messages_first() -> None:
    async with raw_connection() as (client, link):
        receiver = started(link)
        link.send(b"x" * MAX_MESSAGE_BYTES)
        link.close()

        assert await client.receive() == (BINARY, b"x" * MAX_MESSAGE_BYTES)
        assert await client.closing() == NORMAL
        assert await receiver.until_lost() == "the connection was closed"


async def fill(client: RawClient, link: WebSocketLink, receiver: RecordingReceiver) -> int:
    """Send to an end that doesn't read until the link is congested; return the number of bytes."""
    link.send(b"x" * 50_000)
    sent = 50_000
    reading = cast("asyncio.Transport", client.writer.transport)
    async with asyncio.timeout(TIMEOUT_S):
        while reading.is_reading():  # noqa: ASYNC110  # its end is no event
            await asyncio.sleep(0)
    while "congested" not in receiver.marks:
        link.send(b"x" * 50_000)
        sent += 50_000
        await asyncio.sleep(0)
    return sent


@on_a_loop
async def test_a_reader_that_lags_congests_the_link_until_it_has_read() -> None:
    async with raw_connection(read_bytes=1000) as (client, link):
        receiver = started(link)
        sent = await fill(client, link, receiver)
        assert receiver.marks == ["congested"]

        received = 0
        while received < sent:
            received += len((await client.receive())[1])
        await receiver.until_mark("clear")
        assert receiver.marks == ["congested", "clear"]


@on_a_loop
async def test_pings_of_an_end_that_does_not_read_get_one_pong() -> None:
    async with raw_connection(read_bytes=1000) as (client, link):
        receiver = started(link)
        sent = await fill(client, link, receiver)
        for number in range(1000):
            client.send(PING, b"%d" % number)
        client.send(BINARY, b"behind the pings")
        await receiver.until_messages(1)

        assert await pongs_behind(client, sent) == [b"999"]


async def pongs_behind(client: RawClient, sent: int) -> list[bytes]:
    """Read so many bytes of messages; the pongs that came among them and behind them."""
    pongs: list[bytes] = []
    while sent or not pongs:
        kind, payload = await client.receive()
        if kind == PONG:
            pongs.append(payload)
        else:
            sent -= len(payload)
    client.send(PING, b"the last")
    while (last := (await client.receive())[1]) != b"the last":
        pongs.append(last)
    return pongs


def test_a_close_does_not_wait_for_ever_for_an_end_that_reads_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(websocket_link, "CLOSE_WITHIN_S", 0.05)

    @on_a_loop
    async def body() -> None:
        async with raw_connection(read_bytes=1000) as (client, link):
            receiver = started(link)
            await fill(client, link, receiver)

            link.close()

            assert await receiver.until_lost() == "the connection was closed"

    body()


@on_a_loop
async def test_an_abort_drops_bytes_that_the_kernel_has_not_sent_yet() -> None:
    async with raw_connection(read_bytes=1000) as (client, link):
        receiver = started(link)
        sent = await fill(client, link, receiver)

        link.abort()
        await receiver.until_lost()

        assert await bytes_until_reset(client) < sent


async def bytes_until_reset(client: RawClient) -> int:
    """Read to the end, which is no regular one."""
    received = 0
    try:
        while True:
            received += len((await client.receive())[1])
    except ConnectionResetError:
        return received
