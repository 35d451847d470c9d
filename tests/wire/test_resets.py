"""A reset ends one stream in both directions, at any time, and frames under way are dropped."""

from collections.abc import Callable

import pytest

from printreach.wire.errors import LocalProtocolError, Reason
from printreach.wire.events import HeadReceived, StreamReset

from .pair import EARLY_HINTS, GET_CAMERA, GET_PAGE, OK, POST_FILE, SessionPair

State = Callable[[SessionPair], int]


def just_opened(pair: SessionPair) -> int:
    return pair.opened(POST_FILE)


def request_finished(pair: SessionPair) -> int:
    return pair.opened(fin=True)


def interim_sent(pair: SessionPair) -> int:
    stream = pair.opened(POST_FILE)
    pair.agent.interim(stream, EARLY_HINTS)
    pair.settle()
    return stream


def answer_begun(pair: SessionPair) -> int:
    stream = pair.opened(POST_FILE)
    pair.agent.respond(stream, OK, b"some", fin=False)
    pair.settle()
    return stream


def answer_begun_after_the_request(pair: SessionPair) -> int:
    stream = pair.opened(fin=True)
    pair.agent.respond(stream, OK, b"some", fin=False)
    pair.settle()
    return stream


def answer_finished_before_the_request(pair: SessionPair) -> int:
    stream = pair.opened(POST_FILE)
    pair.agent.respond(stream, OK, b"all", fin=True)
    pair.settle()
    return stream


in_every_state = pytest.mark.parametrize(
    "state",
    [
        just_opened,
        request_finished,
        interim_sent,
        answer_begun,
        answer_begun_after_the_request,
        answer_finished_before_the_request,
    ],
)


@in_every_state
def test_the_hub_may_reset_a_stream_in_every_state(state: State) -> None:
    pair = SessionPair()
    stream = state(pair)

    pair.hub.reset(stream, Reason.CANCELLED, "the caller went away")

    assert pair.settle().at_agent == [StreamReset(stream, Reason.CANCELLED, "the caller went away")]
    assert pair.hub.stream_count == pair.agent.stream_count == 0


@in_every_state
def test_the_agent_may_reset_a_stream_in_every_state(state: State) -> None:
    pair = SessionPair()
    stream = state(pair)

    pair.agent.reset(stream, Reason.UNREACHABLE, "connection refused")

    assert pair.settle().at_hub == [StreamReset(stream, Reason.UNREACHABLE, "connection refused")]
    assert pair.hub.stream_count == pair.agent.stream_count == 0


@in_every_state
def test_resets_that_cross_on_the_way_are_not_reported(state: State) -> None:
    pair = SessionPair()
    stream = state(pair)

    pair.hub.reset(stream, Reason.CANCELLED)
    pair.agent.reset(stream, Reason.BROKEN)

    assert pair.settle() == ([], [])


def test_a_reset_reaches_only_its_own_stream() -> None:
    pair = SessionPair()
    page, camera = pair.opened(GET_PAGE), pair.opened(GET_CAMERA)

    pair.agent.reset(camera, Reason.REFUSED)

    assert pair.settle().at_hub == [StreamReset(camera, Reason.REFUSED, "")]
    assert pair.hub.is_open(page)
    assert pair.agent.is_open(page)


def test_a_stream_may_be_reset_before_the_agent_knows_of_it() -> None:
    pair = SessionPair()

    stream = pair.hub.open(GET_PAGE, fin=True)
    pair.hub.reset(stream, Reason.CANCELLED)

    assert pair.settle().at_agent[-1] == StreamReset(stream, Reason.CANCELLED, "")
    assert pair.agent.stream_count == 0


def test_resetting_an_ended_stream_sends_nothing() -> None:
    pair = SessionPair()
    stream = pair.opened(fin=True)
    pair.agent.respond(stream, OK, fin=True)
    pair.settle()

    pair.agent.reset(stream, Reason.BROKEN)
    pair.hub.reset(stream, Reason.CANCELLED)
    pair.hub.reset(stream + 1, Reason.CANCELLED)

    assert not pair.agent.has_output
    assert not pair.hub.has_output


def test_nothing_is_sent_after_a_reset() -> None:
    pair = SessionPair()
    stream = pair.opened()

    pair.agent.reset(stream, Reason.BROKEN)

    with pytest.raises(LocalProtocolError, match="not open for sending"):
        pair.agent.respond(stream, OK, fin=True)


def test_an_answer_on_its_way_to_a_reset_stream_is_dropped() -> None:
    pair = SessionPair()
    stream = pair.opened(fin=True)

    pair.agent.interim(stream, EARLY_HINTS)
    pair.agent.respond(stream, OK, b"too", fin=False)
    pair.agent.send(stream, b"late", fin=True)
    pair.hub.reset(stream, Reason.CANCELLED)

    assert pair.settle().at_hub == []


def test_a_body_and_credit_on_their_way_to_a_reset_stream_are_dropped() -> None:
    pair = SessionPair()
    stream = pair.opened(POST_FILE)
    pair.agent.respond(stream, OK, bytes(60_000), fin=False)
    for _ in range(3):
        pair.agent.send(stream, bytes(60_000), fin=False)
    pair.settle()

    pair.hub.taken(stream, 180_000)
    pair.hub.send(stream, b"late", fin=True)
    pair.agent.reset(stream, Reason.BROKEN)

    assert pair.settle().at_agent == []


def test_late_frames_leave_the_other_streams_alone() -> None:
    pair = SessionPair()
    page, camera = pair.opened(GET_PAGE, fin=True), pair.opened(GET_CAMERA, fin=True)

    pair.agent.respond(camera, OK, b"late", fin=False)
    pair.agent.respond(page, OK, b"<html>", fin=True)
    pair.hub.reset(camera, Reason.CANCELLED)

    assert pair.settle().at_hub == [HeadReceived(page, OK, b"<html>", fin=True)]
