"""Requests that arrive at another relay than the one with the printer's tunnel: one hop more."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.measures import interleave
from bench.processes import CpuWatch
from bench.report import Measurement, Reading
from bench.rows.get import CONNECTIONS
from bench.rows.transfers import Transfer, timed_download
from bench.service import linked_agent, web_server_at
from bench.world import World, builds, within_builds
from bench.wrk import Load, wrk
from tests.rigs.nodes import nodes
from tests.rigs.ways import Way

TITLE = "a request and a download by a second node"
SINGLE: Final = "single node"
SECOND: Final = "second node"


@dataclass(frozen=True, slots=True)
class Hop:
    """A way, and the processes on it by their role. The relay is the one that has the tunnel."""

    way: Way
    pids: dict[str, int]


@dataclass(frozen=True, slots=True)
class Round:
    """load: over many connections. p50_ms: over one. cpu_us: per request, of each process."""

    load: Load
    p50_ms: float
    cpu_us: dict[str, float]
    transfer: Transfer


def run(world: World) -> Measurement:
    hops: dict[tuple[str, str], Hop] = {}
    with ExitStack() as ends:
        for build, command in builds().items():
            of_build = ends.enter_context(_hops(world, command))
            hops.update({(build, name): hop for name, hop in of_build.items()})
        taken = interleave(
            hops, world.plan.rounds, lambda hop: _measure(hop, max(1, world.plan.seconds // 2))
        )
    rates = {way: [one.load.requests_a_second for one in all_] for way, all_ in taken.items()}
    p50 = {way: [one.p50_ms for one in all_] for way, all_ in taken.items()}
    speeds = {way: [one.transfer.mb_a_second for one in all_] for way, all_ in taken.items()}
    return Measurement(
        [*_readings(taken)],
        [
            within_builds("second-node.rate", rates, SECOND, SINGLE),
            within_builds("second-node.p50", p50, SECOND, SINGLE),
            within_builds("second-node.download", speeds, SECOND, SINGLE),
        ],
    )


@contextmanager
def _hops(world: World, command: Callable[..., list[str]]) -> Iterator[dict[str, Hop]]:
    """Run the nodes and an agent of one build."""
    folder = Path(tempfile.mkdtemp(prefix="nodes-", dir=world.folder))
    options = web_server_at(world.backend.port)
    with (
        nodes(folder, command=command) as service,
        linked_agent(service, "backend", *options, command=command) as printer,
    ):
        connection = service.connect(printer)
        other = service.relay_without(connection)
        [holder] = [relay for relay in service.relays if relay is not other]
        pids = {"relay": holder.program.pid, "agent": printer.agent.program.pid}
        yield {
            SINGLE: Hop(holder.way(connection), pids),
            SECOND: Hop(other.way(connection), {**pids, "other relay": other.program.pid}),
        }


def _measure(hop: Hop, seconds: int) -> Round:
    watch = CpuWatch(hop.pids)
    load = wrk(hop.way, "/small", connections=CONNECTIONS, seconds=seconds)
    cpu_us = {name: 1e6 * used_s / load.requests for name, used_s in watch.used_s().items()}
    alone = wrk(hop.way, "/small", connections=1, seconds=1)
    return Round(load, alone.p50_ms, cpu_us, timed_download(hop.way, hop.pids))


def _readings(taken: dict[tuple[str, str], list[Round]]) -> Iterator[Reading]:
    for (build, way), rounds in taken.items():
        rates = [one.load.requests_a_second for one in rounds]
        yield Reading.of(build, f"{way}: requests", "/s", rates)
        yield Reading.of(build, f"{way}: p50", "ms", [one.p50_ms for one in rounds])
        speeds = [one.transfer.mb_a_second for one in rounds]
        yield Reading.of(build, f"{way}: speed", "MB/s", speeds)
        for process in rounds[0].cpu_us:
            cpu_us = [one.cpu_us[process] for one in rounds]
            yield Reading.of(build, f"{way}: request, {process}", "µs", cpu_us)
            cpu_s = [one.transfer.cpu_s[process] for one in rounds]
            yield Reading.of(build, f"{way}: download, {process}", "s", cpu_s)
