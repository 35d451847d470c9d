"""One thread, and time that passes only where somebody waits: a walk is quick and always alike.

SQLite runs in the event loop's own thread here. With its usual thread for each connection, most of
the time of a step would be spent on handing over, and no two walks with one seed would be alike.
"""

import asyncio
import math
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from datetime import datetime, timedelta
from random import Random
from typing import Any, TypeVar

import aiosqlite.core
import pytest

from tests.fakes.clock import NOON
from tests.fakes.hasty_loop import HastyLoop

T = TypeVar("T")


class VirtualLoop(HastyLoop):
    """Also runs at once, in its own thread, what would go to a pool of threads.

    Two looks at its clock are never the same instant, for a loop that waits for "later than now"
    would wait for ever. They differ by as little as they can: `settle` must not end because of
    them, however often what it waits for looks at the clock.
    """

    def __init__(self) -> None:
        super().__init__()
        self._looked_at = 0.0

    def time(self) -> float:
        self._looked_at = max(super().time(), math.nextafter(self._looked_at, math.inf))
        return self._looked_at

    def run_in_executor(  # type: ignore[override]  # the base class's types are of overloads
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - whoever waits gets it
            future.set_exception(error)
        return future


class VirtualClock:
    """ports.Clock by the time of a loop, which may be put forward without running what is due."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._ahead = timedelta(0)

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self._loop.time()) + self._ahead

    def put_forward(self, by: timedelta) -> None:
        self._ahead += by


class _Inline:
    """In place of a connection's queue and thread: does in this turn what is put into it.

    The answer comes in a later turn, as it would from a thread, so that tasks interleave.
    """

    def put_nowait(self, item: tuple[asyncio.Future[Any] | None, Callable[[], Any]]) -> None:
        future, function = item
        try:
            result = function()
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            if future is not None:
                future.get_loop().call_soon(_set_exception, future, error)
        else:
            if future is not None:
                future.get_loop().call_soon(_set_result, future, result)


def _set_result(future: asyncio.Future[Any], result: Any) -> None:
    if not future.done():
        future.set_result(result)


def _set_exception(future: asyncio.Future[Any], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)


class _NoThread:
    """Never starts: there is nothing for it to do."""

    def __init__(self, *_args: Any, **_named: Any) -> None: ...
    def start(self) -> None: ...


@contextmanager
def inline_sqlite() -> Iterator[None]:
    """Connections that are opened meanwhile run in the caller's thread."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aiosqlite.core, "SimpleQueue", _Inline)
        patch.setattr(aiosqlite.core, "Thread", _NoThread)
        yield


@contextmanager
def seeded_secrets(seed: int) -> Iterator[None]:
    """Ids and secrets are made from this seed: rows and names then stand in the same order."""
    chance = Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "token_bytes", chance.randbytes)
        patch.setattr(secrets, "token_hex", lambda size: chance.randbytes(size).hex())
        yield
