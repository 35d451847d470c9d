"""An event loop whose clock a test moves on: deadlines pass at once, among real sockets too.

A test gives what is not about to pass far more time than any machine stands still, and skips it.
"""

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import ParamSpec

P = ParamSpec("P")


class SkippingLoop(asyncio.SelectorEventLoop):
    """Its clock goes as it does, and jumps where it is told to."""

    _skipped_s = 0.0

    def time(self) -> float:
        return super().time() + self._skipped_s

    def skip(self, seconds: float) -> None:
        """Act as if so much time had passed; what is due by then comes in the next turn."""
        self._skipped_s += seconds


def skip(seconds: float) -> None:
    """Move the clock of the loop that the caller runs on."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SkippingLoop)
    loop.skip(seconds)


def on_a_skipping_loop(test: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    """Run an async test on a skipping loop of its own."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        async def body() -> None:
            await test(*args, **kwargs)

        with asyncio.Runner(loop_factory=SkippingLoop) as runner:
            runner.run(body())

    return run
