"""Credit per stream: a slow reader stops its own sender and no other."""

import pytest

from printreach.wire.errors import LocalProtocolError, Reason
from printreach.wire.events import CreditReceived, DataReceived
from printreach.wire.frames import CHUNK_BYTES, MAX_CREDIT_BYTES, WINDOW_BYTES
from printreach.wire.state import FAST_BYTES, FAST_WITHIN_S, MAX_WIDE_STREAMS, WIDER

from .pair import GET_CAMERA, OK, POST_FILE, SessionPair


def test_a_new_stream_may_send_what_the_other_end_announced() -> None:
    pair = SessionPair(window=100_000)

    stream = pair.opened()

    assert pair.hub.credit(stream) == pair.agent.credit(stream) == 100_000


def test_the_first_body_bytes_take_credit_like_all_others() -> None:
    pair = SessionPair()

    stream = pair.hub.open(POST_FILE, bytes(1000), fin=False)
    pair.settle()
    pair.agent.respond(stream, OK, bytes(2000), fin=False)
    pair.hub.send(stream, bytes(30), fin=False)

    assert pair.hub.credit(stream) == WINDOW_BYTES - 1030
    assert pair.agent.credit(stream) == WINDOW_BYTES - 2000


@pytest.mark.parametrize("window", [0, CHUNK_BYTES - 1, MAX_CREDIT_BYTES + 1])
def test_a_window_holds_at_least_a_chunk(window: int) -> None:
    with pytest.raises(LocalProtocolError, match=f"a window of {window} bytes"):
        SessionPair(window=window)


def test_sending_beyond_the_credit_is_refused_and_changes_nothing() -> None:
    pair = SessionPair(window=100_000)
    stream = pair.opened(POST_FILE)
    pair.hub.send(stream, bytes(60_000), fin=False)
    pair.settle()

    with pytest.raises(LocalProtocolError, match="40001 bytes sent with 40000 of credit"):
        pair.hub.send(stream, bytes(40_001), fin=True)

    assert pair.hub.credit(stream) == 40_000
    assert not pair.hub.has_output
    pair.hub.send(stream, bytes(40_000), fin=True)


def test_credit_goes_back_when_a_quarter_of_the_window_has_been_taken() -> None:
    pair = SessionPair(window=100_000)
    stream = pair.opened(POST_FILE)
    pair.hub.send(stream, bytes(60_000), fin=False)
    pair.settle()

    pair.agent.taken(stream, 24_999)
    assert not pair.agent.has_output
    pair.agent.taken(stream, 1)

    assert pair.settle().at_hub == [CreditReceived(stream)]
    assert pair.hub.credit(stream) == 65_000


def test_taken_bytes_count_once() -> None:
    pair = SessionPair(window=100_000)
    stream = pair.opened(POST_FILE)
    pair.hub.send(stream, bytes(60_000), fin=False)
    pair.settle()

    pair.agent.taken(stream, 55_000)
    pair.agent.taken(stream, 5_000)
    pair.settle()

    assert pair.hub.credit(stream) == 95_000


def test_a_body_of_many_windows_gets_through_as_it_is_taken() -> None:
    pair = SessionPair()
    stream = pair.opened(POST_FILE)
    arrived = 0

    for _ in range(64):
        pair.hub.send(stream, bytes(CHUNK_BYTES), fin=False)
        for event in pair.settle().at_agent:
            assert isinstance(event, DataReceived)
            arrived += len(event.data)
            pair.agent.taken(stream, len(event.data))
        pair.settle()

    assert arrived == 64 * CHUNK_BYTES == 16 * WINDOW_BYTES


