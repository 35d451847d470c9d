"""The life of a stream at both ends. docs/protocol.md, "Streams", has the same as a table."""

import pytest

from printreach.wire import frames
from printreach.wire.errors import LocalProtocolError
from printreach.wire.events import (
    DataReceived,
    HeadReceived,
    InterimReceived,
    StreamOpened,
)
from printreach.wire.frames import CHUNK_BYTES, MAX_STREAMS, Kind
from printreach.wire.heads import MAX_HEAD_BYTES

from .pair import EARLY_HINTS, GET_CAMERA, GET_PAGE, OK, POST_FILE, SessionPair


def test_a_request_reaches_the_agent_with_the_first_bytes_of_its_body() -> None:
    pair = SessionPair()

    stream = pair.hub.open(POST_FILE, b"first", fin=False)

    assert pair.settle().at_agent == [
        StreamOpened(stream, POST_FILE, b"first", fin=False, upgrade=False, secure=False)
    ]


def test_a_whole_small_answer_travels_in_one_frame() -> None:
    pair = SessionPair()
    stream = pair.opened(GET_PAGE, fin=True)

    pair.agent.respond(stream, OK, b"<html>", fin=True)

    assert pair.settle().at_hub == [HeadReceived(stream, OK, b"<html>", fin=True)]


@pytest.mark.parametrize(("upgrade", "secure"), [(True, False), (False, True), (True, True)])
def test_the_agent_is_told_of_upgrades_and_of_https_callers(upgrade: bool, secure: bool) -> None:
    pair = SessionPair()

    stream = pair.hub.open(GET_PAGE, fin=False, upgrade=upgrade, secure=secure)

    assert pair.settle().at_agent == [StreamOpened(stream, GET_PAGE, b"", False, upgrade, secure)]


def test_a_request_body_arrives_in_order() -> None:
    pair = SessionPair()
    stream = pair.opened(POST_FILE)

    pair.hub.send(stream, b"one", fin=False)
    one = pair.settle().at_agent
    pair.hub.send(stream, b"two", fin=True)
    two = pair.settle().at_agent

    assert one == [DataReceived(stream, b"one", fin=False)]
    assert two == [DataReceived(stream, b"two", fin=True)]


def test_an_answer_body_arrives_in_order() -> None:
    pair = SessionPair()
    stream = pair.opened(fin=True)

    pair.agent.respond(stream, OK, fin=False)
    pair.agent.send(stream, b"one", fin=False)
    pair.agent.send(stream, b"", fin=True)

    assert pair.settle().at_hub == [
        HeadReceived(stream, OK, b"", fin=False),
        DataReceived(stream, b"one", fin=True),
    ]


def test_an_empty_chunk_is_neither_sent_nor_reported() -> None:
    # HTTP/1.1 ends a chunked body with an empty chunk: passed on as one, it would end the answer
    # early, and what follows would be read as the answer to the next request.
    pair = SessionPair()
    stream = pair.opened(POST_FILE)

    pair.hub.send(stream, b"", fin=False)
    assert not pair.hub.has_output

    empty = frames.frame(Kind.DATA, stream, b"")
    assert pair.agent.receive(empty, pair.clock.now) == []


def test_interim_heads_come_before_the_answer() -> None:
    pair = SessionPair()
    stream = pair.opened(fin=True)

    pair.agent.interim(stream, EARLY_HINTS)
    pair.agent.interim(stream, EARLY_HINTS)
    pair.agent.respond(stream, OK, fin=True)

    assert pair.settle().at_hub == [
        InterimReceived(stream, EARLY_HINTS),
        InterimReceived(stream, EARLY_HINTS),
        HeadReceived(stream, OK, b"", fin=True),
    ]


def test_streams_run_beside_each_other() -> None:
    pair = SessionPair()
    page, camera = pair.opened(GET_PAGE, fin=True), pair.opened(GET_CAMERA, fin=True)

    pair.agent.respond(camera, OK, b"frame", fin=False)
    pair.agent.respond(page, OK, b"<html>", fin=True)
    pair.agent.send(camera, b"frame", fin=False)

    assert pair.settle().at_hub == [
        HeadReceived(camera, OK, b"frame", fin=False),
        HeadReceived(page, OK, b"<html>", fin=True),
        DataReceived(camera, b"frame", fin=False),
    ]


# --- each direction ends on its own ---------------------------------------------------------------


def test_an_answer_may_come_while_the_request_body_still_runs() -> None:
    pair = SessionPair()
    stream = pair.opened(POST_FILE)

    pair.agent.respond(stream, OK, b"too large", fin=True)
    pair.settle()
    pair.hub.send(stream, b"rest", fin=True)

    assert pair.settle().at_agent == [DataReceived(stream, b"rest", fin=True)]


def test_an_upgraded_stream_talks_on_after_the_caller_has_finished() -> None:
    pair = SessionPair()
    stream = pair.opened()
    pair.agent.respond(stream, OK, fin=False)
    pair.hub.send(stream, b"bye", fin=True)
    pair.settle()

    pair.agent.send(stream, b"last words", fin=False)

    assert pair.settle().at_hub == [DataReceived(stream, b"last words", fin=False)]


@pytest.mark.parametrize("answer_first", [True, False])
def test_a_stream_is_forgotten_when_both_directions_have_ended(answer_first: bool) -> None:
    pair = SessionPair()
    stream = pair.opened(POST_FILE)
    if answer_first:
        pair.agent.respond(stream, OK, fin=True)
        pair.settle()
        pair.hub.send(stream, b"", fin=True)
    else:
        pair.hub.send(stream, b"", fin=True)
        pair.settle()
        pair.agent.respond(stream, OK, fin=True)

    pair.settle()

    assert not pair.hub.is_open(stream)
    assert not pair.agent.is_open(stream)


