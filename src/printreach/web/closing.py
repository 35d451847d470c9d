"""Closing of a stream's source when nobody reads it any more.

If a reader leaves while a piece is being sent, the sending is cancelled, and the generator behind
it stays suspended until it is garbage-collected, which may take minutes. Until then it counts as an
open stream and keeps asking printers and the store.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import TypeVar

from litestar.background_tasks import BackgroundTask

T = TypeVar("T")


def closing(source: AsyncIterator[T]) -> BackgroundTask:
    """Return a response's background task that closes the source, however the reader left."""
    return BackgroundTask(_close, source)


async def _close(source: AsyncIterator[T]) -> None:
    if isinstance(source, AsyncGenerator):
        await source.aclose()
