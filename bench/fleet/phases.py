"""The phases of a run: in each one thing is done many times, and all else keeps still."""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec

from bench.fleet.agents import Command
from bench.fleet.crowd import Crowd, crowd
from bench.fleet.meters import SETTINGS, Meters, Used
from bench.fleet.stored import connect_apps, leave_unwatched, link_printers
from bench.processes import Broken
from bench.viewers import watching
from tests.rigs.calls import raw_request, read_exactly, read_head
from tests.rigs.postgresql import DURABLE, PostgresqlServer
from tests.rigs.programs import Program
from tests.rigs.waiting import wait_for
from tests.rigs.ways import Way
from tests.rigs.whole_fleet import WholeFleet, whole_fleet

PRINTING: Final = 100
"""Printers that print; further ones tell events, so that the watch has no part in those."""
CALLED: Final = range(PRINTING, PRINTING + 20)
HOOKED: Final = range(CALLED.stop, CALLED.stop + 40)
TELLING: Final = range(HOOKED.stop, HOOKED.stop + 200)
EVENTS_A_SECOND: Final = 10.0
DONE_WITHIN_S: Final = 300.0
_WAITING: Final = """
    SELECT EXISTS (SELECT FROM events WHERE position IS NULL)
        OR EXISTS (SELECT FROM webhook_deliveries WHERE ended_at IS NULL) AS is_waiting
"""
WINDOW_S: Final = 60.0
"""Long enough for two rounds of what is done every half minute."""
SHORT_S: Final = 30.0
SETTLE_S: Final = 10.0
WATCH_SETTLES_S: Final = 30.0
BACK_WITHIN_S: Final = 300.0
_BRIEF: Final = frozenset({"without agents", "sign-ins", "at rest"})


