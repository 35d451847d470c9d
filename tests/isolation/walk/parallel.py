"""Episodes of a walk in several processes: none knows of another, so any process may take any."""

import multiprocessing
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.isolation.walk.episodes import (
    EPISODE,
    Report,
    WalkFailed,
    Walks,
    planned,
    quick_folder,
)

Episode = tuple[int, int]
"""Its seed, and how many steps it has."""

_of_process: Final[list[Walks]] = []
"""The one Walks of each process of the pool."""


def walk_in_processes(
    seed: int, steps: int, processes: int
) -> Iterator[tuple[Report, Episode | None]]:
    """What each episode reported, as they end; with its seed and its steps where it failed."""
    spawning = multiprocessing.get_context("spawn")
    with quick_folder() as folder, spawning.Pool(processes, _begin, [folder]) as pool:
        yield from pool.imap_unordered(_walk, list(_episodes(seed, steps)))


def _episodes(seed: int, steps: int) -> Iterator[Episode]:
    while steps > 0:
        yield seed, min(EPISODE, steps)
        seed, steps = seed + 1, steps - EPISODE


def _begin(folder: Path) -> None:
    _of_process.append(Walks(Path(tempfile.mkdtemp(dir=folder))))


def _walk(episode: Episode) -> tuple[Report, Episode | None]:
    seed, steps = episode
    walks = _of_process[0]
    walks.report = Report()
    try:
        walks.episode(seed, planned(seed, steps))
    except WalkFailed as failed:
        return walks.report, (seed, len(failed.steps))
    return walks.report, None
