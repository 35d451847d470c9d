"""File transfers of both protocols: checksums, pieces, names, and the printer's web server."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from printreach.http1.fetch import FetchedAnswer
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.connecting import download_of
from printreach.printers.http_api import HttpApi, NotFound
from printreach.printers.port import Download, PrinterRefused, bad_path, failed, no_such_file
from printreach.printers.setup import PrinterSetup
from printreach.printers.uploads import exactly, spooled
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

    async with spooled(summed(), folder) as (body_size, body):
        if not body_size:
            raise failed(N_("The printer takes no empty file."))
        yield BufferedFile(body_size, md5.hexdigest(), in_pieces(body))


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
        raise bad_path(N_("This printer takes files into no folder."))
    return name


class PrinterWeb(HttpApi):
    """The printer's web server."""

    def __init__(self, setup: PrinterSetup, port: int) -> None:
        super().__init__(replace(setup, port=port, tls=False), "The printer")
        self.where = in_english("The printer at %(host)s", host=setup.host)

    @property
    def denied(self) -> str:
        return in_english("%(where)s refuses the access code.", where=self.where)

    def refusal(self, answer: FetchedAnswer) -> PrinterRefused:
        if answer.status in (401, 403, 404):
            return super().refusal(answer)
        return failed(
            in_english("The printer's web server answered %(status)s.", status=answer.status)
        )

    async def send(self, method: str, target: str, headers: Headers, body: bytes) -> object:
        """Return the answer's JSON; None if it is not JSON. Raises PrinterRefused."""
        return loose.parsed(self.accept(await self.ask(method, target, body, headers=headers)).body)

    @asynccontextmanager
    async def download(self, target: str, path: str) -> AsyncIterator[Download]:
        try:
            async with self.open(target) as answer:
                yield download_of(answer, self.where)
        except NotFound:
            raise no_such_file(path) from None
