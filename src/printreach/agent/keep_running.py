"""Restarts tasks that must not end before the agent does."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from printreach.rules.backoff import Backoff

log = logging.getLogger(__name__)

STEADY_S = 60.0
"""A task that ran at least this long is restarted at once, whatever failed before."""
BEGIN_AGAIN: Final = Backoff.doubling(0.5, 30.0)


async def keep_running(
    name: str, run: Callable[[], Awaitable[None]], uniform: Callable[[float, float], float]
) -> None:
    """Run it until cancelled; where it ends or raises, say so and begin again a little later.

    Adapters handle whatever a printer sends. Should one fail all the same, its printer comes back
    by itself, and not only with the next start of the agent.
    """
    loop = asyncio.get_running_loop()
    failures = 0
    while True:
        began = loop.time()
        try:
            await run()
            log.error("%s has ended, and begins again", name)
        except Exception:
            log.exception("%s has failed, and begins again", name)
        failures = failures + 1 if loop.time() - began < STEADY_S else 1
        await asyncio.sleep(BEGIN_AGAIN.jittered_s(failures, uniform))
