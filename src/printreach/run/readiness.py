"""What a node lacks, for /readyz and /metrics."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final

from printreach.backends.clock import ServiceClock
from printreach.ports import Bus, StoreUnavailable
from printreach.rules.histogram import Histogram
from printreach.run.process_metrics import Metrics
from printreach.store.store import Records, Store

LOOK_EVERY_S: Final = 2.0


@dataclass(slots=True)
class Readiness:
    """Whether a node can serve requests, and goes on to.

    Without a bus it can: what was revoked ends later.
    """

    store: Store
    bus: Bus
    is_stopping: bool = False

    def is_ready(self) -> bool:
        return self.store.is_available and not self.is_stopping

    async def give_notice(self, seconds: int) -> None:
        """Serve on for a while as one that isn't ready, so that proxies send requests to others."""
        self.is_stopping = True
        await asyncio.sleep(seconds)

    def lacks(self) -> Sequence[str]:
        """Return what the node can't reach."""
        has = {"database": self.store.is_available, "bus": self.bus.is_available}
        return [name for name, is_there in has.items() if not is_there]

    def metrics(self) -> Metrics:
        return {
            "printreach_database_up": (
                "Whether the database answers.",
                lambda: self.store.is_available,
            ),
            "printreach_bus_up": (
                "Whether notices reach other processes.",
                lambda: self.bus.is_available,
            ),
        }

    def histograms(self) -> Mapping[str, tuple[str, Histogram]]:
        return {
            "printreach_database_read_seconds": ("Time of a reading.", self.store.read_times),
            "printreach_database_write_seconds": (
                "Time of a unit of work, until it is stored.",
                self.store.write_times,
            ),
        }


@asynccontextmanager
async def looking_at(store: Store, clock: ServiceClock) -> AsyncIterator[None]:
    """Look at the database, and at its clock, now and then while open.

    A proxy sends no requests to a node that isn't ready, and nothing else may read.
    """
    await _look(store, clock)

    async def keep_looking() -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            with suppress(StoreUnavailable):
                await _look(store, clock)

    looking = asyncio.create_task(keep_looking(), name="readiness")
    try:
        yield
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)


async def _look(store: Store, clock: ServiceClock) -> None:
    async def look(records: Records) -> None:
        await records.printers.last_alive_at()
        await clock.follow(records.time)

    await store.read_for_service(look)
