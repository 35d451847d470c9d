"""The service's start until its first answer, and its memory while nothing happens."""

import shutil
import time
from dataclasses import dataclass

from bench.processes import Broken, cpu_s, resident_bytes
from bench.report import Figure, Measurement, Reading
from bench.world import OURS, World
from tests.rigs.calls import call
from tests.rigs.service import Service
from tests.rigs.ways import Way

TITLE = "start of the service, and its memory at rest"
AS_INSTALLED = {"PYTHONNODEBUGRANGES": "1"}
"""What its unit and its image set in the environment of a service."""
REST_S = 3.0
_LOOK_EVERY_S = 0.005
_WITHIN_S = 60.0


@dataclass(frozen=True, slots=True)
class _Start:
    """One start. seconds: until the first page has been answered; cpu_s: what that took."""

    seconds: float
    cpu_s: float
    resident_mb: float


def run(world: World) -> Measurement:
    with world.another_service("start", AS_INSTALLED) as service:
        again = [_start(service) for _ in range(world.plan.rounds)]
        shutil.rmtree(service.folder / "service-data")
        new = _start(service)
    return Measurement(
        [
            Reading.of(OURS, "with a new database", "s", [new.seconds]),
            Reading.of(OURS, "CPU with a new database", "s", [new.cpu_s]),
            Reading.of(OURS, "at rest after that", "MB", [new.resident_mb]),
        ],
        [
            Figure.of("start.answer", [start.seconds for start in again]),
            Figure.of("start.cpu", [start.cpu_s for start in again]),
            Figure.of("start.memory", [start.resident_mb for start in again]),
        ],
    )


def _start(service: Service) -> _Start:
    """Start it once more and let it rest."""
    service.program.stop()
    began = time.monotonic()
    service.program.start()
    pid = service.program.pid
    _ask_until_answered(service.way_to(service.base_url.partition("//")[2]), began + _WITHIN_S)
    seconds, used_s = time.monotonic() - began, cpu_s(pid)
    time.sleep(REST_S)
    return _Start(seconds, used_s, resident_bytes(pid) / 1e6)


def _ask_until_answered(way: Way, deadline: float) -> None:
    """Ask for the front page until it comes. Raises Broken."""
    while time.monotonic() < deadline:
        try:
            status = call(way, "/").status
        except ConnectionRefusedError:
            time.sleep(_LOOK_EVERY_S)
            continue
        if status != 200:
            raise Broken(f"the front page was answered with {status}")
        return
    raise Broken("the service did not start")
