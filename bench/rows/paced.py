"""A home uplink of 20 Mbit/s: small GETs while a download saturates it."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bench.measures import interleave, percentile
from bench.pacing import paced_uplink
from bench.processes import Broken
from bench.report import Figure, Measurement, Reading
from bench.service import connect, linked_agent, web_server_at
from bench.world import OURS, SSH, World, way_at
from tests.rigs.calls import call, raw_request, read_head, request_head
from tests.rigs.ways import Way

TITLE = "small GETs beside a download, 20 Mbit/s up"
SETTLE_S = 1.0
"""Long enough for the download to fill whatever can be filled."""


@dataclass(frozen=True, slots=True)
class Round:
    """download_mb_s: the rate of the download beside them."""

    times_ms: list[float]
    download_mb_s: float


class Download:
    """A download in a thread of its own."""

    def __init__(self) -> None:
        self.size = 0
        self.is_over = False


def run(world: World) -> Measurement:
    service = world.service
    with (
        paced_uplink(service.port) as to_service,
        linked_agent(
            service,
            "paced",
            *web_server_at(world.backend.port),
            service_url=f"http://127.0.0.1:{to_service}",
        ) as printer,
        paced_uplink(world.ssh_server.port) as to_sshd,
        world.ssh_server.tunnel("paced", [world.backend.port], to_sshd) as tunnel,
    ):
        ours = connect(service, printer)
        ways = {OURS: ours, SSH: way_at(tunnel.ports[0], ours)}
        taken = interleave(
            ways, world.plan.rounds, lambda way: _gets_beside_a_download(way, world.plan.seconds)
        )
    p50 = {name: [percentile(one.times_ms, 50) for one in all_] for name, all_ in taken.items()}
    p99 = {name: [percentile(one.times_ms, 99) for one in all_] for name, all_ in taken.items()}
    return Measurement(
        [
            *(Reading.of(name, "p50", "ms", values) for name, values in p50.items()),
            *(Reading.of(name, "p99", "ms", values) for name, values in p99.items()),
            *(
                Reading.of(name, "the download beside", "MB/s", [one.download_mb_s for one in all_])
                for name, all_ in taken.items()
            ),
        ],
        [Figure.of("paced.p50", p50[OURS]), Figure.of("paced.p99", p99[OURS])],
    )


def _gets_beside_a_download(way: Way, seconds: float) -> Round:
    call(way, "/small")  # the uplink's buffers are empty again after the last round
    with _downloading(way) as download:
        time.sleep(SETTLE_S)
        size, began = download.size, time.monotonic()
        times_ms = _gets_ms(way, seconds)
        rate = (download.size - size) / (time.monotonic() - began) / 1e6
        if download.is_over:
            raise Broken("the download ended before the GETs beside it")
    return Round(times_ms, rate)


def _gets_ms(way: Way, seconds: float) -> list[float]:
    """Return the latencies of sequential GETs over one connection."""
    times_ms = []
    head = request_head(way, "GET", "/small")
    with way.connect() as connection:
        until = time.perf_counter() + seconds
        while (began := time.perf_counter()) < until:
            connection.sendall(head)
            status, headers = read_head(connection)
            left = int(dict(headers)["Content-Length"])
            while left:
                left -= len(connection.recv(left))
            if status != 200:
                raise Broken(f"GET /small beside a download brought {status}")
            times_ms.append(1e3 * (time.perf_counter() - began))
    return times_ms


@contextmanager
def _downloading(way: Way) -> Iterator[Download]:
    download, stop = Download(), threading.Event()

    def read() -> None:
        buffer = bytearray(64 * 1024)
        with raw_request(way, "GET", "/download") as connection:
            while not stop.is_set() and (read := connection.recv_into(buffer)):
                download.size += read
        download.is_over = True

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield download
    finally:
        stop.set()
        thread.join()
