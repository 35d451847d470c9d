"""File transfers of both protocols: checksums, pieces, names, and the printer's web server."""

import hashlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import NamedTuple

from printreach.http1.client import ExchangeFailure
from printreach.http1.fetch import Fetcher, FetchFailed
from printreach.printers import loose
from printreach.printers.connecting import not_authorized, size_of, unreachable
from printreach.printers.port import (
    Download,
    PrinterRefused,
    bad_path,
    failed,
    no_such_file,
)
from printreach.printers.spool import exactly, spooled
from printreach.wire.heads import Headers

PIECE_BYTES = 1024 * 1024
"""The longest piece that the printers accept."""


class BufferedFile(NamedTuple):
    """A file on disk. pieces: at most 1 MiB each, with their offsets; to be read once."""

    size: int
    md5: str
    pieces: AsyncIterator[tuple[int, bytes]]


@asynccontextmanager
async def buffered(
    chunks: AsyncIterator[bytes], size: int | None, folder: Path
) -> AsyncIterator[BufferedFile]:
    """Buffer a file on disk: its checksum is sent before it. Raises PrinterRefused."""
    md5 = hashlib.md5(usedforsecurity=False)

    async def summed() -> AsyncIterator[bytes]:
        async for chunk in chunks if size is None else exactly(chunks, size):
            md5.update(chunk)
            yield chunk

    async with spooled(summed(), folder) as (found_size, found):
        if not found_size:
            raise failed("The printer takes no empty file.")
        yield BufferedFile(found_size, md5.hexdigest(), in_pieces(found))


async def in_pieces(chunks: AsyncIterator[bytes]) -> AsyncIterator[tuple[int, bytes]]:
    offset, piece = 0, bytearray()
    async for chunk in chunks:
        piece += chunk
        while len(piece) >= PIECE_BYTES:
            yield offset, bytes(piece[:PIECE_BYTES])
            offset += PIECE_BYTES
            del piece[:PIECE_BYTES]
    if piece:
        yield offset, bytes(piece)


def inside(path: str) -> str:
    """Return the path below the root."""
    return path.partition("/")[2]


def plain_name(path: str) -> str:
    """Return the name of a file to be uploaded. Raises PrinterRefused for one in a folder (751)."""
    name = inside(path)
    if "/" in name or not name:
        raise bad_path("This printer takes files into no folder.")
    return name


class WebServer:
    """The printer's web server. host: for people."""

    def __init__(self, fetcher: Fetcher, host: str) -> None:
        self._fetcher = fetcher
        self._where = f"The printer at {host}"

    async def close(self) -> None:
        await self._fetcher.close()

    async def send(self, method: bytes, target: bytes, headers: Headers, body: bytes) -> object:
        """Return the answer's JSON; None if it is not JSON. Raises PrinterRefused."""
        with self._as_refusals():
            answer = await self._fetcher.fetch(method, target, headers, body)
        self._require_ok(answer.status)
        return loose.parsed(answer.body)

    @asynccontextmanager
    async def download(self, target: bytes, path: str) -> AsyncIterator[Download]:
        with self._as_refusals():
            async with self._fetcher.open(b"GET", target) as answer:
                if answer.status == 404:
                    raise no_such_file(path)
                self._require_ok(answer.status)
                yield Download(size=size_of(answer.headers), chunks=self._chunks(answer.chunks()))

    async def _chunks(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        with self._as_refusals():
            async for chunk in chunks:
                yield chunk

    def _require_ok(self, status: int) -> None:
        if status in (401, 403):
            raise not_authorized(self._where, "refuses the access code")
        if not 200 <= status < 300:
            raise failed(f"The printer's web server answered {status}.")

    @contextmanager
    def _as_refusals(self) -> Iterator[None]:
        try:
            yield
        except FetchFailed as exc:
            if exc.failure is ExchangeFailure.TIMED_OUT:
                raise PrinterRefused(504, f"The printer gave no answer: {exc.text}.") from exc
            raise unreachable(self._where, exc.text) from exc
