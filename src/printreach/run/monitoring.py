"""/healthz, /readyz and /metrics: what a node lacks, the process's own figures, and their server.

The figures are Prometheus's standard ones, and asyncio's tasks. Processes with a relay answer
monitors by the relay. Source of the names:
https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics
"""

import asyncio
import resource
import socket
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from printreach.backends.clock import ServiceClock
from printreach.http1.connection import ServerLimits
from printreach.http1.messages import Answer, Call, Handler, text_answer
from printreach.http1.server import serve
from printreach.ports import Bus, StoreUnavailable
from printreach.relay.health import PATHS, Health
from printreach.rules.histogram import Histogram
from printreach.run.settings import Settings
from printreach.run.sockets import address_of
from printreach.store.store import Records, Store

LOOK_EVERY_S: Final = 2.0

Metrics = Mapping[str, tuple[str, Callable[[], float]]]
"""From a metric's name to its help text and the function that returns its current value."""

_PROC: Final = Path("/proc/self")

_ASKING: Final = frozenset({b"GET", b"HEAD"})
_MAX_CONNECTIONS: Final = 64


def process_metrics() -> Metrics:
    """Return the metrics of a process with an event loop. Those that only Linux has are absent
    elsewhere.
    """
    anywhere: Metrics = {
        "process_cpu_seconds_total": ("CPU time used, user and system.", time.process_time),
        "process_max_fds": ("File descriptors that may be open at once.", _max_descriptors),
        "printreach_asyncio_tasks": ("Tasks of the event loop.", lambda: len(asyncio.all_tasks())),
    }
    if not _PROC.is_dir():
        return anywhere
    return {
        **anywhere,
        "process_resident_memory_bytes": ("Memory held.", _resident_bytes),
        "process_open_fds": ("File descriptors open.", _open_descriptors),
        "process_threads": ("Threads.", lambda: _entries("task")),
    }


def _resident_bytes() -> float:
    pages = (_PROC / "statm").read_text().split()[1]  # proc_pid_statm(5)
    return int(pages) * resource.getpagesize()


def _open_descriptors() -> float:
    return _entries("fd") - 1  # one is open for the listing itself


def _entries(folder: str) -> int:
    return sum(1 for _ in (_PROC / folder).iterdir())


def _max_descriptors() -> float:
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return float("inf") if limit == resource.RLIM_INFINITY else limit


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
        """Return what the node reaches, and the process's own figures."""
        return {
            "printreach_database_up": (
                "Whether the database answers.",
                lambda: self.store.is_available,
            ),
            "printreach_bus_up": (
                "Whether notices reach other processes.",
                lambda: self.bus.is_available,
            ),
            **process_metrics(),
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


def health_of(
    settings: Settings, readiness: Readiness, is_ready: Callable[[], bool] | None = None
) -> Health:
    """Return what monitors are answered. is_ready: of a node that may be stopping, too."""
    return Health(
        is_ready or readiness.is_ready,
        readiness.metrics(),
        settings.trusted_proxies,
        readiness.lacks,
        readiness.histograms(),
    )


def answering_monitors(
    health: Health, answer: Handler, paths: Collection[bytes] = PATHS
) -> Handler:
    """Return a handler that answers monitors on these paths, and leaves other calls to `answer`."""

    async def answer_or_leave(call: Call) -> Answer:
        if call.path not in paths or call.method not in _ASKING:
            return await answer(call)
        status, content_type, text = health.answer(call.path, call.head.headers, call.peer)
        return Answer(status=status, headers=[content_type], body=text)

    return answer_or_leave


@asynccontextmanager
async def running_monitors_page(health: Health, listener: socket.socket) -> AsyncIterator[str]:
    """Answer monitors, and nobody else, on a socket that listens already; yield its address."""
    address = address_of(listener)
    handler = answering_monitors(health, _nothing_here)
    limits = ServerLimits(max_connections=_MAX_CONNECTIONS, drops_unauthenticated=True)
    server = await serve(handler, "", 0, limits=limits, listener=listener)
    try:
        yield address
    finally:
        await server.close()


async def _nothing_here(_call: Call) -> Answer:
    return text_answer(404, "There is nothing here.")
