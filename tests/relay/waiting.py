"""Waiting in one event loop for the effects of a test."""

import asyncio
from collections.abc import Callable
from itertools import chain, repeat

PATIENCE_S = 30.0
"""Longer than a busy machine is stalled."""
QUICK_TURNS = 100
"""Turns of the loop before the first pause: most of what is waited for takes fewer."""


async def until(condition: Callable[[], object], within_s: float = PATIENCE_S) -> None:
    """Let the loop run until the condition holds. Raises AssertionError when it never does."""
    deadline = asyncio.get_running_loop().time() + within_s
    pauses = chain(repeat(0.0, QUICK_TURNS), repeat(0.001))
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, "gave up waiting"
        await asyncio.sleep(next(pauses))


async def settle(turns: int = 20) -> None:
    """Let what is under way on loopback arrive, where nothing is expected to.

    It may take longer: what has to have come is waited for with until().
    """
    for _ in range(turns):
        await asyncio.sleep(0.001)
