"""Bodies of uploads: on disk where their size isn't known, held to an announced size, in a form."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import quote

from printreach.languages import in_english

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
            raise failed(
                in_english(
                    "The agent could not keep the upload: %(strerror)s.", strerror=exc.strerror
                )
            ) from exc
        yield SpooledBody(size, _read(file))


async def exactly(chunks: AsyncIterator[bytes], size: int) -> AsyncIterator[bytes]:
    """Yield the chunks, checked against the announced size. Raises PrinterRefused."""
    left = size
    async for chunk in chunks:
        left -= len(chunk)
        if left < 0:
            raise failed(
                in_english("The upload is longer than the %(size)s bytes it announced.", size=size)
            )
        yield chunk
    if left:
        raise failed(
            in_english(
                "The upload ended %(left)s bytes short of the %(size)s it announced.",
                left=left,
                size=size,
            )
        )


async def _read(file: BinaryIO) -> AsyncIterator[bytes]:
    while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
        yield piece


def form_around_file(
    fields: Mapping[str, str],
    file_field: str,
    file_name: str,
    boundary: str,
    *,
    is_plain: bool = False,
) -> tuple[bytes, bytes]:
    """Return the bytes before and after the file's own.

    boundary: something that the file can't hold by chance. Names beyond plain ASCII travel as
    RFC 6266 has it (`filename*`): quotes, percent signs and other alphabets arrive as they are.
    is_plain: in plain UTF-8 instead, without a quotation mark.
    """
    before = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    named = f'filename="{file_name}"' if is_plain else _file_name(file_name)
    disposition = f'form-data; name="{file_field}"; {named}'
    before.append(f"--{boundary}\r\nContent-Disposition: {disposition}\r\n")
    before.append("Content-Type: application/octet-stream\r\n\r\n")
    return "".join(before).encode(), f"\r\n--{boundary}--\r\n".encode()


def form_type(boundary: str) -> bytes:
    """Return the Content-Type of such a form."""
    return b"multipart/form-data; boundary=" + boundary.encode("ascii")


def _file_name(name: str) -> str:
    if name.isascii() and name.isprintable() and not set(name) & set('"\\%'):
        return f'filename="{name}"'
    return f"filename*=UTF-8''{quote(name, safe='')}"
