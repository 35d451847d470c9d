"""A link that breaks when the process was frozen or the machine asleep."""

import asyncio
from collections.abc import Callable

import pytest

from printreach.agent.service_link import SuspendAwareLink
from printreach.tunnel.stream import Stream
from printreach.tunnel.tunnel import Tunnel
from printreach.wire.errors import CloseCode, Reason
from printreach.wire.events import StreamOpened
from printreach.wire.session import Role, Session
from tests.fakes.hasty_loop import hasty_loop, on_a_hasty_loop, settle
from tests.fakes.memory_link import MemoryLink, memory_link_pair
from tests.tunnel.ends import End, Ending
from tests.tunnel.raw_websocket import RecordingReceiver


class Asleep:
    """A clock that also goes on while the machine sleeps, unlike the loop's."""

    def __init__(self) -> None:
        self._slept_s = 0.0

    def __call__(self) -> float:
        return hasty_loop().time() + self._slept_s

    def sleep(self, seconds: float) -> None:
        self._slept_s += seconds


class Fixture:
    """A fresh link, the end that it leads to, and who hears from it."""

    def __init__(self) -> None:
        self.there: MemoryLink
        here, self.there = memory_link_pair()
        self.clock = Asleep()
        self.far = RecordingReceiver()
        self.there.start(self.far)
        self.near = RecordingReceiver()
        self.link = SuspendAwareLink(here, self.clock)
        self.link.start(self.near)


def frozen(fixture: Fixture, seconds: float) -> None:
    hasty_loop().freeze(seconds)


def asleep(fixture: Fixture, seconds: float) -> None:
    fixture.clock.sleep(seconds)


both_ways = pytest.mark.parametrize("stop", [frozen, asleep])
Stop = Callable[[Fixture, float], None]


@on_a_hasty_loop
async def test_a_process_that_runs_hears_and_says_everything() -> None:
    at = Fixture()
    for number in range(100):
        at.there.send(b"%d" % number)
        at.link.send(b"%d" % number)
        await asyncio.sleep(10.0)

    assert at.near.messages == at.far.messages == [b"%d" % number for number in range(100)]
    assert at.near.losses == []


@both_ways
def test_a_message_that_waited_while_the_process_stood_still_is_not_heard(stop: Stop) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        at = Fixture()
        await asyncio.sleep(3.3)
        at.there.send(b"start the print")
        stop(at, 60.0)
        await settle()

        assert at.near.messages == []
        assert at.near.losses == ["this machine was asleep"]
        assert at.far.losses == ["the other end closed"]

    body()


@both_ways
def test_a_link_breaks_after_a_standstill_though_nothing_waits(stop: Stop) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        at = Fixture()
        await asyncio.sleep(3.3)
        stop(at, 60.0)
        await asyncio.sleep(1.1)

        assert at.near.losses == ["this machine was asleep"]

    body()


@both_ways
def test_a_short_standstill_is_forgiven(stop: Stop) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        at = Fixture()
        for _ in range(10):
            at.there.send(b"hello")
            stop(at, 3.9)
            await asyncio.sleep(1.5)

        assert at.near.messages == [b"hello"] * 10
        assert at.near.losses == []

    body()


@on_a_hasty_loop
async def test_a_loss_is_told_once_and_leaves_no_timer() -> None:
    at = Fixture()
    at.there.abort()
    at.link.abort()
    await settle()

    assert len(at.near.losses) == 1
    assert hasty_loop().timers == 0


@on_a_hasty_loop
async def test_nothing_is_heard_behind_a_loss() -> None:
    at = Fixture()
    hasty_loop().freeze(60.0)
    for _ in range(3):
        at.there.send(b"start the print")
    await settle()
    at.link.on_link_message(b"start the print")
    at.link.on_link_congested()
    at.link.on_link_clear()

    assert at.near.messages == []
    assert at.near.marks == []


@on_a_hasty_loop
async def test_congestion_is_passed_on() -> None:
    at = Fixture()
    at.link.on_link_congested()
    at.link.on_link_clear()

    assert at.near.marks == ["congested", "clear"]


class WokenAgent(End):
    """An agent's end that notes what it would carry out."""

    def on_stream(self, stream: Stream, opened: StreamOpened) -> None:
        super().on_stream(stream, opened)
        stream.interim(b"102 Processing\r\n")


@on_a_hasty_loop
async def test_a_woken_agent_carries_out_no_request_that_waited() -> None:
    hub_link, agent_link = memory_link_pair()
    hub = End(Role.HUB, hub_link)
    agent = WokenAgent(Role.AGENT, agent_link)
    session = Session(Role.AGENT, now=hasty_loop().time())
    agent.tunnel = Tunnel(session, SuspendAwareLink(agent_link, hasty_loop().time), agent)
    hub.tunnel.start()
    agent.tunnel.start()
    await settle()
    running = hub.open()
    await settle()

    waiting = hub.open()
    hub.tunnel.flush_soon(1 << 20)
    hasty_loop().freeze(60.0)
    await settle()

    assert len(agent.served) == 1
    assert agent.served[0].endings == [Ending(Reason.TUNNEL_LOST, "this machine was asleep")]
    assert agent.closings == [(None, "this machine was asleep")]
    for asked in (running, waiting):
        assert [ending.reason for ending in asked.endings] in (
            [Reason.TUNNEL_LOST],
            [Reason.TUNNEL_SILENT],
        )
    agent.tunnel.close(CloseCode.NORMAL)
