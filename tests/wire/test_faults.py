"""What the other end may not send: each breach closes its tunnel with a code that names it."""

import pytest

from printreach.wire import frames
from printreach.wire.errors import CloseCode, RemoteProtocolError
from printreach.wire.events import PeerClosed
from printreach.wire.frames import (
    CHUNK_BYTES,
    FIN,
    MAX_CREDIT_BYTES,
    MAX_PAYLOAD_BYTES,
    MAX_STREAMS,
    MAX_TEXT_BYTES,
    WINDOW_BYTES,
    Kind,
    frame,
)
from printreach.wire.heads import MAX_HEAD_BYTES
from printreach.wire.session import Session

from .pair import EARLY_HINTS, GET_PAGE, OK, POST_FILE, SessionPair

HEAD = frame(Kind.HEAD, 1, frames.encode_head(OK, b""))
CONTROL_KINDS = [
    Kind.HELLO,
    Kind.PING,
    Kind.PONG,
    Kind.MESSAGE,
    Kind.DRAIN,
    Kind.CLOSE,
]


def breach(session: Session, message: bytes) -> CloseCode:
    """The code that closes the tunnel when this message arrives; a CLOSE frame has to say so."""
    session.take_output()
    with pytest.raises(RemoteProtocolError) as raised:
        session.receive(message, 1000.0)
    fault = raised.value
    assert session.take_output() == frame(
        Kind.CLOSE, 0, frames.encode_text(fault.code, fault.text)
    ), "a CLOSE frame that names the fault, and nothing else"
    assert not session.is_ready
    return fault.code


def end_of(pair: SessionPair, end: str) -> Session:
    return pair.hub if end == "hub" else pair.agent


def open_frame(stream: int, head: bytes = GET_PAGE, body: bytes = b"") -> bytes:
    return frame(Kind.OPEN, stream, frames.encode_open(0, head, body))


def hello(*, low: int = 1, high: int = 1, window: int = WINDOW_BYTES, names: bytes = b"") -> bytes:
    return frame(Kind.HELLO, 0, frames.HELLO_PREFIX.pack(low, high, window) + names)


def credit(stream: int, size: int) -> bytes:
    return frame(Kind.CREDIT, stream, frames.U32.pack(size))


def test_the_other_end_is_told_what_it_did() -> None:
    pair = SessionPair()

    with pytest.raises(RemoteProtocolError, match="BAD_FRAME: unknown kind 99"):
        pair.hub.receive(frame(99, 0, b""), pair.clock.now)

    assert pair.settle().at_agent == [PeerClosed(CloseCode.BAD_FRAME, "unknown kind 99")]


# --- frames that can't be read --------------------------------------------------------------------

UNREADABLE = {
    "a header cut short": frame(Kind.DRAIN, 0, b"")[:-1],
    "a header cut short behind a whole frame": frame(Kind.DRAIN, 0, b"") + b"\x00",
    "a payload cut short": frame(Kind.MESSAGE, 0, b"{}")[:-1],
    "a payload missing": frames.HEADER.pack(1, 1, Kind.DATA),
    "kind 0": frame(0, 0, b""),
    "an unknown kind": frame(13, 0, b""),
    "an unknown kind on a stream": frame(13, 1, b""),
    "the largest kind": frame(0x7F, 0, b""),
    "an unknown kind with FIN": frame(13 | FIN, 0, b""),
    "CREDIT of three bytes": frame(Kind.CREDIT, 1, b"\x00\x00\x01"),
    "CREDIT of five bytes": frame(Kind.CREDIT, 1, b"\x00\x00\x00\x01\x00"),
    "RESET without a reason": frame(Kind.RESET, 1, b"\x00"),
    "RESET with an endless text": frame(Kind.RESET, 1, bytes(2 + MAX_TEXT_BYTES + 1)),
    "PING of seven bytes": frame(Kind.PING, 0, bytes(7)),
    "PONG of nine bytes": frame(Kind.PONG, 0, bytes(9)),
    "DRAIN with a payload": frame(Kind.DRAIN, 0, b"please"),
    "CLOSE without a code": frame(Kind.CLOSE, 0, b"\x00"),
    "CLOSE with an endless text": frame(Kind.CLOSE, 0, bytes(2 + MAX_TEXT_BYTES + 1)),
}


