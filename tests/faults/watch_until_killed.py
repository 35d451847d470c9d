"""A worker that watches a failing print, and is killed at one step: FOLDER STEP.

The store is the real one; printer, camera and scorer are those of the hub's tests. Each order to
pause is noted in a file, as a printer would remember it.
"""

import asyncio
import inspect
import os
import signal
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any

from printreach.backends.detector_memory import MemoryDetectorStates
from printreach.rules.watch.choices import WatchPause, WatchSettings
from printreach.store.prints.events import EventRecords
from printreach.store.watch import WatchRecords
from tests.hub.watch.world import BAD, GOOD, WatchWorld, watching
from tests.hub.world import OpenWorld

PAUSES = WatchSettings(pauses=WatchPause())


class Step(StrEnum):
    """Where the worker is when it is killed."""

    WARNING_NOT_COMMITTED = "warning-not-committed"
    WARNED = "warned"
    PAUSE_NOT_DECIDED = "pause-not-decided"
    PAUSE_DECIDED = "pause-decided"
    BEFORE_ORDER = "before-order"
    ORDERED = "ordered"
    PAUSE_NOT_COMMITTED = "pause-not-committed"
    PAUSE_TOLD = "pause-told"


def orders_file(folder: Path) -> Path:
    return folder / "orders"


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _behind(owner: type, name: str, call: int, is_it: Callable[[], bool] = lambda: True) -> None:
    """Die behind that call of a coroutine."""
    real, calls = getattr(owner, name), 0
    assert inspect.iscoroutinefunction(real)

    async def dying(*args: Any, **options: Any) -> Any:
        nonlocal calls
        result = await real(*args, **options)
        calls += is_it()
        if calls == call:
            _die()
        return result

    setattr(owner, name, dying)


def _calls_of(owner: type, name: str) -> list[object]:
    """Return a list that gets the result of each call of a coroutine."""
    real, results = getattr(owner, name), []

    async def noting(*args: Any, **options: Any) -> Any:
        results.append(await real(*args, **options))
        return results[-1]

    setattr(owner, name, noting)
    return results


def _arm(step: Step, here: WatchWorld, folder: Path) -> None:
    def note() -> None:
        if step is Step.BEFORE_ORDER:
            _die()
        with orders_file(folder).open("a", encoding="ascii") as file:
            file.write("order\n")
        here.machine.pauses()
        if step is Step.ORDERED:
            _die()

    here.machine.on_order = note
    match step:
        case Step.WARNING_NOT_COMMITTED:
            _behind(EventRecords, "append", 1)
        case Step.WARNED:
            told = _calls_of(EventRecords, "append")
            _behind(MemoryDetectorStates, "put", 1, lambda: bool(told))
        case Step.PAUSE_NOT_DECIDED:
            _behind(WatchRecords, "keep", 1)
        case Step.PAUSE_DECIDED:
            here.machine.before_answer = lambda: _die_when_deciding(here)
        case Step.PAUSE_NOT_COMMITTED:
            _behind(EventRecords, "append", 2)
        case Step.PAUSE_TOLD:
            _behind(MemoryDetectorStates, "put", 1, lambda: bool(here.machine.orders))
        case _:
            pass


def _die_when_deciding(here: WatchWorld) -> None:
    """A second question at the same time is the one right before the order."""
    at = here.world.clock.now()
    if _asked_at and _asked_at[-1] == at:
        _die()
    _asked_at.append(at)


_asked_at: list[object] = []


async def _main(folder: Path, step: Step) -> None:
    async with watching(OpenWorld(folder / "database.sqlite3"), PAUSES) as here:
        _arm(step, here, folder)
        await here.goes_on(80, GOOD, every_s=20)
        await here.goes_on(300, BAD)
    sys.exit(f"nothing was killed at {step}")


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]), Step(sys.argv[2])))
