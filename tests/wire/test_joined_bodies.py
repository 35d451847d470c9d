"""All body bytes of a stream in a link message are one event."""

import pytest

from printreach.wire.errors import Reason, RemoteProtocolError
from printreach.wire.events import (
    CreditReceived,
    DataReceived,
    Event,
    HeadReceived,
    MessageReceived,
    StreamReset,
)
from printreach.wire.frames import WINDOW_BYTES
from printreach.wire.receiver import MAX_TINY_FRAMES

from .pair import GET_CAMERA, GET_PAGE, OK, POST_FILE, SessionPair


def at_hub(pair: SessionPair) -> list[Event]:
    """Return the hub's events of the agent's one message."""
    return pair.hub.receive(pair.agent.take_output(), pair.clock.now)


def answering() -> tuple[SessionPair, int, int]:
    """Two streams whose answers have begun."""
    pair = SessionPair()
    page, camera = pair.opened(GET_PAGE, fin=True), pair.opened(GET_CAMERA, fin=True)
    for stream in (page, camera):
        pair.agent.respond(stream, OK, fin=False)
    pair.settle()
    return pair, page, camera


def test_body_bytes_of_several_frames_are_one_event() -> None:
    pair, page, _ = answering()

    for piece in (b"one ", b"two ", b"three"):
        pair.agent.send(page, piece, fin=False)
    pair.agent.send(page, b"", fin=True)

    assert at_hub(pair) == [DataReceived(page, b"one two three", fin=True)]


def test_bodies_of_two_streams_are_never_mixed() -> None:
    pair, page, camera = answering()

    for stream, piece in ((page, b"p1 "), (page, b"p2"), (camera, b"c1"), (page, b"p3")):
        pair.agent.send(stream, piece, fin=False)

    assert at_hub(pair) == [
        DataReceived(page, b"p1 p2p3", fin=False),
        DataReceived(camera, b"c1", fin=False),
    ]


def test_the_end_of_one_body_is_not_the_end_of_the_next() -> None:
    pair, page, camera = answering()

    pair.agent.send(page, b"p1 ", fin=False)
    pair.agent.send(page, b"p2", fin=True)
    pair.agent.send(camera, b"c1", fin=False)

    assert at_hub(pair) == [
        DataReceived(page, b"p1 p2", fin=True),
        DataReceived(camera, b"c1", fin=False),
    ]


def test_a_body_comes_before_the_reset_of_its_stream_and_behind_its_head() -> None:
    pair = SessionPair()
    upload = pair.opened(POST_FILE)
    pair.hub.send(upload, b"." * 65_536, fin=False)
    pair.settle()

    pair.agent.respond(upload, OK, b"0", fin=False)
    pair.agent.send(upload, b"1", fin=False)
    pair.agent.taken(upload, WINDOW_BYTES // 4)
    pair.agent.send(upload, b"2", fin=False)
    pair.agent.message(b"{}")
    pair.agent.send(upload, b"3", fin=False)
    pair.agent.reset(upload, Reason.CANCELLED)

    assert at_hub(pair) == [
        HeadReceived(upload, OK, b"0", fin=False),
        DataReceived(upload, b"123", fin=False),
        CreditReceived(upload),
        MessageReceived(b"{}"),
        StreamReset(upload, Reason.CANCELLED, ""),
    ]


def test_bodies_that_alternate_byte_by_byte_are_an_event_each() -> None:
    pair, page, camera = answering()

    for _ in range(MAX_TINY_FRAMES // 2):
        pair.agent.send(page, b"p", fin=False)
        pair.agent.send(camera, b"c", fin=False)

    assert at_hub(pair) == [
        DataReceived(page, b"p" * (MAX_TINY_FRAMES // 2), fin=False),
        DataReceived(camera, b"c" * (MAX_TINY_FRAMES // 2), fin=False),
    ]


def test_an_agent_sends_no_more_tiny_frames_in_a_message_than_our_agents_do() -> None:
    pair, page, _ = answering()
    for _ in range(MAX_TINY_FRAMES + 1):
        pair.agent.send(page, b"p", fin=False)

    with pytest.raises(RemoteProtocolError, match="over 4096 frames below 64 bytes"):
        at_hub(pair)


def test_a_body_outlives_the_buffer_that_it_came_in() -> None:
    pair, page, _ = answering()
    pair.agent.send(page, b"one ", fin=False)
    pair.agent.send(page, b"two", fin=False)
    buffer = bytearray(pair.agent.take_output())

    heard = pair.hub.receive(memoryview(buffer), pair.clock.now)
    buffer[:] = bytes(len(buffer))

    assert heard == [DataReceived(page, b"one two", fin=False)]