@pytest.mark.parametrize("message", UNREADABLE.values(), ids=UNREADABLE.keys())
@pytest.mark.parametrize("end", ["hub", "agent"])
def test_a_frame_that_cannot_be_read_is_a_bad_frame(end: str, message: bytes) -> None:
    pair = SessionPair()
    pair.opened()

    assert breach(end_of(pair, end), message) is CloseCode.BAD_FRAME


@pytest.mark.parametrize(
    "message",
    [
        frame(Kind.HELLO, 0, b"\x01\x01\x00\x04\x00"),
        hello(names=b"x" * 4096),
        hello(names=b"caf\xc3\xa9"),
    ],
    ids=["cut short", "endless capabilities", "capabilities beyond ASCII"],
)
def test_a_hello_that_cannot_be_read_is_a_bad_frame(message: bytes) -> None:
    pair = SessionPair(greeted=False)

    assert breach(pair.hub, message) is CloseCode.BAD_FRAME


@pytest.mark.parametrize("payload", [b"", b"\x00", b"\x00\x00", b"\x00\x00\x04GET"])
def test_an_open_that_is_shorter_than_its_head_is_a_bad_frame(payload: bytes) -> None:
    pair = SessionPair()

    assert breach(pair.agent, frame(Kind.OPEN, 1, payload)) is CloseCode.BAD_FRAME


@pytest.mark.parametrize("payload", [b"", b"\x00", b"\x00\x04200"])
def test_a_head_that_is_shorter_than_it_says_is_a_bad_frame(payload: bytes) -> None:
    pair = SessionPair()
    stream = pair.opened()

    assert breach(pair.hub, frame(Kind.HEAD, stream, payload)) is CloseCode.BAD_FRAME


@pytest.mark.parametrize(
    "kind", [kind for kind in Kind if kind not in (Kind.OPEN, Kind.HEAD, Kind.DATA)]
)
def test_only_frames_of_a_body_carry_a_fin(kind: Kind) -> None:
    pair = SessionPair()
    pair.opened()

    assert breach(pair.hub, frame(kind | FIN, 1, bytes(8))) is CloseCode.BAD_FRAME


@pytest.mark.parametrize("kind", CONTROL_KINDS)
def test_control_frames_belong_to_no_stream(kind: Kind) -> None:
    pair = SessionPair(greeted=kind is not Kind.HELLO)

    assert breach(pair.agent, frame(kind, 1, bytes(8))) is CloseCode.BAD_FRAME


# --- too large ------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [MAX_PAYLOAD_BYTES + 1, 0xFFFF_FFFF])
def test_a_length_beyond_the_largest_payload_is_refused_by_its_header(length: int) -> None:
    pair = SessionPair()

    header = frames.HEADER.pack(length, 0, Kind.MESSAGE)

    assert breach(pair.hub, header) is CloseCode.FRAME_TOO_LARGE


def test_a_link_message_has_a_bound() -> None:
    pair = SessionPair()

    message = frame(Kind.MESSAGE, 0, bytes(CHUNK_BYTES)) * 16

    assert breach(pair.hub, message) is CloseCode.FRAME_TOO_LARGE


def test_data_is_at_most_a_chunk() -> None:
    pair = SessionPair()
    stream = pair.opened()

    message = frame(Kind.DATA, stream, bytes(CHUNK_BYTES + 1))

    assert breach(pair.agent, message) is CloseCode.FRAME_TOO_LARGE


def test_the_body_behind_a_head_is_at_most_a_chunk() -> None:
    body = bytes(CHUNK_BYTES + 1)
    pair = SessionPair()
    stream = pair.opened()

    answer = frame(Kind.HEAD, stream, frames.encode_head(OK, body))

    assert breach(pair.agent, open_frame(2, body=body)) is CloseCode.FRAME_TOO_LARGE
    assert breach(pair.hub, answer) is CloseCode.FRAME_TOO_LARGE


