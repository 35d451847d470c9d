"""Keepalive: any byte shows that the other end is alive; silence leads to a ping, then an end."""

import pytest

from printreach.wire.events import PeerSilent
from printreach.wire.session import Session

from .pair import GET_PAGE, FakeClock, SessionPair

FOUND_WITHIN_S = 10.0
"""The longest from the last sign of life of a frozen end to its discovery, with a stream open."""


def pings(session: Session, clock: FakeClock) -> bool:
    """True when the session asks for a sign of life now."""
    session.take_output()
    assert session.on_time(clock.now) is None
    return session.has_output


@pytest.mark.parametrize(("end", "idle_s"), [("hub", 30.0), ("agent", 45.0)])
def test_an_idle_tunnel_is_pinged_after_its_idle_time(end: str, idle_s: float) -> None:
    pair = SessionPair()
    session = pair.end(end)
    assert session.next_deadline() == pair.clock.now + idle_s

    pair.clock.advance(idle_s - 0.001)
    assert not pings(session, pair.clock)
    pair.clock.advance(0.001)
    assert pings(session, pair.clock)


@pytest.mark.parametrize("end", ["hub", "agent"])
def test_a_tunnel_with_an_open_stream_is_pinged_after_one_and_a_half_seconds(end: str) -> None:
    pair = SessionPair()
    pair.opened()
    session = pair.end(end)
    assert session.next_deadline() == pair.clock.now + 1.5

    pair.clock.advance(1.499)
    assert not pings(session, pair.clock)
    pair.clock.advance(0.001)
    assert pings(session, pair.clock)


def test_an_agent_that_another_node_could_serve_notices_a_hang_within_eight_seconds() -> None:
    pair = SessionPair()
    pair.agent.notice_sooner()
    began_at = pair.clock.now

    pair.clock.advance(2.5)
    assert pings(pair.agent, pair.clock)
    pair.clock.advance(4.999)
    assert pair.agent.on_time(pair.clock.now) is None
    pair.clock.advance(0.001)

    assert pair.agent.on_time(pair.clock.now) == PeerSilent(pair.clock.now - began_at)
    assert pair.clock.now - began_at == 7.5


def test_opening_a_stream_in_a_long_silence_asks_at_once() -> None:
    pair = SessionPair()
    pair.clock.advance(20.0)

    pair.hub.open(GET_PAGE, fin=True)

    assert pair.hub.next_deadline() <= pair.clock.now
    assert pings(pair.hub, pair.clock)


def test_an_answered_ping_begins_a_new_silence() -> None:
    pair = SessionPair()
    pair.clock.advance(30.0)
    pair.hub.on_time(pair.clock.now)

    pair.settle()

    assert pair.hub.next_deadline() == pair.clock.now + 30.0
    assert pair.agent.next_deadline() == pair.clock.now + 45.0


def test_a_ping_is_answered_with_its_own_bytes_and_seen_by_no_application() -> None:
    pair = SessionPair()
    pair.clock.advance(30.0)
    pair.hub.on_time(pair.clock.now)
    ping = pair.hub.take_output()

    assert pair.agent.receive(ping, pair.clock.now) == []
    pong = pair.agent.take_output()
    assert pong[9:] == ping[9:]
    assert pair.hub.receive(pong, pair.clock.now) == []


def test_no_second_ping_is_sent_while_the_first_is_awaited() -> None:
    pair = SessionPair()
    pair.clock.advance(30.0)
    assert pings(pair.hub, pair.clock)

    pair.clock.advance(7.9)

    assert not pings(pair.hub, pair.clock)


def test_a_ping_unanswered_for_eight_seconds_is_the_end() -> None:
    pair = SessionPair()
    pair.clock.advance(30.0)
    assert pings(pair.hub, pair.clock)
    assert pair.hub.next_deadline() == pair.clock.now + 8.0

    pair.clock.advance(7.999)
    assert pair.hub.on_time(pair.clock.now) is None
    pair.clock.advance(0.001)

    assert pair.hub.on_time(pair.clock.now) == PeerSilent(38.0)


def test_an_end_that_was_stalled_itself_has_yet_to_read_the_answer() -> None:
    pair = SessionPair()
    pair.clock.advance(30.0)
    assert pings(pair.hub, pair.clock)
    pair.clock.advance(60.0)

    assert pair.hub.on_time(pair.clock.now) is None
    pair.settle()
    pair.clock.advance(10.0)

    assert pair.hub.on_time(pair.clock.now) is None


def test_an_end_that_was_stalled_itself_waits_two_seconds_more_for_a_silent_one() -> None:
    pair = SessionPair()
    pair.clock.advance(30.0)
    assert pings(pair.hub, pair.clock)
    pair.clock.advance(60.0)
    assert pair.hub.on_time(pair.clock.now) is None

    assert pair.hub.next_deadline() == pair.clock.now + 2.0
    pair.clock.advance(2.0)

    assert pair.hub.on_time(pair.clock.now) == PeerSilent(92.0)


def test_any_byte_answers_a_ping() -> None:
    pair = SessionPair()
    pair.clock.advance(30.0)
    assert pings(pair.hub, pair.clock)

    pair.clock.advance(7.0)
    pair.agent.message(b"{}")
    pair.hub.receive(pair.agent.take_output(), pair.clock.now)
    pair.clock.advance(29.0)

    assert pair.hub.on_time(pair.clock.now) is None
    assert pair.hub.next_deadline() == pair.clock.now + 1.0


@pytest.mark.parametrize("end", ["hub", "agent"])
def test_an_end_that_freezes_in_mid_stream_is_found_within_ten_seconds(end: str) -> None:
    pair = SessionPair()
    pair.opened()
    session = pair.end(end)
    last_heard = pair.clock.now
    silent = None

    while silent is None:
        pair.clock.advance(session.next_deadline() - pair.clock.now)
        silent = session.on_time(pair.clock.now)

    assert pair.clock.now - last_heard <= FOUND_WITHIN_S
    assert silent == PeerSilent(pair.clock.now - last_heard)


def test_a_healthy_busy_tunnel_lives_on() -> None:
    pair = SessionPair()
    pair.opened()

    for _ in range(100):
        pair.clock.advance(1.5)
        assert pair.hub.on_time(pair.clock.now) is None
        assert pair.agent.on_time(pair.clock.now) is None
        pair.settle()
