"""An other end that has gone silent, by a clock that jumps."""

import asyncio
from collections.abc import Callable

import pytest

from printreach.tunnel.shared_timer import TICK_S, SharedTimer, Timers
from printreach.wire.errors import Reason
from tests.fakes.hasty_loop import hasty_loop, on_a_hasty_loop, settle
from tests.tunnel.ends import OK, Listener, MemoryEnds, greeted


def cut_the_wire(ends: MemoryEnds) -> None:
    """Drop all messages from now on without an error: a half-open connection."""
    ends.hub_link.is_cut = ends.agent_link.is_cut = True


async def silence_ends(listener: Listener, within_s: float = 60.0) -> float:
    """Return the seconds until the handler is told that its stream is over."""
    began_at = hasty_loop().time()
    async with asyncio.timeout(within_s):
        await listener.is_over.wait()
    return hasty_loop().time() - began_at


@pytest.mark.parametrize("make_timers", [hasty_loop, SharedTimer])
@pytest.mark.parametrize("idle_s", [0.0, 0.4, 5.0, 28.6, 29.4, 30.1, 37.9, 100.0])
def test_a_request_to_an_end_that_has_gone_silent_fails_within_ten_seconds(
    idle_s: float, make_timers: Callable[[], Timers]
) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        ends = await greeted(make_timers())
        await asyncio.sleep(idle_s)
        cut_the_wire(ends)
        asked = ends.hub.open()

        assert await silence_ends(asked) <= 10.0
        assert [ending.reason for ending in asked.endings] == [Reason.TUNNEL_SILENT]
        assert asked.endings[0].text.startswith("no sign of life for ")
        assert [code for code, _ in ends.hub.closings] == [None]

    body()


@on_a_hasty_loop
async def test_a_wire_that_is_cut_under_a_running_answer_is_found_within_ten_seconds() -> None:
    ends = await greeted()
    asked = ends.hub.open()
    await asyncio.sleep(20.0)
    ends.agent.served[0].stream.respond(OK, b"so far")
    await settle()
    cut_the_wire(ends)

    assert await silence_ends(asked) <= 10.0


@on_a_hasty_loop
async def test_an_agent_that_serves_finds_a_silent_service_within_ten_seconds_too() -> None:
    ends = await greeted()
    await asyncio.sleep(20.0)
    ends.hub.open()
    await settle()
    cut_the_wire(ends)

    assert await silence_ends(ends.agent.served[0]) <= 10.0


@on_a_hasty_loop
async def test_an_idle_tunnel_to_a_silent_end_is_given_up_within_a_minute() -> None:
    ends = await greeted()
    cut_the_wire(ends)
    await asyncio.sleep(60.0)

    assert [code for code, _ in ends.hub.closings] == [None]
    assert [code for code, _ in ends.agent.closings] == [None]


@pytest.mark.slow
@on_a_hasty_loop
async def test_hundreds_of_idle_tunnels_share_their_timers_and_are_found_silent_all_the_same() -> (
    None
):
    beat, timers = SharedTimer(), hasty_loop().timers
    many = [await greeted(beat) for _ in range(300)]
    agents = len(many)
    assert hasty_loop().timers - timers - agents < 5
    await asyncio.sleep(3600.0)
    assert all(ends.hub.closings == ends.agent.closings == [] for ends in many)
    for ends in many:
        cut_the_wire(ends)
    await asyncio.sleep(30.0 + 8.0 + 2 * TICK_S + 1.0)

    assert all([code for code, _ in ends.hub.closings] == [None] for ends in many)


@on_a_hasty_loop
async def test_a_slow_printer_is_not_a_silent_tunnel() -> None:
    ends = await greeted()
    asked = ends.hub.open()
    await asyncio.sleep(600.0)

    assert asked.endings == []
    assert ends.hub.closings == ends.agent.closings == []


@on_a_hasty_loop
async def test_an_idle_tunnel_lives_for_a_day_on_a_ping_each_half_minute() -> None:
    ends = await greeted()
    pings = ends.hub_link.messages
    await asyncio.sleep(24 * 3600.0)

    assert ends.hub.closings == ends.agent.closings == []
    assert ends.hub_link.messages - pings <= 24 * 3600 / 30


@on_a_hasty_loop
async def test_a_tunnel_that_was_closed_leaves_no_timer() -> None:
    ends = await greeted()
    ends.hub_link.abort()
    await settle()

    assert hasty_loop().timers == 0
