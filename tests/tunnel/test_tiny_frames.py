"""Tiny frames cost much more than their bytes: an end that sends too many is read more slowly."""

import pytest

from printreach.tunnel import websocket_link
from printreach.wire.frames import Kind, frame
from printreach.wire.receiver import TINY_BYTES
from printreach.wire.session import Role, Session
from tests.fakes.loop import on_a_loop
from tests.relay.waiting import settle, until
from tests.tunnel.raw_websocket import (
    BINARY,
    CONTINUATION,
    PING,
    PONG,
    RecordingReceiver,
    frame_of,
    raw_connection,
)

pytestmark = pytest.mark.usefixtures("event_loop_of")

FLOOD_BYTES = 16 * 1024 * 1024
"""Much more than the kernel takes from an end that is not read."""
LARGE = b"x" * TINY_BYTES


@pytest.mark.parametrize(
    ("one", "tiny_frames"),
    [
        (frame_of(BINARY, b"x"), 0),
        (frame_of(PING, b""), 0),
        (frame_of(PONG, b""), 0),
        (frame_of(BINARY, b"x", fin=False) + frame_of(CONTINUATION, b""), 0),
        (frame_of(BINARY, LARGE), 100),
    ],
    ids=["messages", "pings", "pongs", "fragments", "frames in a message"],
)
def test_an_end_that_sends_too_many_is_not_read_for_a_while(
    monkeypatch: pytest.MonkeyPatch, one: bytes, tiny_frames: int
) -> None:
    monkeypatch.setattr(websocket_link, "MAX_TINY_FRAMES", 300)
    monkeypatch.setattr(websocket_link, "TINY_FRAME_EVERY_S", 3600.0)

    @on_a_loop
    async def run() -> None:
        async with raw_connection() as (client, link):
            receiver = RecordingReceiver()
            receiver.tiny_frames = tiny_frames
            link.start(receiver)
            client.writer.write(one * (FLOOD_BYTES // len(one)))
            await until(lambda: link.frames)
            before = -1
            while link.frames != before:  # until it is read no more
                before = link.frames
                await settle(100)

            assert link.frames < FLOOD_BYTES // len(one) // 4
            assert not link.is_closing
            link.abort()

    run()


@on_a_loop
async def test_all_arrive_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket_link, "MAX_TINY_FRAMES", 300)
    monkeypatch.setattr(websocket_link, "TINY_FRAME_EVERY_S", 1e-5)
    async with raw_connection() as (client, link):
        receiver = RecordingReceiver()
        link.start(receiver)
        sent = [b"%d" % number for number in range(20_000)]
        client.writer.write(b"".join(frame_of(BINARY, message) for message in sent))

        assert await receiver.until_messages(len(sent)) == sent


@on_a_loop
async def test_large_frames_are_never_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket_link, "MAX_TINY_FRAMES", 300)
    monkeypatch.setattr(websocket_link, "TINY_FRAME_EVERY_S", 3600.0)
    async with raw_connection() as (client, link):
        receiver = RecordingReceiver()
        link.start(receiver)
        client.writer.write(frame_of(BINARY, LARGE) * 20_000)

        assert len(await receiver.until_messages(20_000)) == 20_000


@on_a_loop
async def test_a_link_that_is_lost_while_it_is_not_read_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(websocket_link, "MAX_TINY_FRAMES", 300)
    monkeypatch.setattr(websocket_link, "TINY_FRAME_EVERY_S", 1e-3)
    async with raw_connection() as (client, link):
        receiver = RecordingReceiver()
        link.start(receiver)
        client.writer.write(frame_of(BINARY, b"x") * 600)
        await receiver.until_messages(512)
        client.writer.close()

        assert await receiver.until_lost()
        assert len(receiver.messages) == 600


def test_a_session_counts_the_tiny_frames_of_a_message() -> None:
    session = Session(Role.HUB, now=0.0)
    session.receive(
        Session(Role.AGENT, now=0.0).take_output() + frame(Kind.PING, 0, b"12345678"), 0.0
    )

    assert session.tiny_frames == 2
