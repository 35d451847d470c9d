"""The end of a tunnel, which each handler is told of once."""

import asyncio
from collections.abc import Callable

import pytest

from printreach.tunnel.shared_timer import ScheduledCall
from printreach.wire.errors import CloseCode, LocalProtocolError, Reason
from printreach.wire.frames import U16, Kind, frame
from printreach.wire.session import Role
from tests.fakes.hasty_loop import hasty_loop, on_a_hasty_loop, settle
from tests.fakes.memory_link import MemoryLink
from tests.tunnel.ends import OK, End, Ending, greeted


@on_a_hasty_loop
async def test_a_close_tells_the_other_end_why() -> None:
    ends = await greeted()

    ends.hub.tunnel.close(CloseCode.REPLACED, "a newer tunnel took over")
    await settle()

    assert ends.hub.closings == [(CloseCode.REPLACED, "a newer tunnel took over")]
    assert ends.agent.closings == [(CloseCode.REPLACED, "a newer tunnel took over")]
    assert ends.hub_link.is_closed
    assert ends.agent_link.is_closed


@on_a_hasty_loop
async def test_messages_sent_before_a_close_still_arrive() -> None:
    ends = await greeted()
    ends.hub_link.congest()

    ends.hub.tunnel.message(b"last words")
    ends.hub.tunnel.close(CloseCode.NORMAL)
    await settle()

    assert ends.agent.messages == [b"last words"]
    assert ends.agent.closings == [(CloseCode.NORMAL, "")]


@on_a_hasty_loop
async def test_a_lost_link_ends_every_stream_once_at_both_ends() -> None:
    ends = await greeted()
    asked = [ends.hub.open(fin=False) for _ in range(3)]
    await settle()

    ends.agent_link.abort()
    await settle()

    lost_here = [Ending(Reason.TUNNEL_LOST, "aborted")]
    lost_there = [Ending(Reason.TUNNEL_LOST, "the other end closed")]
    assert [served.endings for served in ends.agent.served] == [lost_here] * 3
    assert [listener.endings for listener in asked] == [lost_there] * 3
    assert ends.agent.closings == [(None, "aborted")]
    assert ends.hub.closings == [(None, "the other end closed")]
    assert (ends.hub.stream_count, ends.agent.stream_count) == (0, 0)


@on_a_hasty_loop
async def test_a_close_ends_streams_that_hold_bytes_back() -> None:
    ends = await greeted()
    ends.hub.open()
    await settle()
    served = ends.agent.served[0]
    ends.agent_link.congest()
    served.stream.respond(OK)
    served.stream.send(b"held back", fin=True)

    ends.agent.tunnel.close(CloseCode.RESTARTING, "back soon")
    ends.agent_link.clear()
    await settle()

    assert served.endings == [Ending(Reason.TUNNEL_LOST, "back soon")]
    assert served.writable == 0


@on_a_hasty_loop
async def test_a_second_end_of_any_kind_changes_nothing() -> None:
    ends = await greeted()
    ends.hub.tunnel.close(CloseCode.NORMAL, "first")

    ends.hub.tunnel.close(CloseCode.REPLACED, "second")
    ends.hub.tunnel.abort("third")
    ends.hub.tunnel.on_link_lost("fourth")
    ends.hub.tunnel.on_link_message(b"fifth")
    ends.hub.tunnel.message(b"sixth")
    ends.hub.tunnel.drain()
    await settle()

    assert ends.hub.closings == [(CloseCode.NORMAL, "first")]


@on_a_hasty_loop
async def test_no_stream_can_be_opened_on_a_tunnel_whose_link_was_lost() -> None:
    ends = await greeted()
    ends.hub_link.abort()

    assert not ends.hub.tunnel.session.may_open
    with pytest.raises(LocalProtocolError):
        ends.hub.open()


@on_a_hasty_loop
async def test_a_stream_of_a_lost_tunnel_is_not_open_and_drops_what_is_sent() -> None:
    ends = await greeted()
    ends.hub.open()
    await settle()
    stream = ends.agent.served[0].stream

    ends.agent_link.abort()

    assert not stream.is_open
    assert stream.respond(OK, b"too late", fin=True)
    assert stream.send(b"too late")
    assert not ends.agent.tunnel.session.may_open


@on_a_hasty_loop
async def test_a_link_that_was_lost_before_the_start_ends_the_tunnel_and_leaves_no_timer() -> None:
    link = MemoryLink(hasty_loop())
    link.abort()
    end = End(Role.AGENT, link)

    end.tunnel.start()

    assert end.closings == [(None, "aborted")]
    assert hasty_loop().timers == 0


@on_a_hasty_loop
async def test_a_broken_frame_ends_the_tunnel_at_both_ends_with_the_fault_by_name() -> None:
    ends = await greeted()
    ends.agent_link.send(b"\0\0")
    await settle()

    assert ends.hub.closings == [(CloseCode.BAD_FRAME, "a frame header is cut short")]
    assert ends.agent.closings == [(CloseCode.BAD_FRAME, "a frame header is cut short")]


@on_a_hasty_loop
async def test_a_close_code_of_a_newer_version_is_passed_on_as_a_number() -> None:
    ends = await greeted()
    ends.hub_link.send(frame(Kind.CLOSE, 0, U16.pack(999) + b"a new reason"))
    await settle()

    assert ends.agent.closings == [(999, "a new reason")]


@on_a_hasty_loop
async def test_a_drain_lets_running_streams_finish_and_new_ones_wait_elsewhere() -> None:
    ends = await greeted()
    asked = ends.hub.open()
    await settle()

    ends.agent.tunnel.drain()
    await settle()
    ends.agent.served[0].stream.respond(OK, b"done", fin=True)
    await settle()

    assert ends.hub.drainings == 1
    assert not ends.hub.tunnel.session.may_open
    assert asked.body == b"done"
    assert ends.hub.closings == []


@on_a_hasty_loop
async def test_a_handler_may_close_the_tunnel_in_a_callback_of_its_stream() -> None:
    ends = await greeted()
    asked = ends.hub.open()
    await settle()
    other = ends.hub.open()
    asked.then = lambda: ends.hub.tunnel.close(CloseCode.OVERLOADED, "enough")
    for served in ends.agent.served:
        served.stream.respond(OK, b"hello", fin=True)
    ends.agent.tunnel.message(b"heard by nobody")
    await settle()

    assert ends.hub.messages == []
    assert other.endings == [Ending(Reason.TUNNEL_LOST, "enough")]
    assert ends.hub.closings == [(CloseCode.OVERLOADED, "enough")]


class NotedTimers:
    """Timers that only the test fires."""

    def __init__(self) -> None:
        self.appointments: list[ScheduledCall] = []

    def call_at(self, _when: float, callback: Callable[[], None]) -> ScheduledCall:
        self.appointments.append(ScheduledCall(callback))
        return self.appointments[-1]

    @property
    def pending(self) -> list[Callable[[], None]]:
        return [one.callback for one in self.appointments if one.callback is not None]


@on_a_hasty_loop
async def test_a_tunnel_that_is_closed_while_a_ping_waits_leaves_no_timer_behind() -> None:
    timers = NotedTimers()
    ends = await greeted(timers)
    await asyncio.sleep(31.0)
    timers.pending[0]()  # a ping goes out

    ends.agent.tunnel.close(CloseCode.NORMAL)
    await settle()

    assert ends.hub.closings == [(CloseCode.NORMAL, "")]
    assert timers.pending == []
