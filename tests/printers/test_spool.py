"""Uploads of unknown size, kept until their end; and uploads held to what they announced."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from printreach.printers.port import PrinterRefused
from printreach.printers.uploads import exactly, spooled


async def chunks(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def whole(pieces: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in pieces])


def test_everything_comes_back_with_its_size(tmp_path: Path) -> None:
    async def body() -> None:
        async with spooled(chunks(b"one ", b"", b"x" * 200_000), tmp_path) as kept:
            assert kept.size == 200_004
            assert await whole(kept.chunks) == b"one " + b"x" * 200_000

    asyncio.run(body())


def test_nothing_stays_on_the_disk(tmp_path: Path) -> None:
    def look() -> list[Path]:
        return list(tmp_path.iterdir())

    async def body() -> None:
        async with spooled(chunks(b"some"), tmp_path):
            assert look() == []

    asyncio.run(body())


def test_an_uploader_that_fails_leaves_nothing(tmp_path: Path) -> None:
    async def failing() -> AsyncIterator[bytes]:
        yield b"half"
        raise ValueError("gone")

    async def body() -> None:
        with pytest.raises(ValueError, match="gone"):
            async with spooled(failing(), tmp_path):
                pass

    asyncio.run(body())
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_in_words(tmp_path: Path) -> None:
    class Full:
        def __enter__(self) -> "Full":
            return self

        def __exit__(self, *_exc: object) -> None: ...

        def write(self, _data: bytes) -> None:
            raise OSError(28, "No space left on device")

    async def body() -> None:
        with pytest.raises(PrinterRefused, match="No space left"):
            async with spooled(chunks(b"x"), tmp_path):
                pass

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.TemporaryFile", lambda dir: Full())  # noqa: A006 - its real name
        asyncio.run(body())


@pytest.mark.parametrize(("size", "word"), [(3, "longer"), (5, "short of")])
def test_an_upload_is_held_to_its_announced_size(size: int, word: str) -> None:
    with pytest.raises(PrinterRefused, match=word):
        asyncio.run(whole(exactly(chunks(b"ab", b"cd"), size)))


def test_an_upload_of_the_right_size_passes() -> None:
    assert asyncio.run(whole(exactly(chunks(b"ab", b"cd"), 4))) == b"abcd"