def test_a_message_is_at_most_a_chunk() -> None:
    pair = SessionPair()

    message = frame(Kind.MESSAGE, 0, bytes(CHUNK_BYTES + 1))

    assert breach(pair.agent, message) is CloseCode.FRAME_TOO_LARGE


def test_a_head_beyond_its_bound_is_a_bad_head() -> None:
    head = bytes(MAX_HEAD_BYTES + 1)
    pair = SessionPair()
    stream = pair.opened()

    answer = frame(Kind.HEAD, stream, frames.encode_head(head, b""))

    assert breach(pair.agent, open_frame(2, head)) is CloseCode.BAD_HEAD
    assert breach(pair.hub, answer) is CloseCode.BAD_HEAD


def test_an_interim_head_beyond_its_bound_is_a_bad_head() -> None:
    pair = SessionPair()
    stream = pair.opened()

    message = frame(Kind.INTERIM, stream, bytes(MAX_HEAD_BYTES + 1))

    assert breach(pair.hub, message) is CloseCode.BAD_HEAD


# --- right in themselves, wrong now ---------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in (Kind.HELLO, Kind.CLOSE)])
def test_hello_comes_first(kind: Kind) -> None:
    pair = SessionPair(greeted=False)

    assert breach(pair.agent, frame(kind, 0, bytes(8))) is CloseCode.UNEXPECTED_FRAME


def test_hello_comes_once() -> None:
    pair = SessionPair()

    assert breach(pair.hub, hello()) is CloseCode.UNEXPECTED_FRAME


def test_an_agent_opens_no_streams() -> None:
    pair = SessionPair()

    assert breach(pair.hub, open_frame(1)) is CloseCode.UNEXPECTED_FRAME


@pytest.mark.parametrize(
    "message", [HEAD, frame(Kind.INTERIM, 1, EARLY_HINTS)], ids=["HEAD", "INTERIM"]
)
def test_a_hub_sends_no_answers(message: bytes) -> None:
    pair = SessionPair()
    pair.opened()

    assert breach(pair.agent, message) is CloseCode.UNEXPECTED_FRAME


def test_an_answer_has_one_head() -> None:
    pair = SessionPair()
    pair.opened()

    assert breach(pair.hub, HEAD + HEAD) is CloseCode.UNEXPECTED_FRAME


def test_no_interim_head_follows_the_head() -> None:
    pair = SessionPair()
    pair.opened()

    late = frame(Kind.INTERIM, 1, EARLY_HINTS)

    assert breach(pair.hub, HEAD + late) is CloseCode.UNEXPECTED_FRAME


def test_an_answer_begins_with_its_head() -> None:
    pair = SessionPair()
    pair.opened()

    assert breach(pair.hub, frame(Kind.DATA, 1, b"body")) is CloseCode.UNEXPECTED_FRAME


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

    assert breach(end_of(pair, end), late) is CloseCode.UNEXPECTED_FRAME


# --- streams --------------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [5, 4, 1, 0])
def test_a_stream_id_is_used_once_and_they_only_rise(again: int) -> None:
    pair = SessionPair()

    assert breach(pair.agent, open_frame(5) + open_frame(again)) is CloseCode.STREAM_REUSED


def test_the_id_of_an_ended_stream_is_not_used_again() -> None:
    pair = SessionPair()
    stream = pair.opened(fin=True)
    pair.agent.respond(stream, OK, fin=True)
    pair.settle()

    assert breach(pair.agent, open_frame(stream)) is CloseCode.STREAM_REUSED


@pytest.mark.parametrize("stream", [0, 2, 0xFFFF_FFFF])
@pytest.mark.parametrize("kind", [Kind.DATA, Kind.HEAD, Kind.INTERIM, Kind.CREDIT, Kind.RESET])
def test_a_hub_refuses_frames_of_a_stream_that_never_was(kind: Kind, stream: int) -> None:
    pair = SessionPair()
    pair.opened()

    message = frame(kind, stream, bytes(4))

    assert breach(pair.hub, message) is CloseCode.UNKNOWN_STREAM


