"""The time for which a node that has just started waits for agents."""

import asyncio

import pytest

from printreach.relay.directory import Directory
from tests.fakes.hasty_loop import hasty_loop, on_a_hasty_loop

SETTLE_S = 5.0
PRINTER = "printer"


@on_a_hasty_loop
async def test_agents_are_expected_for_a_while_after_a_start() -> None:
    directory = Directory(SETTLE_S)
    waiting = asyncio.create_task(directory.arrival(PRINTER))
    await asyncio.sleep(SETTLE_S - 0.1)
    before = directory.is_settling, waiting.done()
    await asyncio.sleep(0.2)

    assert before == (True, False)
    assert (directory.is_settling, waiting.done()) == (False, True)


@pytest.mark.parametrize("stood_still_s", [SETTLE_S, 10 * SETTLE_S])
@on_a_hasty_loop
async def test_time_in_which_the_node_was_stalled_is_not_counted(stood_still_s: float) -> None:
    directory = Directory(SETTLE_S)
    waiting = asyncio.create_task(directory.arrival(PRINTER))
    await asyncio.sleep(0.1)
    hasty_loop().freeze(stood_still_s)
    await asyncio.sleep(SETTLE_S - 0.5)

    assert directory.is_settling
    assert not waiting.done()


@on_a_hasty_loop
async def test_no_request_waits_for_an_agent_after_the_settling_time() -> None:
    directory = Directory()

    async with asyncio.timeout(SETTLE_S):
        await directory.arrival(PRINTER)

    assert not directory.is_settling
