"""Frames of the whole tunnel: HELLO, MESSAGE, DRAIN and CLOSE."""

import pytest

from printreach.wire import frames
from printreach.wire.errors import CloseCode, LocalProtocolError
from printreach.wire.events import (
    HeadReceived,
    MessageReceived,
    PeerClosed,
    PeerDraining,
    PeerReady,
    StreamOpened,
)
from printreach.wire.frames import Kind

from .pair import GET_PAGE, OK, SessionPair


def test_both_ends_greet_each_other_first() -> None:
    pair = SessionPair(greeted=False)
    assert (pair.hub.is_ready, pair.agent.is_ready) == (False, False)

    settled = pair.settle()

    assert settled.at_hub == settled.at_agent == [PeerReady(1, frozenset())]
    assert (pair.hub.is_ready, pair.agent.is_ready) == (True, True)


def test_each_end_gets_the_capabilities_of_the_other() -> None:
    pair = SessionPair(
        hub_capabilities=("trailers",), agent_capabilities=("fan-out", "zstd"), greeted=False
    )

    settled = pair.settle()

    assert settled.at_hub == [PeerReady(1, frozenset({"fan-out", "zstd"}))]
    assert settled.at_agent == [PeerReady(1, frozenset({"trailers"}))]


@pytest.mark.parametrize("name", ["", "a,b", "caf\u00e9", "two words", "Upper"])
def test_a_capability_is_a_lower_case_word(name: str) -> None:
    with pytest.raises(LocalProtocolError, match="a capability named"):
        SessionPair(hub_capabilities=("trailers", name))


def test_an_end_that_speaks_newer_versions_too_is_welcome() -> None:
    pair = SessionPair(greeted=False)
    hello = frames.encode_hello(1, 9, frames.WINDOW_BYTES, ())

    assert pair.hub.receive(frames.frame(Kind.HELLO, 0, hello), pair.clock.now) == [
        PeerReady(1, frozenset())
    ]


def test_messages_pass_both_ways_beside_the_streams() -> None:
    pair = SessionPair()

    pair.hub.message(b'{"hub":1}')
    pair.agent.message(b'{"agent":1}')

    assert pair.settle() == (
        [MessageReceived(b'{"agent":1}')],
        [MessageReceived(b'{"hub":1}')],
    )


def test_a_message_is_at_most_a_chunk() -> None:
    pair = SessionPair()

    pair.agent.message(bytes(frames.CHUNK_BYTES))
    with pytest.raises(LocalProtocolError, match="a control message of 65537 bytes"):
        pair.agent.message(bytes(frames.CHUNK_BYTES + 1))


# --- drain ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("drained_by", ["hub", "agent"])
def test_a_drained_tunnel_opens_no_streams_and_finishes_those_it_has(drained_by: str) -> None:
    pair = SessionPair()
    running = pair.opened(fin=True)

    pair.end(drained_by).drain()
    settled = pair.settle()

    assert settled == (([], [PeerDraining()]) if drained_by == "hub" else ([PeerDraining()], []))
    assert not pair.hub.may_open
    pair.agent.respond(running, OK, fin=True)
    assert pair.settle().at_hub == [HeadReceived(running, OK, b"", fin=True)]


def test_a_stream_that_crossed_with_the_agents_drain_is_served() -> None:
    pair = SessionPair()

    pair.agent.drain()
    stream = pair.hub.open(GET_PAGE, fin=True)

    assert pair.settle().at_agent == [StreamOpened(stream, GET_PAGE, b"", True, False, False)]
    pair.agent.respond(stream, OK, fin=True)
    assert pair.settle().at_hub == [HeadReceived(stream, OK, b"", fin=True)]


def test_draining_twice_is_said_once() -> None:
    pair = SessionPair()

    pair.hub.drain()
    pair.hub.drain()

    assert pair.settle().at_agent == [PeerDraining()]


def test_a_tunnel_that_runs_out_of_stream_ids_drains_itself() -> None:
    pair = SessionPair()
    last = 0xFFFF_FFFF
    pair.hub._tunnel.last_opened = last - 1

    assert pair.hub.open(GET_PAGE, fin=True) == last

    assert not pair.hub.may_open
    assert pair.settle().at_agent == [
        StreamOpened(last, GET_PAGE, b"", True, False, False),
        PeerDraining(),
    ]
    pair.agent.respond(last, OK, fin=True)
    assert pair.settle().at_hub == [HeadReceived(last, OK, b"", fin=True)]


# --- close ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [CloseCode.NORMAL, CloseCode.REPLACED, CloseCode.RESTARTING])
def test_a_farewell_says_why(code: CloseCode) -> None:
    pair = SessionPair()

    pair.hub.close(code, "see you")

    assert pair.settle().at_agent == [PeerClosed(code, "see you")]
    assert (pair.hub.is_ready, pair.agent.is_ready) == (False, False)


def test_a_farewell_may_come_instead_of_a_greeting() -> None:
    pair = SessionPair(greeted=False)
    refusal = frames.encode_text(CloseCode.OVERLOADED, "too many tunnels")

    assert pair.agent.receive(frames.frame(Kind.CLOSE, 0, refusal), pair.clock.now) == [
        PeerClosed(CloseCode.OVERLOADED, "too many tunnels")
    ]


def test_a_close_code_of_a_newer_peer_is_passed_on_as_a_number() -> None:
    pair = SessionPair()
    farewell = frames.encode_text(4242, "new reason")

    assert pair.agent.receive(frames.frame(Kind.CLOSE, 0, farewell), pair.clock.now) == [
        PeerClosed(4242, "new reason")
    ]


def test_nothing_is_sent_after_a_close() -> None:
    pair = SessionPair()
    stream = pair.opened()
    for _ in range(2):
        pair.hub.send(stream, bytes(frames.CHUNK_BYTES), fin=False)
    pair.agent.respond(stream, OK, fin=False)
    pair.settle()

    pair.agent.close(CloseCode.NORMAL)
    pair.agent.close(CloseCode.OVERLOADED)
    pair.agent.message(b"{}")
    pair.agent.drain()
    pair.agent.taken(stream, 2 * frames.CHUNK_BYTES)
    with pytest.raises(LocalProtocolError, match="not open for sending"):
        pair.agent.send(stream, b"more", fin=False)

    assert pair.settle().at_hub == [PeerClosed(CloseCode.NORMAL, "")]


def test_input_after_a_close_is_ignored() -> None:
    pair = SessionPair()
    farewell = frames.frame(Kind.CLOSE, 0, frames.encode_text(CloseCode.NORMAL, ""))
    message = frames.frame(Kind.MESSAGE, 0, b"{}")

    settled = pair.hub.receive(farewell + message + b"not a frame", pair.clock.now)

    assert settled == [PeerClosed(CloseCode.NORMAL, "")]
    assert pair.hub.receive(b"not a frame", pair.clock.now) == []


def test_an_end_that_has_sent_close_ignores_input() -> None:
    pair = SessionPair()
    stream = pair.opened()

    pair.agent.respond(stream, OK, fin=True)
    pair.agent.message(b"{}")
    pair.hub.close(CloseCode.REPLACED)

    assert pair.settle().at_hub == []


def test_no_stream_is_opened_in_a_closed_tunnel() -> None:
    pair = SessionPair()
    pair.agent.close(CloseCode.NORMAL)
    pair.settle()

    assert not pair.hub.may_open
