"""Small GETs to the service itself, which runs as one process and as two."""

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from bench.measures import interleave
from bench.report import Measurement, Reading
from bench.rows.get import CONNECTIONS
from bench.world import World, builds, within_builds
from bench.wrk import wrk
from tests.rigs.service import service_on_localhost
from tests.rigs.ways import Way

TITLE = "serve --processes 2"
ONE: Final = "one process"
TWO: Final = "two processes"
_PATH: Final = "/.well-known/webhook-keys.json"


def run(world: World) -> Measurement:
    ways: dict[tuple[str, str], Way] = {}
    seconds = max(1, world.plan.seconds // 2)
    with ExitStack() as ends:
        for build, command in builds().items():
            for name, count in ((ONE, 1), (TWO, 2)):
                folder = Path(tempfile.mkdtemp(prefix="processes-", dir=world.folder))
                serving = service_on_localhost(folder, command=_several(command, count))
                service = ends.enter_context(serving)
                host = service.base_url.partition("//")[2]
                ways[build, name] = service.way_to(host)
        taken = interleave(
            ways,
            world.plan.rounds,
            lambda way: wrk(way, _PATH, connections=CONNECTIONS, seconds=seconds),
        )
    rates = {way: [load.requests_a_second for load in all_] for way, all_ in taken.items()}
    return Measurement(
        [
            Reading.of(build, f"{name}: requests", "/s", values)
            for (build, name), values in rates.items()
        ],
        [within_builds("processes.rate", rates, TWO, ONE)],
    )


def _several(command: Callable[..., list[str]], processes: int) -> Callable[..., list[str]]:
    """Return what makes the command line of so many processes."""
    return lambda *words: command(*words, "--processes", str(processes))
