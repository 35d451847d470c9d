"""The people and programs of the soak test, all in one process.

    python -m bench.soak.people '{"port": 8080, "host": "localhost:8080", ...}'

Prints, every few seconds, a JSON line of what came of each kind of visit so far.
"""

import asyncio
import json
import ssl
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import msgspec
import uvloop

from bench.measures import percentile
from bench.soak.caller import Caller, Tally, repeat
from bench.soak.preparing import App, Person
from bench.soak.visits import AppVisits, DetectionVisits, PersonVisits
from tests.rigs.receiver import Received, Writer, answer, receiving

TELLS_EVERY_S = 5.0
FAULTS_TOLD = 20
"""Sentences of each kind of visit."""


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """port, host: of the service. detection_key: of an account. certificate: of webhooks' receiver.

    seconds: how long they live.
    """

    port: int
    host: str
    people: list[Person]
    apps: list[App]
    detection_key: str
    certificate: tuple[str, str]
    seconds: float


@dataclass
class Living:
    """The running visits, and their tallies."""

    ends: AsyncExitStack
    group: asyncio.TaskGroup
    crowd: Crowd
    ends_at: float
    tallies: dict[str, Tally] = field(default_factory=dict)
    callers: int = 0

    async def caller(self) -> Caller:
        """Return a caller at an address that nobody else has."""
        self.callers += 1
        address = f"127.9.{self.callers // 200}.{1 + self.callers % 200}"
        crowd = self.crowd
        return await self.ends.enter_async_context(Caller.at(address, crowd.port, crowd.host))

    def often(self, name: str, every_s: float, visit: Callable[[], Awaitable[None]]) -> None:
        tally = self.tallies.setdefault(name, Tally())
        self.group.create_task(repeat(tally, every_s, self.ends_at, visit))

    def told(self) -> dict[str, object]:
        """Return the tallies for the line that is printed."""
        return {
            name: {
                "done": len(tally.taken_ms),
                "p50": round(percentile(tally.taken_ms, 50)) if tally.taken_ms else None,
                "p99": round(percentile(tally.taken_ms, 99)) if tally.taken_ms else None,
                "failed": len(tally.faults),
                "faults": tally.faults[:FAULTS_TOLD],
            }
            for name, tally in self.tallies.items()
        }


async def live(crowd: Crowd) -> None:
    """Run until the time is over."""
    ends_at = time.monotonic() + crowd.seconds
    async with AsyncExitStack() as ends:
        webhook_url, heard = await ends.enter_async_context(_receiver(crowd.certificate))
        async with asyncio.TaskGroup() as group:
            living = Living(ends, group, crowd, ends_at)
            await _begin_apps(living, webhook_url)
            await _begin_people(living)
            await _begin_detection(living)
            while time.monotonic() < ends_at:
                await asyncio.sleep(TELLS_EVERY_S)
                _tell(living, heard)
        _tell(living, heard)


def _tell(living: Living, heard: Mapping[str, int]) -> None:
    print(json.dumps({"visits": living.told(), "webhooks": heard}), flush=True)


@asynccontextmanager
async def _receiver(certificate: tuple[str, str]) -> AsyncIterator[tuple[str, Mapping[str, int]]]:
    """Run a receiver of webhooks; yield its address and its count of calls."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate)
    async with receiving(tls) as receiver:
        heard = {"calls": 0}

        async def count(_: Received, writer: Writer) -> bool:
            heard["calls"] += 1
            receiver.received.clear()
            return await answer(writer, 200)

        receiver.behave = count
        yield f"https://localhost:{receiver.port}/in", heard


async def _begin_apps(living: Living, webhook_url: str) -> None:
    """Start programs with an App Connection; some do more than ask for the status."""
    steady = [app for app in living.crowd.apps if app.steady]
    for number, app in enumerate(steady):
        visits = AppVisits(await living.caller(), app)
        living.often("status", 10, visits.status)
        if number % 4 == 0:
            living.often("printer's page", 5, visits.page)
            living.often("App API", 5, visits.info)
        if number % 8 == 1:
            living.often("upload, list, download, delete", 30, visits.transfer)
            living.often("WebSocket", 20, visits.websocket)
        if number % 8 == 2:
            living.often("webcam picture", 15, visits.snapshot)
            living.often("pause and resume", 45, visits.pause_and_resume)
        if number % 10 == 3:
            living.often("webcam stream", 5, visits.watch)
        if number % 2 == 0:
            living.often("set a webhook", 60, partial(visits.set_webhook, webhook_url))
        if number % 20 == 4:
            living.often("test a webhook", 60, partial(visits.test_webhook, webhook_url))
    for app in living.crowd.apps:
        if not app.steady:
            visits = AppVisits(await living.caller(), app)
            living.often("set a webhook", 60, partial(visits.set_webhook, webhook_url))


async def _begin_people(living: Living) -> None:
    for number, person in enumerate(living.crowd.people):
        if not person.printers:
            continue
        visits = PersonVisits(await living.caller(), person)
        # Together they sign in to an account less than once a minute, which is its limit.
        living.often("sign in, look around, sign out", 60, visits.session)
        if number % 3 == 0:
            sharing = PersonVisits(await living.caller(), person)
            living.often("share, use, revoke", 180, sharing.share_and_revoke)
        if number % 3 == 1:
            listening = PersonVisits(await living.caller(), person)
            living.often("stream of events", 150, listening.listen)


async def _begin_detection(living: Living) -> None:
    for _ in range(2):
        visits = DetectionVisits(await living.caller(), living.crowd.detection_key)
        living.often("detection API", 8, visits.send)


if __name__ == "__main__":
    uvloop.run(live(msgspec.json.decode(sys.argv[1], type=Crowd)))
