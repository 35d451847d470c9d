"""Walks in episodes, each on a service of its own; and the shortest walk that fails."""

import asyncio
import gc
import logging
import shutil
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from printreach.store.engine import prepare_file
from printreach.store.migrate import migrate
from tests.isolation.walk.service import WebApp, walk_settings
from tests.isolation.walk.virtual_time import VirtualLoop, inline_sqlite, seeded_secrets
from tests.isolation.walk.walk import STEPS, Step, Walker
from tests.isolation.walk.world import World

EPISODE: Final = 200
"""Steps on one database: long enough for what comes together late, short enough to be shrunk."""
EVERYTHING_EVERY: Final = 200
"""Steps between two looks at everything."""

_log = logging.getLogger("printreach")


@dataclass
class Report:
    """What was walked. failure: with the steps that lead there, the last one included."""

    steps: int = 0
    checks: int = 0
    by_name: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Report") -> None:
        """Take in what another walk reported."""
        self.steps += other.steps
        self.checks += other.checks
        self.by_name += other.by_name


class WalkFailed(Exception):
    """seed: of the episode. steps: up to the one that failed."""

    def __init__(self, seed: int, steps: Sequence[Step], cause: BaseException) -> None:
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.seed = seed
        self.steps = steps
        self.cause = cause


class Walks:
    """Runs episodes. The application and the empty database are made once for all of them.

    The product's log is silent until close(). folder: an empty one for the databases; on a
    disk in memory, if it may be quick.
    """

    def __init__(self, folder: Path) -> None:
        self._level = _log.level
        _log.setLevel(logging.CRITICAL)
        self._folder = folder
        settings = walk_settings(self._folder / "empty")
        prepare_file(settings.database_path)
        migrate(settings.database_path)
        self._empty = settings.database_path
        self._web = WebApp(settings)
        gc.collect()
        gc.freeze()  # else what lasts is looked through for garbage again and again
        self.report = Report()

    def close(self) -> None:
        _log.setLevel(self._level)

    def walk(self, seed: int, steps: int) -> None:
        """Take so many steps, in episodes that each begin anew. Raises WalkFailed."""
        left = steps
        while left > 0:
            self.episode(seed, planned(seed, min(EPISODE, left)))
            left -= EPISODE
            seed += 1

    def episode(self, seed: int, steps: Sequence[Step]) -> None:
        """Take these steps on a service of their own. Raises WalkFailed."""
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        world = World(folder, self._empty, self._web)
        try:
            with (
                inline_sqlite(),
                seeded_secrets(seed),
                asyncio.Runner(loop_factory=VirtualLoop) as runner,
            ):
                runner.run(self._steps(world, seed, steps))
        finally:
            self.report.checks += world.checks
            shutil.rmtree(folder)

    async def _steps(self, world: World, seed: int, steps: Sequence[Step]) -> None:
        await world.begin()
        walker = Walker(world)
        try:
            for number, step in enumerate(steps, 1):
                try:
                    await walker.take(step)
                    if number % EVERYTHING_EVERY == 0 or number == len(steps):
                        await walker.look_at_everything()
                except Exception as error:
                    raise WalkFailed(seed, steps[:number], error) from error
                self.report.steps += 1
                self.report.by_name[step.name] += 1
        finally:
            await walker.streams.close()
            await world.end()


def planned(seed: int, count: int) -> list[Step]:
    """The steps of an episode, by its seed. A shorter one has the same first steps."""
    chance = Random(seed)
    names, weights = list(STEPS), [kind.weight for kind in STEPS.values()]
    return [Step(chance.choices(names, weights)[0], chance.getrandbits(32)) for _ in range(count)]


def shrunk(walks: Walks, failed: WalkFailed, tries: int = 200) -> WalkFailed:
    """A shorter walk that fails in the same way: by leaving out halves, quarters, single steps."""
    size = max(1, len(failed.steps) // 2)
    while tries > 0:
        shorter, at = None, 0
        while at < len(failed.steps) and tries > 0:
            left = [*failed.steps[:at], *failed.steps[at + size :]]
            tries -= 1
            shorter = _fails_alike(walks, failed, left)
            if shorter is not None:
                failed = shorter
            else:
                at += size
        if size == 1:
            break
        size = max(1, size // 2)
    return failed


def _fails_alike(walks: Walks, failed: WalkFailed, steps: Sequence[Step]) -> WalkFailed | None:
    try:
        walks.episode(failed.seed, steps)
    except WalkFailed as again:
        return again if _where(again.cause) == _where(failed.cause) else None
    return None


def _where(cause: BaseException) -> str:
    """The kind of a failure, and the function that found it."""
    frames = traceback.extract_tb(cause.__traceback__)
    return f"{type(cause).__name__} {frames[-1].name if frames else ''}"


@contextmanager
def quick_folder() -> Iterator[Path]:
    """One in memory, where there is such a disk: each step waits for it."""
    memory = Path("/dev/shm")
    disk = memory if memory.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="isolation-", dir=disk) as folder:
        yield Path(folder)
