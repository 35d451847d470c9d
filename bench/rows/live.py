"""The first byte of a live stream: no part of the way may wait for more data."""

import time

from bench.measures import interleave, percentile
from bench.processes import Broken
from bench.report import Figure, Measurement, Reading
from bench.world import OURS, World
from tests.rigs.calls import raw_request, read_head
from tests.rigs.ways import Way

TITLE = "first byte of a live stream"
TRIES = 20


def run(world: World) -> Measurement:
    taken = interleave(world.to_origin, world.plan.rounds, _first_byte_ms)
    return Measurement(
        [Reading.of(name, "first byte", "ms", values) for name, values in taken.items()],
        [Figure.of("live.first-byte", taken[OURS])],
    )


def _first_byte_ms(way: Way) -> float:
    """Return the median of some tries, each over a new connection."""
    times_ms = []
    for _ in range(TRIES):
        began = time.perf_counter()
        with raw_request(way, "GET", "/live") as connection:
            status, _headers = read_head(connection)
            first = connection.recv(1)
        if status != 200 or not first:
            raise Broken(f"a live stream at {way.host} brought {status}")
        times_ms.append(1e3 * (time.perf_counter() - began))
    return percentile(times_ms, 50)
