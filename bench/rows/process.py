"""Failure detection end to end on one core: HTTP, decoding, the model and the print's context."""

import io
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import uvloop
from PIL import Image

from bench.bare_model import Bare, measure_bare
from bench.detecting import (
    Detector,
    camera_frames,
    keep_sending,
    send_all,
    send_evenly,
)
from bench.measures import percentile, ratios
from bench.processes import CpuWatch, resident_bytes
from bench.report import Figure, Measurement, Reading
from bench.world import OURS, World
from printreach.detector.preprocess import SIDE, prepare
from tests.rigs.service import OWNER, Service, service
from tests.rigs.waiting import free_port

TITLE = "failure detection, on one core"
BARE = "bare model"
SCALED, WHOLE = "scaled", "whole"
CORE: Final = 0
IMAGES: Final = 10_000
"""Over so many the memory has to stay as it is."""
WARM_UP: Final = 500
MINIMUM_INTERVAL_S: Final = 5
"""A print's images come no faster."""
_FRAMES: Final = 24
_DECODED: Final = 30


def run(world: World) -> Measurement:
    frames = camera_frames(640, 480, _FRAMES)
    files = _written(world.folder, frames)
    seconds = world.plan.seconds
    first = measure_bare(CORE, seconds, files)
    with _service_on_one_core(world.folder) as running:
        detector = _detector(running)
        # There are enough prints that each may be scored again when its turn comes, even at the
        # bare model's rate.
        prints = int(first.images_a_second * (MINIMUM_INTERVAL_S + 2))
        messages = detector.messages(uvloop.run(detector.contexts(prints)), frames)
        port, pid = running.port, running.program.pid
        uvloop.run(send_all(port, messages, WARM_UP))
        held_before = resident_bytes(pid)
        bare: list[Bare] = []
        rates: list[float] = []
        cpu_ms: list[float] = []
        for _ in range(world.plan.rounds):
            bare.append(measure_bare(CORE, seconds, files))
            watch = CpuWatch({OURS: pid})
            rates.append(uvloop.run(keep_sending(port, messages, seconds)))
            cpu_ms.append(1e3 * watch.used_s()[OURS] / (rates[-1] * seconds))
        half = statistics.median(rates) / 2
        taken = [
            uvloop.run(send_evenly(port, messages, half, seconds)) for _ in range(world.plan.rounds)
        ]
        uvloop.run(send_all(port, messages, IMAGES))
        grown = (resident_bytes(pid) - held_before) / 1e6
    p99 = [percentile(one, 99) for one in taken]
    inference_ms = [one.inference_ms for one in bare]
    large = _decoding_1080p(world.plan.rounds)
    return Measurement(
        [
            Reading.of(BARE, "images", "/s", [one.images_a_second for one in bare]),
            Reading.of(BARE, "inference", "ms", inference_ms),
            Reading.of(BARE, "CPU, an image", "ms", [one.cpu_ms for one in bare]),
            Reading.of(OURS, "images", "/s", rates),
            Reading.of(OURS, "CPU of service, an image", "ms", cpu_ms),
            Reading.of(OURS, "p50 at half load", "ms", [percentile(one, 50) for one in taken]),
            Reading.of(OURS, "p99 at half load", "ms", p99),
            *(Reading.of(name, "1080p made small", "ms", ms) for name, ms in large.items()),
        ],
        [
            Figure.of("process.rate", ratios(rates, [one.images_a_second for one in bare])),
            Figure.of("process.p99", ratios(p99, inference_ms)),
            Figure.of("process.scaled", ratios(large[SCALED], large[WHOLE])),
            Figure.of("process.memory", [grown]),
        ],
    )


@contextmanager
def _service_on_one_core(folder: Path) -> Iterator[Service]:
    """Run the service on one core, with the threads of its web server and of the model."""
    port = free_port()
    env = {
        "PRINTREACH_BASE_URL": f"http://localhost:{port}",
        "PRINTREACH_TUNNEL_DOMAIN": f"localhost:{port}",
        "PRINTREACH_DETECTOR_FREE_CALLS": "100000000",
    }
    place = folder / "detecting"
    place.mkdir()
    with ExitStack() as ends:
        with _only_on({CORE}):  # children that are started now inherit it
            running = ends.enter_context(service(place, port=port, env=env))
        ends.enter_context(_only_on(os.sched_getaffinity(0) - {CORE}))
        yield running


@contextmanager
def _only_on(cores: set[int]) -> Iterator[None]:
    """Bind this process, and what it starts meanwhile, to these cores; with one core there is no
    choice.
    """
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores or before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _detector(running: Service) -> Detector:
    running.admin("limits", "--account", OWNER, "--requests-a-minute", "100000")
    key = running.admin("detector-key", "add", OWNER)["ApiKey"]
    return Detector(running.port, running.base_url.partition("//")[2], key)


def _written(folder: Path, frames: list[bytes]) -> list[Path]:
    files = [folder / f"frame-{number}.jpg" for number in range(len(frames))]
    for file, frame in zip(files, frames, strict=True):
        file.write_bytes(frame)
    return files


def _decoding_1080p(rounds: int) -> dict[str, list[float]]:
    """Return the decoding time as the detector does it, and by way of all pixels."""
    frames = camera_frames(1920, 1080, 4)
    ways = {SCALED: prepare, WHOLE: _by_all_pixels}
    return {
        name: [_mean_ms(partial(way, frames[number % 4])) for number in range(rounds)]
        for name, way in ways.items()
    }


def _by_all_pixels(data: bytes) -> object:
    with Image.open(io.BytesIO(data)) as image:
        return image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX)


def _mean_ms(work: Callable[[], object]) -> float:
    began = time.process_time()
    for _ in range(_DECODED):
        work()
    return 1e3 * (time.process_time() - began) / _DECODED
