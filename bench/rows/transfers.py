"""200 MB down and up, over one connection."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.measures import interleave
from bench.nginx import DOWNLOAD_BYTES
from bench.processes import Broken, CpuWatch
from bench.report import Measurement, Reading
from bench.world import COMPILED_TLS, NGINX, OURS_TLS, SSH, World, both_builds
from tests.rigs.calls import call, opened
from tests.rigs.ways import Way

DOWNLOAD_TITLE = "200 MB download"
UPLOAD_TITLE = "200 MB upload"
_READ_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Transfer:
    """cpu_s: of each process on the way."""

    seconds: float
    cpu_s: dict[str, float]

    @property
    def mb_a_second(self) -> float:
        return DOWNLOAD_BYTES / 1e6 / self.seconds


def run_download(world: World) -> Measurement:
    return _run(world, "download", _download)


def run_upload(world: World) -> Measurement:
    body = bytes(DOWNLOAD_BYTES)
    arrived = world.backend.folder / "uploaded" / "file"
    return _run(world, "upload", lambda way: _upload(way, body, arrived))


def _run(world: World, name: str, transfer: Callable[[Way], None]) -> Measurement:
    ways, pids = world.to_backend, world.pids_by_way(world.backend_printers)
    jobs = {way: (ways[way], pids[way]) for way in ways}
    taken = interleave(jobs, world.plan.rounds, lambda job: _timed(transfer, *job))
    rates = {way: [one.mb_a_second for one in all_] for way, all_ in taken.items()}
    return Measurement(
        [*_readings(taken)],
        [
            both_builds(f"{name}.nginx", rates, NGINX),
            both_builds(f"{name}.ssh", rates, SSH),
            both_builds(f"{name}.tls", rates, SSH, (OURS_TLS, COMPILED_TLS)),
        ],
    )


def _timed(transfer: Callable[[Way], None], way: Way, pids: dict[str, int]) -> Transfer:
    watch, began = CpuWatch(pids), time.perf_counter()
    transfer(way)
    return Transfer(time.perf_counter() - began, watch.used_s())


def _readings(taken: dict[str, list[Transfer]]) -> Iterator[Reading]:
    for way, transfers in taken.items():
        yield Reading.of(way, "speed", "MB/s", [one.mb_a_second for one in transfers])
        for process in transfers[0].cpu_s:
            cpu_s = [one.cpu_s[process] for one in transfers]
            yield Reading.of(way, f"CPU of {process}", "s", cpu_s)


def timed_download(way: Way, pids: dict[str, int]) -> Transfer:
    """Download it once. pids: the processes on the way, by their role. Raises Broken."""
    return _timed(_download, way, pids)


def _download(way: Way) -> None:
    buffer, size = bytearray(_READ_BYTES), 0
    with opened(way, "/download") as response:
        while read := response.readinto(buffer):
            size += read
    if response.status != 200 or size != DOWNLOAD_BYTES:
        raise Broken(f"a download at {way.host} brought {response.status} and {size} bytes")


def _upload(way: Way, body: bytes, arrived: Path) -> None:
    arrived.unlink(missing_ok=True)
    status = call(way, "/uploaded/file", method="PUT", body=body).status
    if status != 201 or arrived.stat().st_size != len(body):
        raise Broken(f"an upload at {way.host} brought {status}")
