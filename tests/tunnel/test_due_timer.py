"""A ping that is due at this very moment, when a stream is opened."""

import asyncio

import pytest
import uvloop

from printreach.tunnel.tunnel import Tunnel
from printreach.wire.session import Role, Session
from tests.fakes.memory_link import memory_link_pair
from tests.tunnel.ends import GET_PAGE, End, Listener

LONG_IDLE_S = 100.0
LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


async def open_with_a_ping_due() -> bool:
    loop = asyncio.get_running_loop()
    long_ago = loop.time() - LONG_IDLE_S
    here, there = memory_link_pair()
    tunnel = Tunnel(Session(Role.HUB, now=long_ago), here, End(Role.AGENT, there))
    tunnel.start()
    tunnel.session.receive(Session(Role.AGENT, now=long_ago).take_output(), long_ago)
    return tunnel.open(Listener(), GET_PAGE, fin=True).is_open


@pytest.mark.parametrize("loop", LOOPS)
def test_the_stream_is_opened_on_either_loop(loop: str) -> None:
    """uvloop's handle of what is due now knows no time."""
    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        assert runner.run(open_with_a_ping_due())
