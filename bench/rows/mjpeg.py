"""100 viewers of one camera: the relay's cost for each, and whether a stalled one slows others."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import uvloop

from bench.measures import interleave, ratios
from bench.origin import PART, PICTURES_A_SECOND
from bench.processes import Broken, CpuWatch
from bench.report import Figure, Measurement, Reading
from bench.service import connections
from bench.viewers import Viewer, watching
from bench.world import NGINX, OURS, World
from tests.rigs.ways import Way

TITLE = "MJPEG, 100 KB 15 times a second, 100 viewers"
VIEWERS = 100
VIEWERS_A_CONNECTION = 8
MAX_ROUNDS = 3
SETTLE_S = 0.5


@dataclass(frozen=True, slots=True)
class Window:
    """A period of watching. rates: pictures per second of each viewer."""

    rates: list[float]
    cpu_percent: dict[str, float]


@dataclass(frozen=True, slots=True)
class Round:
    """The same viewers without and with one more that never reads."""

    before: Window
    beside_stalled: Window

    @property
    def kept(self) -> float:
        """Return the slowest viewer's rate beside the stalled one, relative to the slowest without
        it.
        """
        return min(self.beside_stalled.rates) / min(self.before.rates)


def run(world: World) -> Measurement:
    printer, pids_by_way = world.origin_printers[OURS], world.pids_by_way(world.origin_printers)
    count = -(-(VIEWERS + 1) // VIEWERS_A_CONNECTION)
    ours = connections(world.service, printer, count)
    ways = {OURS: ours, NGINX: [world.to_origin[NGINX]]}
    pids = {**pids_by_way[OURS], **pids_by_way[NGINX]}
    taken = interleave(
        ways,
        min(MAX_ROUNDS, world.plan.rounds),
        lambda those: uvloop.run(_watch(those, world.plan.seconds, pids)),
    )
    relay = [one.before.cpu_percent["relay"] / VIEWERS for one in taken[OURS]]
    agent = [one.before.cpu_percent["agent"] / VIEWERS for one in taken[OURS]]
    plain = [one.before.cpu_percent[NGINX] / VIEWERS for one in taken[NGINX]]
    return Measurement(
        [
            Reading.of(NGINX, "CPU a viewer", "% of a core", plain),
            Reading.of(OURS, "CPU of relay, a viewer", "% of a core", relay),
            Reading.of(OURS, "CPU of agent, a viewer", "% of a core", agent),
            *(
                Reading.of(
                    name,
                    "slowest viewer",
                    f"of {PICTURES_A_SECOND} pictures/s",
                    [min(one.before.rates) for one in all_],
                )
                for name, all_ in taken.items()
            ),
        ],
        [
            Figure.of("mjpeg.cpu", ratios(relay, plain)),
            Figure.of("mjpeg.stalled", [one.kept for one in taken[OURS]]),
        ],
    )


async def _watch(ways: list[Way], seconds: float, pids: dict[str, int]) -> Round:
    async with _audience(ways) as viewers:
        before = await _window(viewers, seconds, pids)
        async with watching(ways[-1], "/camera") as stalled:
            stalled.stall()
            await asyncio.sleep(SETTLE_S)
            return Round(before, await _window(viewers, seconds, pids))


async def _window(viewers: list[Viewer], seconds: float, pids: dict[str, int]) -> Window:
    sizes, watch, began = [one.size for one in viewers], CpuWatch(pids), time.monotonic()
    await asyncio.sleep(seconds)
    passed = time.monotonic() - began
    used = watch.used_percent()
    rates = [
        (one.size - size) / len(PART) / passed for one, size in zip(viewers, sizes, strict=True)
    ]
    if starving := rates.count(0.0):
        raise Broken(f"{starving} of {len(rates)} viewers got nothing for {seconds} s")
    return Window(rates, used)


@asynccontextmanager
async def _audience(ways: list[Way]) -> AsyncIterator[list[Viewer]]:
    """Connect 100 viewers, spread over the ways, and wait until all receive pictures."""
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(Viewer.connect(ways[number % len(ways)], "/camera"))
            for number in range(VIEWERS)
        ]
    viewers = [task.result() for task in tasks]
    try:
        await asyncio.sleep(SETTLE_S)
        yield viewers
    finally:
        for viewer in viewers:
            viewer.close()