def upload(pair: SessionPair, stream: int, size: int, bytes_per_s: float) -> None:
    """Send and take so much of a body at this speed."""
    for _ in range(size // CHUNK_BYTES):
        pair.clock.advance(CHUNK_BYTES / bytes_per_s)
        pair.hub.send(stream, bytes(CHUNK_BYTES), fin=False)
        pair.settle()
        pair.agent.taken(stream, CHUNK_BYTES)
        pair.settle()


FAST, SLOW = 2 * FAST_BYTES / FAST_WITHIN_S, 0.5 * FAST_BYTES / FAST_WITHIN_S


def test_a_fast_stream_gets_a_wider_window_once() -> None:
    pair = SessionPair()
    stream = pair.opened(POST_FILE)

    upload(pair, stream, 2 * FAST_BYTES, FAST)
    assert pair.hub.credit(stream) == WIDER * WINDOW_BYTES
    upload(pair, stream, 8 * FAST_BYTES, FAST)
    assert pair.hub.credit(stream) == WIDER * WINDOW_BYTES
    pair.hub.send(stream, bytes(CHUNK_BYTES), fin=False)
    pair.settle()


def test_a_slow_stream_keeps_its_window_until_it_becomes_fast() -> None:
    pair = SessionPair()
    stream = pair.opened(POST_FILE)

    upload(pair, stream, 8 * FAST_BYTES, SLOW)
    assert pair.hub.credit(stream) == WINDOW_BYTES
    upload(pair, stream, 2 * FAST_BYTES, FAST)
    assert pair.hub.credit(stream) == WIDER * WINDOW_BYTES


def test_only_some_streams_of_a_tunnel_have_a_wider_window_at_once() -> None:
    pair = SessionPair()
    streams = [pair.opened(POST_FILE) for _ in range(MAX_WIDE_STREAMS + 1)]

    for stream in streams:
        upload(pair, stream, 2 * FAST_BYTES, FAST)
    windows = [pair.hub.credit(stream) for stream in streams]
    assert windows == [WIDER * WINDOW_BYTES] * MAX_WIDE_STREAMS + [WINDOW_BYTES]

    pair.hub.reset(streams[0], Reason.CANCELLED)
    pair.settle()
    upload(pair, streams[-1], 2 * FAST_BYTES, FAST)
    assert pair.hub.credit(streams[-1]) == WIDER * WINDOW_BYTES


def test_what_a_stalled_end_takes_all_at_once_makes_no_stream_fast() -> None:
    pair = SessionPair()
    stream = pair.opened(POST_FILE)

    for _ in range(16):
        pair.clock.advance(WINDOW_BYTES / SLOW)
        for _ in range(WINDOW_BYTES // CHUNK_BYTES):
            pair.hub.send(stream, bytes(CHUNK_BYTES), fin=False)
        pair.settle()
        pair.agent.taken(stream, WINDOW_BYTES)
        pair.settle()

    assert pair.hub.credit(stream) == WINDOW_BYTES


def test_no_credit_goes_back_for_a_body_that_has_ended() -> None:
    pair = SessionPair()
    stream = pair.opened(POST_FILE)
    for fin in (False, False, True):
        pair.hub.send(stream, bytes(CHUNK_BYTES), fin=fin)
    pair.settle()

    pair.agent.taken(stream, 3 * CHUNK_BYTES)

    assert not pair.agent.has_output


def test_credit_for_a_direction_that_has_ended_does_no_harm() -> None:
    pair = SessionPair()
    stream = pair.opened(POST_FILE)
    for _ in range(3):
        pair.hub.send(stream, bytes(CHUNK_BYTES), fin=False)
    pair.settle()

    pair.agent.taken(stream, 3 * CHUNK_BYTES)
    pair.hub.send(stream, b"", fin=True)

    assert pair.settle().at_hub == [CreditReceived(stream)]


def test_bytes_that_never_arrived_cannot_be_taken() -> None:
    pair = SessionPair(window=100_000)
    stream = pair.opened(POST_FILE)
    pair.hub.send(stream, bytes(60_000), fin=False)
    pair.settle()
    pair.agent.taken(stream, 40_000)

    with pytest.raises(LocalProtocolError, match="20001 bytes taken of 20000"):
        pair.agent.taken(stream, 20_001)


def test_taking_from_a_stream_that_is_gone_does_nothing() -> None:
    pair = SessionPair()

    pair.agent.taken(1, 1_000_000)

    assert not pair.agent.has_output


def test_a_stream_without_credit_does_not_hold_up_the_others() -> None:
    pair = SessionPair(window=CHUNK_BYTES)
    file, camera = pair.opened(POST_FILE), pair.opened(GET_CAMERA)
    pair.hub.send(file, bytes(CHUNK_BYTES), fin=False)
    pair.settle()
    assert pair.hub.credit(file) == 0

    pair.hub.send(camera, b"go on", fin=False)

    assert pair.settle().at_agent == [DataReceived(camera, b"go on", fin=False)]


def test_a_stream_that_is_gone_has_no_credit() -> None:
    assert SessionPair().hub.credit(1) == 0
