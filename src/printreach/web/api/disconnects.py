"""Work that is abandoned when its caller disconnects."""

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from printreach.web.problems import AnyRequest

T = TypeVar("T")


class CallerDisconnected(Exception):
    """The caller no longer waits for the answer."""


async def while_connected(request: AnyRequest, work: Coroutine[None, None, T]) -> T:
    """Do the work, or cancel it as soon as the caller disconnects. Raises CallerDisconnected.

    The request's body must have been read before.
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
        pass  # the end of the body, which was already read
