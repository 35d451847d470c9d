"""JPEG pictures are told from data that only begins like one."""

import io
import zipfile

import pytest
from PIL import Image

from printreach.rules.detection.jpeg import MAX_SCANS, MAX_SEGMENTS, claimed_size, whole_jpeg


def picture(*, width: int = 32, height: int = 24, progressive: bool = False) -> bytes:
    """A real one, as a real encoder makes it."""
    drawn = Image.effect_noise((width, height), 60).convert("RGB")
    out = io.BytesIO()
    drawn.save(out, "JPEG", progressive=progressive, exif=b"Exif\x00\x00made for a test")
    return out.getvalue()


def archive() -> bytes:
    """A small zip of what unpacks to much."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("picture.jpg", bytes(1_000_000))
    return out.getvalue()


@pytest.mark.parametrize("progressive", [False, True])
def test_a_real_picture_is_one(progressive: bool) -> None:
    data = picture(progressive=progressive)

    assert whole_jpeg(data) == data


@pytest.mark.parametrize("behind", [b"\x00\x00", b"<script>alert(1)</script>", archive()])
def test_what_stands_behind_a_picture_is_cut_off(behind: bytes) -> None:
    data = picture()

    assert whole_jpeg(data + behind) == data


@pytest.mark.parametrize("length", [0, 1, 2, 3, 20, 200, -1, -2])
def test_a_picture_that_broke_off_is_none(length: int) -> None:
    assert whole_jpeg(picture()[:length]) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GIF89a" + bytes(100),
        b"<!doctype html><script>alert(1)</script>",
        b"\xff\xd8\xff\xd9",
        b"\xff\xd8\xff<script>alert(1)</script>\xff\xd9",
        b"\xff\xd8\xff\xe0\x00\x01\xff\xd9",
        b"\xff\xd8" + b"\xff" * 1000,
        archive(),
        b"\xff\xd8" + archive() + b"\xff\xd9",
    ],
)
def test_what_only_begins_like_a_picture_is_none(data: bytes) -> None:
    assert whole_jpeg(data) is None


def test_a_picture_that_would_fill_the_memory_is_none() -> None:
    data = bytearray(picture())
    at = data.index(b"\xff\xc0") + 5
    data[at : at + 4] = b"\xff\xff\xff\xff"

    assert whole_jpeg(bytes(data)) is None


def test_bytes_made_to_be_slow_to_read_are_no_picture() -> None:
    head = picture()
    scan = head.index(b"\xff\xda")
    begun = head[: scan + 2 + int.from_bytes(head[scan + 2 : scan + 4], "big")]
    hostile = begun + b"\xff\x00" * 4_000_000

    assert whole_jpeg(hostile) is None
    assert whole_jpeg(b"\xff\xd8" + b"\xff" * 4_000_000) is None
    assert whole_jpeg(b"\xff\xd8" + b"\xff\xe1\x00\x02" * MAX_SEGMENTS + head[2:]) is None


def test_a_picture_of_countless_scans_is_none() -> None:
    data = picture(progressive=True)
    last = data.rindex(b"\xff\xda")

    assert whole_jpeg(data[:last] + data[last:-2] * 20 + data[-2:]) is not None
    assert whole_jpeg(data[:last] + data[last:-2] * MAX_SCANS + data[-2:]) is None


@pytest.mark.parametrize("progressive", [False, True])
def test_a_picture_says_its_size_before_it_is_whole(progressive: bool) -> None:
    data = picture(width=40, height=24, progressive=progressive)
    scan = data.index(b"\xff\xda")

    assert claimed_size(data) == (40, 24)
    assert claimed_size(data[:scan]) == (40, 24)


@pytest.mark.parametrize("data", [b"", b"\xff\xd8", b"\xff\xd8\xff\xd9", b"\xff\xd8GIF89a"])
def test_what_does_not_come_to_a_frame_says_no_size(data: bytes) -> None:
    assert claimed_size(data) is None


def test_bytes_without_a_frame_are_not_searched_for_ever() -> None:
    assert claimed_size(b"\xff\xd8" + b"\xff\xe1\x00\x00" * 1_000_000) is None
