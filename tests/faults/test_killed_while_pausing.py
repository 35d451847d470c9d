"""A worker is killed at each step of a warning and of a pause: told once, and ordered once."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from printreach.contract.events import EventType
from printreach.hub.watch.rounds import WatchRounds
from printreach.store.engine import prepare_file
from printreach.store.migrate import migrate
from tests.faults.watch_until_killed import Step, orders_file
from tests.hub.watch.world import BAD, WatchWorld, watching_again
from tests.hub.world import OpenWorld

pytestmark = [pytest.mark.slow, pytest.mark.fault]

WARNING, PAUSED = EventType.POSSIBLE_FAILURE, EventType.PAUSED_BY_DETECTOR
ROOT = Path(__file__).parents[2]


def ordered(folder: Path) -> int:
    file = orders_file(folder)
    return len(file.read_text("ascii").splitlines()) if file.exists() else 0


async def succeed(folder: Path) -> tuple[list[int], int]:
    """Another worker takes over: what was told in the end, and how often a pause was ordered."""
    async with watching_again(OpenWorld(folder / "database.sqlite3")) as here:
        if ordered(folder):
            here.machine.pauses()
        here.machine.on_order = here.machine.pauses
        await _until_paused(here)
        return await here.kinds(), ordered(folder) + len(here.machine.orders)


async def _until_paused(here: WatchWorld) -> None:
    here.scorer.probability = BAD
    here.world.clock.advance(WatchRounds.lease)
    for _ in range(40):
        await here.goes_on(10)
        if PAUSED in await here.kinds():
            break
    await here.goes_on(300, every_s=60)


@pytest.mark.parametrize("step", Step)
def test_wherever_a_worker_is_killed_a_print_is_paused_once_and_all_is_told_once(
    tmp_path: Path, step: Step
) -> None:
    folder = tmp_path / "data"
    path = folder / "database.sqlite3"
    prepare_file(path)
    migrate(path)
    words = [sys.executable, "-m", "tests.faults.watch_until_killed", str(folder), step]
    killed = subprocess.run(words, cwd=ROOT, capture_output=True, timeout=100, check=False)
    assert killed.returncode == -9, killed.stderr

    kinds, orders = asyncio.run(succeed(folder))

    is_in_doubt = step in (Step.PAUSE_DECIDED, Step.BEFORE_ORDER)
    assert kinds == ([WARNING, WARNING, PAUSED] if is_in_doubt else [WARNING, PAUSED])
    assert orders == 1
