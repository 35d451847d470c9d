"""A camera at one of several addresses."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from printreach.contract.status import WebcamEntry
from printreach.printers.http_camera import FallbackCamera
from printreach.printers.port import PrinterRefused


class FakeCamera:
    """frames_left: before it breaks off; 0 where nothing is at its address."""

    def __init__(self, name: str, frames_left: int) -> None:
        self.entry = WebcamEntry(name=name)
        self.source = name
        self.asked = 0
        self._left = frames_left

    async def snapshot(self) -> bytes | None:
        self.asked += 1
        if not self._left:
            raise self._nothing()
        return self.entry.name.encode()

    async def frames(self) -> AsyncIterator[bytes]:
        self.asked += 1
        for _ in range(self._left):
            yield self.entry.name.encode()
        raise self._nothing()

    def _nothing(self) -> PrinterRefused:
        return PrinterRefused(785, f"nothing at {self.entry.name}")


async def seen(camera: FallbackCamera, at_most: int) -> list[bytes]:
    frames = []
    async for frame in camera.frames():
        frames.append(frame)
        if len(frames) == at_most:
            break
    return frames


def test_the_first_address_that_gives_pictures_is_used() -> None:
    camera = FallbackCamera([FakeCamera("one", 0), FakeCamera("two", 9)])

    assert asyncio.run(seen(camera, 2)) == [b"two", b"two"]
    assert asyncio.run(camera.snapshot()) == b"two"


def test_what_is_listed_stays_the_likeliest() -> None:
    camera = FallbackCamera([FakeCamera("one", 0), FakeCamera("two", 9)])
    asyncio.run(camera.snapshot())

    assert camera.entry.name == "one"


def test_the_address_that_worked_is_asked_first_the_next_time() -> None:
    dead, alive = FakeCamera("dead", 0), FakeCamera("alive", 9)
    camera = FallbackCamera([dead, alive])
    for _ in range(3):
        asyncio.run(camera.snapshot())

    assert (dead.asked, alive.asked) == (1, 3)


def test_a_stream_that_breaks_off_is_not_continued_elsewhere() -> None:
    other = FakeCamera("other", 9)
    camera = FallbackCamera([FakeCamera("first", 2), other])

    with pytest.raises(PrinterRefused, match="nothing at first"):
        asyncio.run(seen(camera, 5))
    assert other.asked == 0


def test_where_no_address_works_the_likeliest_says_why() -> None:
    camera = FallbackCamera([FakeCamera("one", 0), FakeCamera("two", 0)])

    with pytest.raises(PrinterRefused, match="nothing at one"):
        asyncio.run(camera.snapshot())
    with pytest.raises(PrinterRefused, match="nothing at one"):
        asyncio.run(seen(camera, 1))
