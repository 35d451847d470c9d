"""Uploads of unknown size to printers that require the size first."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from .port import failed

PIECE_BYTES = 64 * 1024


class SpooledBody(NamedTuple):
    """An upload on disk. size: bytes. chunks: to be read once."""

    size: int
    chunks: AsyncIterator[bytes]


@asynccontextmanager
async def spooled(chunks: AsyncIterator[bytes], folder: Path) -> AsyncIterator[SpooledBody]:
    """Keep an upload on disk until the end of the block; nothing is left there after a crash.

    Raises PrinterRefused when the disk is full, and what chunks raises.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        size = 0
        try:
            async for chunk in chunks:
                await asyncio.to_thread(file.write, chunk)
                size += len(chunk)
            await asyncio.to_thread(file.seek, 0)
        except OSError as exc:
            raise failed(f"The agent could not keep the upload: {exc.strerror}.") from exc
        yield SpooledBody(size, _read(file))


async def exactly(chunks: AsyncIterator[bytes], size: int) -> AsyncIterator[bytes]:
    """Yield the chunks, checked against the announced size. Raises PrinterRefused."""
    left = size
    async for chunk in chunks:
        left -= len(chunk)
        if left < 0:
            raise failed(f"The upload is longer than the {size} bytes it announced.")
        yield chunk
    if left:
        raise failed(f"The upload ended {left} bytes short of the {size} it announced.")


async def _read(file: BinaryIO) -> AsyncIterator[bytes]:
    while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
        yield piece
