"""Write down what the failure-detection API answered: every few seconds, and at the end."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from printreach.hub.detection.gate import DetectionGate
from printreach.ports import StoreUnavailable

log = logging.getLogger(__name__)

EVERY_S: Final = 5.0
"""So much a process that is killed forgets; a page of usage lags as much."""


@asynccontextmanager
async def counting(gate: DetectionGate, every_s: float = EVERY_S) -> AsyncIterator[None]:
    """Flush the gate meanwhile; leaving writes what is left."""
    stop = asyncio.Event()
    task = asyncio.create_task(_flush_until(stop, gate, every_s), name="detection-usage")
    try:
        yield
    finally:
        stop.set()
        await task


async def _flush_until(stop: asyncio.Event, gate: DetectionGate, every_s: float) -> None:
    # It is told to stop and never cancelled: a write that is given up may have happened or not.
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