def test_a_stream_with_one_open_direction_is_still_counted() -> None:
    pair = SessionPair()
    stream = pair.opened(fin=True)

    assert pair.hub.stream_count == pair.agent.stream_count == 1
    assert pair.agent.is_open(stream)


# --- what our own code may not ask for ------------------------------------------------------------


def test_only_the_hub_opens_streams() -> None:
    pair = SessionPair()

    with pytest.raises(LocalProtocolError, match="no stream can be opened"):
        pair.agent.open(GET_PAGE, fin=True)


def test_no_stream_is_opened_before_the_agent_has_said_hello() -> None:
    pair = SessionPair(greeted=False)

    assert not pair.hub.may_open
    with pytest.raises(LocalProtocolError, match="no stream can be opened"):
        pair.hub.open(GET_PAGE, fin=True)


def test_the_hub_opens_no_more_streams_than_the_agent_takes() -> None:
    pair = SessionPair()
    streams = [pair.hub.open(GET_PAGE, fin=True) for _ in range(MAX_STREAMS)]
    with pytest.raises(LocalProtocolError, match="no stream can be opened"):
        pair.hub.open(GET_PAGE, fin=True)

    pair.settle()
    pair.agent.respond(streams[0], OK, fin=True)
    pair.settle()

    assert pair.hub.may_open
    assert pair.agent.is_open(pair.opened())


def test_only_the_agent_answers() -> None:
    pair = SessionPair()
    stream = pair.opened()

    with pytest.raises(LocalProtocolError, match="a head has no place"):
        pair.hub.respond(stream, OK, fin=True)
    with pytest.raises(LocalProtocolError, match="an interim head has no place"):
        pair.hub.interim(stream, EARLY_HINTS)


def test_an_answer_has_one_head_and_its_interim_heads_before_it() -> None:
    pair = SessionPair()
    stream = pair.opened()
    pair.agent.respond(stream, OK, fin=False)

    with pytest.raises(LocalProtocolError, match="a head has no place"):
        pair.agent.respond(stream, OK, fin=False)
    with pytest.raises(LocalProtocolError, match="an interim head has no place"):
        pair.agent.interim(stream, EARLY_HINTS)


def test_an_answer_begins_with_its_head() -> None:
    pair = SessionPair()
    stream = pair.opened()

    with pytest.raises(LocalProtocolError, match="a body before its head"):
        pair.agent.send(stream, b"body", fin=False)


@pytest.mark.parametrize("end", ["hub", "agent"])
def test_nothing_is_sent_after_a_fin(end: str) -> None:
    pair = SessionPair()
    stream = pair.opened(fin=True)
    pair.agent.respond(stream, OK, fin=False)
    if end == "agent":
        pair.agent.send(stream, b"", fin=True)

    with pytest.raises(LocalProtocolError, match="not open for sending"):
        pair.end(end).send(stream, b"more", fin=False)


@pytest.mark.parametrize("end", ["hub", "agent"])
def test_nothing_is_sent_on_a_stream_that_never_was(end: str) -> None:
    pair = SessionPair()

    with pytest.raises(LocalProtocolError, match="stream 7 is not open"):
        pair.end(end).send(7, b"body", fin=False)


def test_a_frame_carries_at_most_a_chunk() -> None:
    pair = SessionPair()
    stream = pair.opened()

    pair.hub.send(stream, bytes(CHUNK_BYTES), fin=False)
    with pytest.raises(LocalProtocolError, match="a chunk of 65537 bytes"):
        pair.hub.send(stream, bytes(CHUNK_BYTES + 1), fin=False)


def test_a_head_brings_at_most_a_chunk_along() -> None:
    body = bytes(CHUNK_BYTES + 1)
    pair = SessionPair()
    stream = pair.opened()

    with pytest.raises(LocalProtocolError, match="a chunk of 65537 bytes"):
        pair.hub.open(POST_FILE, body, fin=False)
    with pytest.raises(LocalProtocolError, match="a chunk of 65537 bytes"):
        pair.agent.respond(stream, OK, body, fin=False)

    assert_untouched(pair, stream)


@pytest.mark.parametrize("size", [MAX_HEAD_BYTES + 1, 0x1_0000])
def test_a_head_has_a_bound(size: int) -> None:
    head = bytes(size)
    pair = SessionPair()
    stream = pair.opened()

    with pytest.raises(LocalProtocolError, match=f"a head of {size} bytes"):
        pair.hub.open(head, fin=False)
    with pytest.raises(LocalProtocolError, match=f"a head of {size} bytes"):
        pair.agent.respond(stream, head, fin=False)
    with pytest.raises(LocalProtocolError, match=f"a head of {size} bytes"):
        pair.agent.interim(stream, head)

    assert_untouched(pair, stream)


def assert_untouched(pair: SessionPair, stream: int) -> None:
    """Nothing was sent, the only stream is the given one, and it can still be answered."""
    assert pair.settle() == ([], [])
    assert pair.hub.stream_count == pair.agent.stream_count == 1
    pair.agent.respond(stream, OK, fin=True)
    assert pair.settle().at_hub == [HeadReceived(stream, OK, b"", fin=True)]
    assert pair.hub.open(GET_PAGE, fin=True) == stream + 1
