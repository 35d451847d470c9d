"""Output that waits: whole frames in messages of bounded size, and one pong at most."""

from collections import Counter

from printreach.wire import frames
from printreach.wire.errors import CloseCode
from printreach.wire.events import DataReceived, Event, MessageReceived
from printreach.wire.frames import CHUNK_BYTES, HEADER_BYTES, MAX_MESSAGE_BYTES, Kind

from .pair import OK, POST_FILE, SessionPair


def test_output_of_one_turn_leaves_as_one_message() -> None:
    pair = SessionPair()

    pair.agent.message(b"one")
    pair.agent.message(b"two")

    assert pair.hub.receive(pair.agent.take_output(), pair.clock.now) == [
        MessageReceived(b"one"),
        MessageReceived(b"two"),
    ]
    assert not pair.agent.has_output
    assert pair.agent.take_output() == b""


def test_a_link_message_has_a_bound_and_the_rest_waits_for_the_next() -> None:
    pair = SessionPair()
    streams = [pair.opened(POST_FILE) for _ in range(10)]
    for stream in streams * 4:
        pair.hub.send(stream, bytes(CHUNK_BYTES), fin=False)

    arrived: list[Event] = []
    sizes: list[int] = []
    while pair.hub.has_output:
        message = pair.hub.take_output()
        sizes.append(len(message))
        arrived += pair.agent.receive(message, pair.clock.now)

    received: Counter[int] = Counter()
    for event in arrived:
        assert isinstance(event, DataReceived)
        received[event.stream] += len(event.data)
    assert received == dict.fromkeys(streams, 4 * CHUNK_BYTES)
    assert max(sizes) <= MAX_MESSAGE_BYTES
    assert min(sizes[:-1]) > MAX_MESSAGE_BYTES - CHUNK_BYTES - HEADER_BYTES


def test_later_output_comes_after_output_that_waits() -> None:
    pair = SessionPair()
    streams = [pair.opened(POST_FILE) for _ in range(5)]
    for stream in streams * 4:
        pair.hub.send(stream, bytes(CHUNK_BYTES), fin=False)
    first = pair.hub.take_output()

    pair.hub.message(b"last")

    pair.agent.receive(first, pair.clock.now)
    assert pair.settle().at_agent[-1] == MessageReceived(b"last")


def test_a_flood_of_pings_leaves_one_pong_for_the_latest() -> None:
    pair = SessionPair()

    for number in range(1000):
        pair.hub.receive(frames.frame(Kind.PING, 0, number.to_bytes(8)), pair.clock.now)

    assert pair.hub.take_output() == frames.frame(Kind.PONG, 0, (999).to_bytes(8))
    assert not pair.hub.has_output


def test_a_pong_waits_beside_other_output() -> None:
    pair = SessionPair()
    stream = pair.opened()

    pair.agent.respond(stream, OK, fin=True)
    pair.agent.receive(frames.frame(Kind.PING, 0, bytes(8)), pair.clock.now)

    assert len(pair.settle().at_hub) == 1
    assert not pair.agent.has_output


def test_no_pong_follows_a_farewell() -> None:
    pair = SessionPair()
    pair.hub.receive(frames.frame(Kind.PING, 0, bytes(8)), pair.clock.now)

    pair.hub.close(CloseCode.NORMAL)

    assert pair.hub.take_output() == frames.frame(Kind.CLOSE, 0, b"\x00\x00")
