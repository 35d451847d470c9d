"""An event loop that never waits: its clock jumps to the next timer once nothing else is to do.

Tests of time-outs run in no time on it, and always alike: the work of executors' threads takes no
time by that clock. Not for real sockets: while a byte is under way in the kernel nothing is to do,
and the clock jumps.
"""

import asyncio
import functools
import selectors
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

STUCK_S = 30.0
"""Longer than a thread of a busy machine stands still."""


class _HastySelector(selectors.SelectSelector):
    """Says how long it would have waited, instead of waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.skipped_s = 0.0
        self.in_threads: set[asyncio.Future[Any]] = set()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if found:
            return found
        if timeout is None or (timeout > 0 and self.in_threads):  # a thread goes on first
            found = super().select(STUCK_S)
            if not found:
                raise RuntimeError("the test waits for what will never happen")
        elif timeout > 0:
            self.skipped_s += timeout
        return found


class HastyLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._hasty = _HastySelector()
        super().__init__(self._hasty)

    def time(self) -> float:
        return 1000.0 + self._hasty.skipped_s

    def run_in_executor(  # type: ignore[override]  # the base class's types are of overloads
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        future: asyncio.Future[T] = super().run_in_executor(executor, func, *args)
        self._hasty.in_threads.add(future)
        future.add_done_callback(self._hasty.in_threads.discard)
        return future

    @property
    def timers(self) -> int:
        """The number of calls that are due later."""
        handles: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]  # private
        return sum(not handle.cancelled() for handle in handles)

    def freeze(self, seconds: float) -> None:
        """Act as a process that was stopped for so long: the clock went on, nothing else did."""
        self._hasty.skipped_s += seconds


def hasty_loop() -> HastyLoop:
    """The loop that the caller runs on."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, HastyLoop)
    return loop


async def settle() -> None:
    """Return when nothing is left to do but to wait for timers."""
    await asyncio.sleep(1e-6)


def on_a_hasty_loop(test: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    """Run an async test on a hasty loop of its own."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        async def body() -> None:
            await test(*args, **kwargs)

        with asyncio.Runner(loop_factory=HastyLoop) as runner:
            runner.run(body())

    return run
