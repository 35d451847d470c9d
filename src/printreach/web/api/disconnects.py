"""Work for a caller who may leave before it is done."""

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from printreach.web.problems import AnyRequest

T = TypeVar("T")


class CallerDisconnected(Exception):
    """Nobody waits for the answer any more."""


async def while_connected(request: AnyRequest, work: Coroutine[None, None, T]) -> T:
    """Do the work, or give it up as soon as the caller leaves. Raises CallerLeft.

    The request's body has to be read by then.
    """
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_until_left(request))
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise CallerDisconnected
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _until_left(request: AnyRequest) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass  # an end of the body that was read already
