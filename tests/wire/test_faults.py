"""Well-formed frames that are wrong in this state: each closes its tunnel with its own code."""

import pytest

from printreach.wire import frames
from printreach.wire.errors import CloseCode
from printreach.wire.frames import (
    CHUNK_BYTES,
    FIN,
    MAX_CREDIT_BYTES,
    MAX_STREAMS,
    WINDOW_BYTES,
    Kind,
    frame,
)

from .breaches import breach, credit, hello, open_frame
from .pair import EARLY_HINTS, OK, POST_FILE, SessionPair

HEAD = frame(Kind.HEAD, 1, frames.encode_head(OK, b""))


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in (Kind.HELLO, Kind.CLOSE)])
def test_hello_comes_first(kind: Kind) -> None:
    pair = SessionPair(greeted=False)

    assert breach(pair.agent, frame(kind, 0, bytes(8))) == CloseCode.UNEXPECTED_FRAME


def test_hello_comes_once() -> None:
    pair = SessionPair()

    assert breach(pair.hub, hello()) == CloseCode.UNEXPECTED_FRAME


def test_an_agent_opens_no_streams() -> None:
    pair = SessionPair()

    assert breach(pair.hub, open_frame(1)) == CloseCode.UNEXPECTED_FRAME


@pytest.mark.parametrize(
    "message", [HEAD, frame(Kind.INTERIM, 1, EARLY_HINTS)], ids=["HEAD", "INTERIM"]
)
def test_a_hub_sends_no_answers(message: bytes) -> None:
    pair = SessionPair()
    pair.opened()

    assert breach(pair.agent, message) == CloseCode.UNEXPECTED_FRAME


def test_an_answer_has_one_head() -> None:
    pair = SessionPair()
    pair.opened()

    assert breach(pair.hub, HEAD + HEAD) == CloseCode.UNEXPECTED_FRAME


def test_no_interim_head_follows_the_head() -> None:
    pair = SessionPair()
    pair.opened()

    late = frame(Kind.INTERIM, 1, EARLY_HINTS)

    assert breach(pair.hub, HEAD + late) == CloseCode.UNEXPECTED_FRAME


def test_an_answer_begins_with_its_head() -> None:
    pair = SessionPair()
    pair.opened()

    assert breach(pair.hub, frame(Kind.DATA, 1, b"body")) == CloseCode.UNEXPECTED_FRAME


@pytest.mark.parametrize(
    "late",
    [frame(Kind.DATA, 1, b""), frame(Kind.DATA | FIN, 1, b""), HEAD],
    ids=["DATA", "a second FIN", "HEAD"],
)
@pytest.mark.parametrize("end", ["hub", "agent"])
def test_nothing_follows_a_fin_on_a_half_closed_stream(end: str, late: bytes) -> None:
    pair = SessionPair()
    stream = pair.opened(POST_FILE)
    if end == "hub":
        pair.agent.respond(stream, OK, fin=True)
    else:
        pair.hub.send(stream, b"", fin=True)
    pair.settle()

    assert breach(pair.end(end), late) == CloseCode.UNEXPECTED_FRAME


# --- streams --------------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [5, 4, 1, 0])
def test_a_stream_id_is_used_once_and_they_only_rise(again: int) -> None:
    pair = SessionPair()

    assert breach(pair.agent, open_frame(5) + open_frame(again)) == CloseCode.STREAM_REUSED


def test_the_id_of_an_ended_stream_is_not_used_again() -> None:
    pair = SessionPair()
    stream = pair.opened(fin=True)
    pair.agent.respond(stream, OK, fin=True)
    pair.settle()

    assert breach(pair.agent, open_frame(stream)) == CloseCode.STREAM_REUSED


@pytest.mark.parametrize("stream", [0, 2, 0xFFFF_FFFF])
@pytest.mark.parametrize("kind", [Kind.DATA, Kind.HEAD, Kind.INTERIM, Kind.CREDIT, Kind.RESET])
def test_a_hub_refuses_frames_of_a_stream_that_never_was(kind: Kind, stream: int) -> None:
    pair = SessionPair()
    pair.opened()

    message = frame(kind, stream, bytes(4))

    assert breach(pair.hub, message) == CloseCode.UNKNOWN_STREAM


