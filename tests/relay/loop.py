"""Async tests on the event loop that the service runs on."""

import functools
from collections.abc import Awaitable, Callable
from typing import ParamSpec

import uvloop

P = ParamSpec("P")


def on_a_loop(test: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    """Run an async test on a loop of its own."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        async def body() -> None:
            await test(*args, **kwargs)

        uvloop.run(body())

    return run
