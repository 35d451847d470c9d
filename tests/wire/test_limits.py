"""Frames just within a limit pass whole."""

from printreach.wire import frames
from printreach.wire.events import (
    DataReceived,
    HeadReceived,
    InterimReceived,
    MessageReceived,
    StreamOpened,
)
from printreach.wire.frames import CHUNK_BYTES, HEADER_BYTES, MAX_MESSAGE_BYTES, WINDOW_BYTES, Kind
from printreach.wire.heads import MAX_HEAD_BYTES

from .breaches import hello
from .pair import SessionPair

HEAD = b"h" * MAX_HEAD_BYTES
CHUNK = b"c" * CHUNK_BYTES
FRAMES_A_MESSAGE = MAX_MESSAGE_BYTES // (CHUNK_BYTES + HEADER_BYTES)
REST = b"r" * (MAX_MESSAGE_BYTES % (CHUNK_BYTES + HEADER_BYTES) - HEADER_BYTES)


def test_the_largest_head_passes_with_a_whole_chunk_beside_it() -> None:
    pair = SessionPair()

    stream = pair.hub.open(HEAD, CHUNK, fin=True)
    assert pair.settle().at_agent == [StreamOpened(stream, HEAD, CHUNK, True, False, False)]
    pair.agent.interim(stream, HEAD)
    pair.agent.respond(stream, HEAD, CHUNK, fin=True)

    assert pair.settle().at_hub == [
        InterimReceived(stream, HEAD),
        HeadReceived(stream, HEAD, CHUNK, fin=True),
    ]


def test_a_stream_may_spend_its_last_byte_of_credit() -> None:
    pair = SessionPair()
    stream = pair.opened()

    for _ in range(WINDOW_BYTES // CHUNK_BYTES):
        pair.hub.send(stream, CHUNK, fin=False)

    body = b"".join([CHUNK] * (WINDOW_BYTES // CHUNK_BYTES))
    assert pair.settle().at_agent == [DataReceived(stream, body, fin=False)]
    assert pair.hub.credit(stream) == 0


def test_the_largest_control_message_passes() -> None:
    pair = SessionPair()

    pair.agent.message(CHUNK)

    assert pair.settle().at_hub == [MessageReceived(CHUNK)]


def test_the_largest_link_message_is_full_to_the_last_byte() -> None:
    pair = SessionPair()
    said = [CHUNK] * FRAMES_A_MESSAGE + [REST]

    for payload in [*said, b"next"]:
        pair.agent.message(payload)
    full = pair.agent.take_output()

    assert len(full) == MAX_MESSAGE_BYTES
    assert pair.hub.receive(full, pair.clock.now) == [MessageReceived(p) for p in said]
    assert pair.agent.take_output() == frames.frame(Kind.MESSAGE, 0, b"next")


def test_a_full_link_message_leaves_no_output() -> None:
    pair = SessionPair()

    for payload in [*[CHUNK] * FRAMES_A_MESSAGE, REST]:
        pair.agent.message(payload)

    assert len(pair.agent.take_output()) == MAX_MESSAGE_BYTES
    assert not pair.agent.has_output


def test_the_largest_greeting_is_read() -> None:
    pair = SessionPair(greeted=False)

    pair.hub.receive(hello(names=b"x" * (4096 - frames.HELLO_PREFIX.size)), pair.clock.now)

    assert pair.hub.is_ready
