"""What a stream is made from is closed when nobody reads it any more.

A reader that leaves while a piece is being sent ends the sending, and what the pieces come from is
left where it stands: to the garbage collector, which may take minutes. Meanwhile it counts as being
read, and asks printers and the store.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import TypeVar

from litestar.background_tasks import BackgroundTask

T = TypeVar("T")


def closing(source: AsyncIterator[T]) -> BackgroundTask:
    """For the background of a response, which runs however its reader left."""
    return BackgroundTask(_close, source)


async def _close(source: AsyncIterator[T]) -> None:
    if isinstance(source, AsyncGenerator):
        await source.aclose()
