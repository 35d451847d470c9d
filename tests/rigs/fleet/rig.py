"""The fleet as a test holds it."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from printreach.backends.clock import SystemClock
from printreach.backends.sql.agents import SqlAgents
from printreach.backends.sql.store import open_store
from printreach.hub.denied import Denied
from printreach.hub.printers import Printers
from printreach.run.admin_world import open_world
from printreach.run.agent import this_machine
from printreach.run.settings import Settings, settings_from
from tests.rigs.fleet.keys import key_of
from tests.rigs.peers import ROOT
from tests.rigs.programs import Program
from tests.rigs.service import APP, OWNER, Service
from tests.rigs.ways import Way, basic

INSTANT_S = 0.2


@dataclass(frozen=True)
class Arrival:
    """An agent's tunnel began to carry requests. at: seconds of the machine's monotonic clock."""

    number: int
    at: float


def busiest_instant(arrivals: list[Arrival]) -> int:
    """The most agents that arrived within one instant."""
    times = sorted(arrival.at for arrival in arrivals)
    return max(sum(start <= at < start + INSTANT_S for at in times) for start in times)


class Fleet:
    """Agents numbered from 0. ways: how an app reaches those that have an App Connection."""

    def __init__(self, program: Program, count: int, ways: list[Way]) -> None:
        self._program = program
        self.count = count
        self.ways = ways

    def arrivals(self, since: float = 0.0) -> list[Arrival]:
        """Each agent's latest arrival, of those that arrived later than that."""
        latest: dict[int, float] = {}
        for line in self._lines():
            if line.get("phase") == "connected" and float(line["at"]) > since:
                latest[int(line["agent"])] = float(line["at"])
        return [Arrival(number, at) for number, at in latest.items()]

    def wait_all_arrived(self, since: float, seconds: float) -> list[Arrival]:
        """Wait until every agent has arrived later than that."""

        def look() -> list[Arrival] | None:
            arrivals = self.arrivals(since)
            return arrivals if len(arrivals) == self.count else None

        return self._program.wait_until("all agents to arrive", look, seconds)

    def strays(self) -> list[str]:
        """What reached a printer and was meant for another."""
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
        running.wait_all_arrived(since=0.0, seconds=60)
        yield running


async def _link(settings: Settings, service: Service, count: int, connections: int) -> list[Way]:
    clock, token_bytes = SystemClock(), this_machine().token_bytes
    async with open_store(settings.database_path) as store:
        agents, printers = SqlAgents(store, token_bytes), Printers(store=store, clock=clock)
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
