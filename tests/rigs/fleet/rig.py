"""The fleet as a test holds it."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from printreach.agent.state import Phase
from printreach.backends.clock import SystemClock
from printreach.hub.denied import Denied
from printreach.hub.printers import Printers
from printreach.run.admin_world import open_world
from printreach.run.agent import this_machine
from printreach.run.settings import Settings, settings_from
from printreach.store.relay import SqlAgents
from printreach.store.store import open_store
from tests.hub.world import core_of
from tests.rigs.fleet.keys import key_of
from tests.rigs.peers import ROOT
from tests.rigs.programs import Program
from tests.rigs.service import APP, OWNER, Service
from tests.rigs.ways import Way, basic

INSTANT_S = 0.2


@dataclass(frozen=True)
class Moment:
    """An agent dialled, or its tunnel began to carry requests.

    at: seconds of the machine's monotonic clock.
    """

    number: int
    at: float


def busiest_instant(moments: list[Moment]) -> int:
    """The most agents that did so within one instant."""
    times = sorted(moment.at for moment in moments)
    counts = (sum(start <= at < start + INSTANT_S for at in times) for start in times)
    return max(counts, default=0)


class Fleet:
    """Agents numbered from 0. ways: how an app reaches those that have an App Connection."""

    def __init__(self, program: Program, count: int, ways: list[Way]) -> None:
        self._program = program
        self.count = count
        self.ways = ways

    def wait_all_arrived(self, since: float) -> list[Moment]:
        """Wait until every agent has arrived later than that: when each did for the first time."""

        def look() -> list[Moment] | None:
            arrivals = self._first(Phase.CONNECTED, since)
            return arrivals if len(arrivals) == self.count else None

        return self._program.wait_until("all agents to arrive", look)

    def dials(self, since: float) -> list[Moment]:
        """Return the moment after since at which each agent dialled for the first time."""
        return self._first(Phase.CONNECTING, since)

    def _first(self, phase: Phase, since: float) -> list[Moment]:
        first: dict[int, float] = {}
        for line in self._lines():
            if line.get("phase") == phase.value and float(line["at"]) > since:
                first.setdefault(int(line["agent"]), float(line["at"]))
        return [Moment(number, at) for number, at in first.items()]

    def strays(self) -> list[str]:
        """Return the requests that reached a printer and were meant for another."""
        return [str(line["stray"]) for line in self._lines() if "stray" in line]

    def _lines(self) -> list[dict[str, str | int | float]]:
        # The last line may be half written.
        return [json.loads(line) for line in self._program.stdout().split("\n")[:-1]]


@contextmanager
def fleet(service: Service, count: int, *, connections: int) -> Iterator[Fleet]:
    """Run so many agents, linked and connected; the first few have an App Connection."""
    settings = settings_from(service.env)
    ways = asyncio.run(_link(settings, service, count, connections))
    data_dir = str(service.folder / "fleet")
    argv = [sys.executable, "-m", "tests.rigs.fleet", service.base_url, data_dir, str(count)]
    with Program("fleet", argv, logs=service.folder, cwd=ROOT) as program:
        running = Fleet(program, count, ways)
        running.wait_all_arrived(since=0.0)
        yield running


async def _link(settings: Settings, service: Service, count: int, connections: int) -> list[Way]:
    clock, token_bytes = SystemClock(), this_machine().token_bytes
    async with open_store(settings.database) as store:
        agents, printers = SqlAgents(store, token_bytes), Printers(core=core_of(store, clock))
        for number in range(count):
            key = key_of(number)
            code = await agents.offer_link_code(key.printer_id, key.public_key, clock.now())
            linked = await printers.link(code.code, OWNER, f"fleet {number}")
            assert not isinstance(linked, Denied), linked
    async with open_world(settings) as world:
        ways = []
        for number in range(connections):
            made = await world.connections.add_for_app(APP, key_of(number).printer_id)
            assert not isinstance(made, Denied), made
            proof = basic(made.secrets.basic_user, made.secrets.basic_password)
            ways.append(service.way_to(urlsplit(made.url).netloc).proving(proof))
        return ways
