"""Frames that can't be read or are too large: each closes its tunnel with a code that names it."""

import pytest

from printreach.wire import frames
from printreach.wire.errors import CloseCode, RemoteProtocolError
from printreach.wire.events import PeerClosed
from printreach.wire.frames import (
    CHUNK_BYTES,
    FIN,
    MAX_PAYLOAD_BYTES,
    MAX_TEXT_BYTES,
    Kind,
    frame,
)
from printreach.wire.heads import MAX_HEAD_BYTES

from .breaches import breach, hello, open_frame
from .pair import OK, SessionPair

CONTROL_KINDS = [Kind.HELLO, Kind.PING, Kind.PONG, Kind.MESSAGE, Kind.DRAIN, Kind.CLOSE]


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

    assert breach(pair.end(end), message) == CloseCode.BAD_FRAME


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

    assert breach(pair.hub, message) == CloseCode.BAD_FRAME


@pytest.mark.parametrize("payload", [b"", b"\x00", b"\x00\x00", b"\x00\x00\x04GET"])
def test_an_open_that_is_shorter_than_its_head_is_a_bad_frame(payload: bytes) -> None:
    pair = SessionPair()

    assert breach(pair.agent, frame(Kind.OPEN, 1, payload)) == CloseCode.BAD_FRAME


@pytest.mark.parametrize("payload", [b"", b"\x00", b"\x00\x04200"])
def test_a_head_that_is_shorter_than_it_says_is_a_bad_frame(payload: bytes) -> None:
    pair = SessionPair()
    stream = pair.opened()

    assert breach(pair.hub, frame(Kind.HEAD, stream, payload)) == CloseCode.BAD_FRAME


@pytest.mark.parametrize(
    "kind", [kind for kind in Kind if kind not in (Kind.OPEN, Kind.HEAD, Kind.DATA)]
)
def test_only_frames_of_a_body_carry_a_fin(kind: Kind) -> None:
    pair = SessionPair()
    pair.opened()

    assert breach(pair.hub, frame(kind | FIN, 1, bytes(8))) == CloseCode.BAD_FRAME


@pytest.mark.parametrize("kind", CONTROL_KINDS)
def test_control_frames_belong_to_no_stream(kind: Kind) -> None:
    pair = SessionPair(greeted=kind is not Kind.HELLO)

    assert breach(pair.agent, frame(kind, 1, bytes(8))) == CloseCode.BAD_FRAME


# --- too large ------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [MAX_PAYLOAD_BYTES + 1, 0xFFFF_FFFF])
def test_a_length_beyond_the_largest_payload_is_refused_by_its_header(length: int) -> None:
    pair = SessionPair()

    header = frames.HEADER.pack(length, 0, Kind.MESSAGE)

    assert breach(pair.hub, header) == CloseCode.FRAME_TOO_LARGE


def test_a_link_message_has_a_bound() -> None:
    pair = SessionPair()

    message = frame(Kind.MESSAGE, 0, bytes(CHUNK_BYTES)) * 16

    assert breach(pair.hub, message) == CloseCode.FRAME_TOO_LARGE


def test_data_is_at_most_a_chunk() -> None:
    pair = SessionPair()
    stream = pair.opened()

    message = frame(Kind.DATA, stream, bytes(CHUNK_BYTES + 1))

    assert breach(pair.agent, message) == CloseCode.FRAME_TOO_LARGE


def test_the_body_after_a_head_is_at_most_a_chunk() -> None:
    body = bytes(CHUNK_BYTES + 1)
    pair = SessionPair()
    stream = pair.opened()

    answer = frame(Kind.HEAD, stream, frames.encode_head(OK, body))

    assert breach(pair.agent, open_frame(2, body=body)) == CloseCode.FRAME_TOO_LARGE
    assert breach(pair.hub, answer) == CloseCode.FRAME_TOO_LARGE


def test_a_message_is_at_most_a_chunk() -> None:
    pair = SessionPair()

    message = frame(Kind.MESSAGE, 0, bytes(CHUNK_BYTES + 1))

    assert breach(pair.agent, message) == CloseCode.FRAME_TOO_LARGE


def test_a_head_beyond_its_bound_is_a_bad_head() -> None:
    head = bytes(MAX_HEAD_BYTES + 1)
    pair = SessionPair()
    stream = pair.opened()

    answer = frame(Kind.HEAD, stream, frames.encode_head(head, b""))

    assert breach(pair.agent, open_frame(2, head)) == CloseCode.BAD_HEAD
    assert breach(pair.hub, answer) == CloseCode.BAD_HEAD


def test_an_interim_head_beyond_its_bound_is_a_bad_head() -> None:
    pair = SessionPair()
    stream = pair.opened()

    message = frame(Kind.INTERIM, stream, bytes(MAX_HEAD_BYTES + 1))

    assert breach(pair.hub, message) == CloseCode.BAD_HEAD