@pytest.mark.parametrize("stream", [0, 2, 0xFFFF_FFFF])
@pytest.mark.parametrize("kind", [Kind.DATA, Kind.CREDIT, Kind.RESET])
def test_an_agent_refuses_frames_of_a_stream_that_never_was(kind: Kind, stream: int) -> None:
    pair = SessionPair()
    pair.opened()

    message = frame(kind, stream, bytes(4))

    assert breach(pair.agent, message) is CloseCode.UNKNOWN_STREAM


def test_a_tunnel_holds_so_many_streams_and_no_more() -> None:
    pair = SessionPair()
    for _ in range(MAX_STREAMS):
        pair.opened()

    message = open_frame(MAX_STREAMS + 1)

    assert breach(pair.agent, message) is CloseCode.TOO_MANY_STREAMS


# --- credit ---------------------------------------------------------------------------------------


def test_data_beyond_the_window_is_an_overrun() -> None:
    pair = SessionPair(window=100_000)
    stream = pair.opened()
    within = frame(Kind.DATA, stream, bytes(50_000))

    pair.agent.receive(within + within, pair.clock.now)

    assert breach(pair.agent, frame(Kind.DATA, stream, b"1")) is CloseCode.WINDOW_OVERRUN


def test_first_body_bytes_beyond_what_is_left_are_an_overrun() -> None:
    pair = SessionPair(window=CHUNK_BYTES)
    stream = pair.opened()
    body = frames.encode_head(OK, bytes(CHUNK_BYTES))
    pair.hub.receive(frame(Kind.HEAD, stream, body), pair.clock.now)

    assert breach(pair.hub, frame(Kind.DATA, stream, b"1")) is CloseCode.WINDOW_OVERRUN


def test_credit_that_was_not_granted_yet_does_not_count() -> None:
    pair = SessionPair(window=100_000)
    stream = pair.opened()
    pair.agent.receive(frame(Kind.DATA, stream, bytes(60_000)), pair.clock.now)
    pair.agent.taken(stream, 40_000)  # under half: nothing was given back

    message = frame(Kind.DATA, stream, bytes(40_001))

    assert breach(pair.agent, message) is CloseCode.WINDOW_OVERRUN


@pytest.mark.parametrize(
    "size", [0, MAX_CREDIT_BYTES - WINDOW_BYTES + 1, MAX_CREDIT_BYTES + 1, 0xFFFF_FFFF]
)
@pytest.mark.parametrize("end", ["hub", "agent"])
def test_credit_of_nothing_or_beyond_all_bounds_is_bad(end: str, size: int) -> None:
    pair = SessionPair()
    stream = pair.opened()

    assert breach(end_of(pair, end), credit(stream, size)) is CloseCode.BAD_CREDIT


def test_credit_up_to_its_bound_is_taken() -> None:
    pair = SessionPair()
    stream = pair.opened()

    pair.hub.receive(credit(stream, MAX_CREDIT_BYTES - WINDOW_BYTES), pair.clock.now)

    assert pair.hub.credit(stream) == MAX_CREDIT_BYTES


@pytest.mark.parametrize("window", [0, CHUNK_BYTES - 1, MAX_CREDIT_BYTES + 1])
def test_a_window_that_holds_no_chunk_is_bad_credit(window: int) -> None:
    pair = SessionPair(greeted=False)

    assert breach(pair.hub, hello(window=window)) is CloseCode.BAD_CREDIT


# --- versions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("low", "high"), [(2, 9), (0, 0), (2, 1)])
def test_an_end_without_a_version_in_common_is_refused(low: int, high: int) -> None:
    pair = SessionPair(greeted=False)

    message = hello(low=low, high=high)

    assert breach(pair.agent, message) is CloseCode.VERSION_UNSUPPORTED