class Death(msgspec.Struct, frozen=True, kw_only=True):
    """The end of the relay that had all agents.

    back_s: until all were signed in elsewhere; half_back_s: until half of them were. dials,
    arrivals: in each second after it.
    """

    back_s: float
    dials: dict[int, int]
    arrivals: dict[int, int]

    @property
    def most_dials(self) -> int:
        """The dials of the busiest second."""
        return max(self.dials.values(), default=0)


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured with so many agents. stored: rows and bytes by table, at the end."""

    online: int
    linked: int
    nodes: dict[str, int]
    phases: dict[str, Used]
    death: Death
    stored: dict[str, tuple[int, int]]


@dataclass(frozen=True)
class Scene:
    """A fleet with all its agents at the first relay."""

    fleet: WholeFleet
    meters: Meters
    crowd: Crowd

    def measure(self, seconds: float) -> Used:
        """Measure what happens by itself in that time. units: the seconds."""
        before = self.meters.begin()
        time.sleep(seconds)
        return self.meters.used_since(before, seconds)

    def at_rest(self) -> Used:
        return self.measure(WINDOW_S)

    def events(self, numbers: range) -> Used:
        """Events of these printers, until all that they lead to is done. units: the events."""
        stored, before = self.crowd.told().events_stored, self.meters.begin()
        self.crowd.order(
            Command(events_a_second=EVENTS_A_SECOND, first=numbers.start, end=numbers.stop)
        )
        time.sleep(SHORT_S)
        self.crowd.order(Command())
        time.sleep(1)
        wait_for("all that events lead to", lambda: not self._has_work(), DONE_WITHIN_S)
        return self.meters.used_since(before, self.crowd.told().events_stored - stored)

    def _has_work(self) -> bool:
        time.sleep(1)
        [row] = self.meters.rows(_WAITING)
        return bool(row["is_waiting"])

    def requests(self, ways: list[Way]) -> Used:
        """Small requests of apps through HAProxy, one after the other. units: their number."""
        before = self.meters.begin()
        count = _keep_asking(ways, SHORT_S)
        return self.meters.used_since(before, count)

    def viewers(self, ways: list[Way]) -> Used:
        """One viewer of each camera. units: megabytes that they have got."""
        return asyncio.run(self._watched(ways))

    def printing(self) -> Used:
        """Prints that the failure watch looks at. units: the prints."""
        self.crowd.order(Command(printing=PRINTING))
        time.sleep(WATCH_SETTLES_S)
        pictures = self.crowd.told().pictures
        used = self.measure(WINDOW_S)
        looks = self.crowd.told().pictures - pictures
        print(f"  {looks / WINDOW_S:.1f} looks a second at {PRINTING} prints", flush=True)
        self.crowd.order(Command(printing=0))
        return msgspec.structs.replace(used, units=PRINTING)

    def death(self) -> Death:
        """Kill the relay that has all agents, without notice."""
        first, *_ = self.fleet.nodes["relay"]
        self.crowd.dial([node.port for node in self.fleet.nodes["relay"]])
        began = time.monotonic()
        first.program.kill()
        time.sleep(0.1)
        while True:
            told = self.crowd.told()
            arrived = sum(told.arrivals.values())
            if told.online == self.crowd.count and arrived >= self.crowd.count:
                break
            if time.monotonic() > began + BACK_WITHIN_S:
                raise Broken(f"{told.online} of {self.crowd.count} agents came back")
            time.sleep(0.1)
        back_s = time.monotonic() - began
        since = int(began)
        return Death(
            back_s=back_s,
            dials={at - since: number for at, number in sorted(told.dials.items())},
            arrivals={at - since: number for at, number in sorted(told.arrivals.items())},
        )

    async def _watched(self, ways: list[Way]) -> Used:
        async with AsyncExitStack() as ends:
            viewers = [await ends.enter_async_context(watching(way, "/camera")) for way in ways]
            await asyncio.sleep(1)
            before, size = await asyncio.to_thread(self.meters.begin), sum(v.size for v in viewers)
            await asyncio.sleep(SHORT_S)
            megabytes = (sum(viewer.size for viewer in viewers) - size) / 1e6
            return await asyncio.to_thread(self.meters.used_since, before, megabytes)


def measured(
    folder: Path, online: int, linked: int, nodes: dict[str, int], *, is_brief: bool = False
) -> Run:
    """Run a fleet with so many agents, and measure all phases.

    is_brief: sign-ins, the rest and the death of the relay alone.
    """
    phases: dict[str, Used] = {}

    def note(name: str, run: Callable[[], Used]) -> None:
        if is_brief and name not in _BRIEF:
            return
        phases[name] = used = run()
        busy = ", ".join(
            f"{role} {spent:.2f}" for role, spent in used.cpu_s.items() if spent > 0.05
        )
        print(f"  {name}: {used.units:.0f} in {used.seconds:.0f} s; CPU s: {busy}", flush=True)

    with ExitStack() as ends:
        server = PostgresqlServer(*DURABLE, *SETTINGS, parent=folder)
        env = {"PRINTREACH_WEBHOOK_ALLOW_PRIVATE": "true"}
        fleet = ends.enter_context(whole_fleet(folder, env=env, server=server, counts=nodes))
        fleet.add_owner()
        link_printers(fleet, linked, online)
        leave_unwatched(fleet, range(HOOKED.start, TELLING.stop))
        called = connect_apps(fleet, CALLED)
        connect_apps(fleet, HOOKED, ends.enter_context(_receiver(folder)))
        empty = Meters(fleet, server, {})
        time.sleep(SETTLE_S)
        before = empty.begin()
        time.sleep(SHORT_S)
        note("without agents", lambda: empty.used_since(before, SHORT_S))
        before = empty.begin()
        relays = [fleet.nodes["relay"][0].port]
        agents = ends.enter_context(crowd(folder, online, urlsplit(fleet.base_url).netloc, relays))
        time.sleep(SETTLE_S)
        note("sign-ins", lambda: empty.used_since(before, online))
        pids = {program.name: program.pid for program in agents.programs}
        scene = Scene(fleet, Meters(fleet, server, pids), agents)
        note("at rest", scene.at_rest)
        note("events", lambda: scene.events(TELLING))
        note("deliveries", lambda: scene.events(HOOKED))
        note("requests", lambda: scene.requests(called))
        note("viewers", lambda: scene.viewers(called))
        note("printing", scene.printing)
        stored = _stored(scene.meters)
        death = scene.death()
        print(f"  all back after {death.back_s:.1f} s; dials by second: {death.dials}", flush=True)
    return Run(online=online, linked=linked, nodes=nodes, phases=phases, death=death, stored=stored)


def _keep_asking(ways: list[Way], seconds: float) -> int:
    """Ask each in turn over a connection of its own; return how many answers came."""
    count, ends_at = 0, time.monotonic() + seconds
    while time.monotonic() < ends_at:
        for way in ways:
            with raw_request(way, "GET", "/small") as connection:
                status, headers = read_head(connection)
                length = next(
                    int(value) for name, value in headers if name.lower() == "content-length"
                )
                read_exactly(connection, length)
            # An agent may be on its way back where the machine is far too busy.
            count += status == 200
    return count


def _stored(meters: Meters) -> dict[str, tuple[int, int]]:
    names = [row["relname"] for row in meters.rows("SELECT relname FROM pg_stat_user_tables")]
    sizes = {}
    for name in names:
        [row] = meters.rows(
            f'SELECT count(*) AS rows, pg_total_relation_size(\'"{name}"\') AS bytes FROM "{name}"'
        )
        if row["rows"]:
            sizes[name] = (row["rows"], row["bytes"])
    return sizes


@contextmanager
def _receiver(folder: Path) -> Iterator[str]:
    with Program("receiver", [sys.executable, "-m", "bench.receiver"], logs=folder) as receiver:
        port = receiver.wait_until("port", lambda: receiver.stdout().strip() or None)
        yield f"http://127.0.0.1:{port}/hook"
