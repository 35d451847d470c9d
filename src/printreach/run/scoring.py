"""What scores pictures in this process, for the API and the watch alike."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from printreach.detector.engine import CannotLook, Engine, Look
from printreach.ports.scoring import Scorer
from printreach.run.settings import Settings

_NOT_INSTALLED: Final = (
    "its libraries are not installed here; pip install 'printreach[server,detector]' brings them"
)


@asynccontextmanager
async def scorer_of(settings: Settings) -> AsyncIterator[Scorer]:  # noqa: ARG001  # nodes come next
    """The scorer of a process, which its roles share. It loads nothing until it is asked."""
    engine = Engine(load_look, threads=_threads_beside_others())
    try:
        yield engine
    finally:
        await engine.close()


def load_look() -> Look:
    """The model and its libraries. Raises CannotLook where either is missing."""
    try:
        from printreach.detector.looking import load_looker
    except ImportError as error:
        raise CannotLook(_NOT_INSTALLED) from error
    return load_looker()


def _threads_beside_others() -> int:
    """One core is left to everything else that this process does, where it has several."""
    return max(1, _cores() - 1)


def _cores() -> int:
    """Those that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
