"""Store the counts of the failure-detection API every few seconds, and at the end."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from printreach.hub.detection.gate import DetectionGate
from printreach.ports import StoreUnavailable

log = logging.getLogger(__name__)

EVERY_S: Final = 5.0
"""A process that is killed loses the counts of this time; the usage page lags by as much."""


@asynccontextmanager
async def counting(gate: DetectionGate, every_s: float = EVERY_S) -> AsyncIterator[None]:
    """Flush the gate at this interval while open; leaving flushes the rest."""
    stop = asyncio.Event()
    task = asyncio.create_task(_flush_until(stop, gate, every_s), name="detection-usage")
    try:
        yield
    finally:
        stop.set()
        await task


async def _flush_until(stop: asyncio.Event, gate: DetectionGate, every_s: float) -> None:
    # The task is stopped by an event and never cancelled: a cancelled write may or may not have
    # been committed.
    while not stop.is_set():
        try:
            async with asyncio.timeout(every_s):
                await stop.wait()
        except TimeoutError:
            pass
        await _flush(gate)


async def _flush(gate: DetectionGate) -> None:
    try:
        await gate.flush()
    except StoreUnavailable as error:
        log.warning("the use of failure detection is not written down yet: %s", error)