@pytest.mark.parametrize("stream", [0, 2, 0xFFFF_FFFF])
@pytest.mark.parametrize("kind", [Kind.DATA, Kind.CREDIT, Kind.RESET])
def test_an_agent_refuses_frames_of_a_stream_that_never_was(kind: Kind, stream: int) -> None:
    pair = SessionPair()
    pair.opened()

    message = frame(kind, stream, bytes(4))

    assert breach(pair.agent, message) == CloseCode.UNKNOWN_STREAM


def test_a_tunnel_holds_so_many_streams_and_no_more() -> None:
    pair = SessionPair()
    for _ in range(MAX_STREAMS):
        pair.opened()

    message = open_frame(MAX_STREAMS + 1)

    assert breach(pair.agent, message) == CloseCode.TOO_MANY_STREAMS


# --- credit ---------------------------------------------------------------------------------------


def test_data_beyond_the_window_is_an_overrun() -> None:
    pair = SessionPair(window=100_000)
    stream = pair.opened()
    within = frame(Kind.DATA, stream, bytes(50_000))

    pair.agent.receive(within + within, pair.clock.now)

    assert breach(pair.agent, frame(Kind.DATA, stream, b"1")) == CloseCode.WINDOW_OVERRUN


def test_first_body_bytes_beyond_what_is_left_are_an_overrun() -> None:
    pair = SessionPair(window=CHUNK_BYTES)
    stream = pair.opened()
    body = frames.encode_head(OK, bytes(CHUNK_BYTES))
    pair.hub.receive(frame(Kind.HEAD, stream, body), pair.clock.now)

    assert breach(pair.hub, frame(Kind.DATA, stream, b"1")) == CloseCode.WINDOW_OVERRUN


def test_credit_that_was_not_granted_yet_does_not_count() -> None:
    pair = SessionPair(window=100_000)
    stream = pair.opened()
    pair.agent.receive(frame(Kind.DATA, stream, bytes(60_000)), pair.clock.now)
    pair.agent.taken(stream, 24_999)  # under a quarter: nothing was given back

    message = frame(Kind.DATA, stream, bytes(40_001))

    assert breach(pair.agent, message) == CloseCode.WINDOW_OVERRUN


@pytest.mark.parametrize(
    "size", [0, MAX_CREDIT_BYTES - WINDOW_BYTES + 1, MAX_CREDIT_BYTES + 1, 0xFFFF_FFFF]
)
@pytest.mark.parametrize("end", ["hub", "agent"])
def test_credit_of_nothing_or_beyond_all_bounds_is_bad(end: str, size: int) -> None:
    pair = SessionPair()
    stream = pair.opened()

    assert breach(pair.end(end), credit(stream, size)) == CloseCode.BAD_CREDIT


def test_credit_up_to_its_bound_is_taken() -> None:
    pair = SessionPair()
    stream = pair.opened()

    pair.hub.receive(credit(stream, MAX_CREDIT_BYTES - WINDOW_BYTES), pair.clock.now)

    assert pair.hub.credit(stream) == MAX_CREDIT_BYTES


@pytest.mark.parametrize("window", [0, CHUNK_BYTES - 1, MAX_CREDIT_BYTES + 1])
def test_a_window_that_holds_no_chunk_is_bad_credit(window: int) -> None:
    pair = SessionPair(greeted=False)

    assert breach(pair.hub, hello(window=window)) == CloseCode.BAD_CREDIT


# --- versions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("low", "high"), [(2, 9), (0, 0), (2, 1)])
def test_an_end_without_a_version_in_common_is_refused(low: int, high: int) -> None:
    pair = SessionPair(greeted=False)

    message = hello(low=low, high=high)

    assert breach(pair.agent, message) == CloseCode.VERSION_UNSUPPORTED
