"""GETs of 1 KB over 64 connections: requests per second, the slowest, and the cost of each."""

from collections.abc import Iterator
from dataclasses import dataclass

from bench.measures import interleave, ratios
from bench.nginx import SMALL_BODY
from bench.processes import Broken, CpuWatch
from bench.report import Measurement, Reading
from bench.world import NGINX, OURS_TLS, SSH, World, both_builds, compiled_of_interpreted
from bench.wrk import Load, wrk
from tests.rigs.calls import call
from tests.rigs.ways import Way

TITLE = "1 KB GET, 64 connections"
CONNECTIONS = 64


@dataclass(frozen=True, slots=True)
class Round:
    """cpu_us: per request, of each process on the way."""

    load: Load
    cpu_us: dict[str, float]


def run(world: World) -> Measurement:
    ways = world.to_backend
    for way in ways.values():
        _check(way)
    pids = world.pids_by_way(world.backend_printers)
    jobs = {name: (ways[name], pids[name]) for name in ways}
    taken = interleave(
        jobs, world.plan.rounds, lambda job: _measure(*job, seconds=world.plan.seconds)
    )
    rates = {name: [one.load.requests_a_second for one in all_] for name, all_ in taken.items()}
    p99 = {name: [one.load.p99_ms for one in all_] for name, all_ in taken.items()}
    return Measurement(
        [
            *_readings(taken),
            Reading.of(OURS_TLS, "requests, of ssh -R's", "x", ratios(rates[OURS_TLS], rates[SSH])),
        ],
        [
            both_builds("get.nginx", rates, NGINX),
            both_builds("get.ssh", rates, SSH),
            both_builds("get.p99", p99, SSH),
            *compiled_of_interpreted("get.compiled", rates),
        ],
    )


def _check(way: Way) -> None:
    answer = call(way, "/small")
    if answer.status != 200 or answer.body != SMALL_BODY:
        raise Broken(f"GET /small at {way.host} brought {answer.status}")


def _measure(way: Way, pids: dict[str, int], *, seconds: int) -> Round:
    watch = CpuWatch(pids)
    load = wrk(way, "/small", connections=CONNECTIONS, seconds=seconds)
    used = watch.used_s()
    return Round(load, {name: 1e6 * used_s / load.requests for name, used_s in used.items()})


def _readings(taken: dict[str, list[Round]]) -> Iterator[Reading]:
    for way, rounds in taken.items():
        yield Reading.of(way, "requests", "/s", [one.load.requests_a_second for one in rounds])
        yield Reading.of(way, "p50", "ms", [one.load.p50_ms for one in rounds])
        yield Reading.of(way, "p99", "ms", [one.load.p99_ms for one in rounds])
        for process in rounds[0].cpu_us:
            cpu_us = [one.cpu_us[process] for one in rounds]
            yield Reading.of(way, f"CPU of {process}, a request", "µs", cpu_us)
