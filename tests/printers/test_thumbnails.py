"""Thumbnails in the beginnings of files, of slicers and of people who mean harm."""

import base64
import io
import struct
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from printreach.printers.thumbnails import MAX_HEAD_BYTES, MAX_PIXELS, png_of_qoi, thumbnail_in
from printreach.rules.thumbnails import MAX_EDGE_PX, MAX_THUMBNAIL_BYTES, thumbnail_of
from tests.printers.sliced import picture, sliced

PNG = picture(32)
QOI_HEAD = struct.Struct(">4sIIBB")


def in_comments(data: bytes, kind: str = "", edge: int = 32, told: int | None = None) -> bytes:
    """A thumbnail as a slicer writes it. kind: `_JPG`, `_QOI`."""
    encoded = base64.b64encode(data).decode()
    lines = [f"; {encoded[at : at + 78]}" for at in range(0, len(encoded), 78)]
    begin = f"; thumbnail{kind} begin {edge}x{edge} {len(encoded) if told is None else told}"
    return "\n".join(["; ", begin, *lines, f"; thumbnail{kind} end", ";", ""]).encode()


def block(kind: int, data: bytes, parameters: bytes = b"\0\0") -> bytes:
    """A block of binary G-code, not compressed, with a checksum that nobody reads."""
    return struct.pack("<HHI", kind, 0, len(data)) + parameters + data + b"\0\0\0\0"


def binary(*blocks: bytes) -> bytes:
    return struct.pack("<4sIH", b"GCDE", 1, 1) + b"".join(blocks)


def pixel_rows(data: bytes) -> list[tuple[int, ...]]:
    with Image.open(io.BytesIO(data)) as drawn:
        rgba = drawn.convert("RGBA")
        return [rgba.getpixel((x, y)) for y in range(rgba.height) for x in range(rgba.width)]  # type: ignore[misc]  # of four bands


@pytest.mark.parametrize(("wanted", "edge"), [(16, 32), (32, 32), (33, 220), (2000, 220)])
def test_the_smallest_thumbnail_that_is_large_enough_is_chosen(wanted: int, edge: int) -> None:
    chosen = thumbnail_in(sliced().data, wanted)

    assert chosen == picture(edge)


def test_a_jpeg_is_found() -> None:
    jpeg = picture(64, "JPEG")

    assert thumbnail_in(in_comments(jpeg, "_JPG"), 64) == jpeg


def test_lines_may_end_as_windows_ends_them() -> None:
    assert thumbnail_in(in_comments(PNG).replace(b"\n", b"\r\n"), 32) == PNG


def test_a_thumbnail_in_binary_g_code_is_found() -> None:
    size = struct.pack("<HHH", 0, 32, 32)
    head = binary(block(0, b"Producer=PrusaSlicer"), block(3, b"x=1"), block(5, PNG, size))

    assert thumbnail_in(head, 32) == PNG


def test_binary_g_code_that_breaks_off_has_no_thumbnail() -> None:
    size = struct.pack("<HHH", 0, 32, 32)
    head = binary(block(0, b"Producer=PrusaSlicer"), block(5, PNG, size))

    assert all(thumbnail_in(head[:end], 32) is None for end in range(len(head) - len(PNG)))


def test_a_qoi_picture_becomes_png() -> None:
    # Two pixels of one colour by a run, one by its difference, one by all its values.
    coded = bytes([0xFE, 200, 100, 50, 0xC0, 0b01_11_10_01, 0xFF, 1, 2, 3, 4])
    qoi = QOI_HEAD.pack(b"qoif", 2, 2, 4, 0) + coded + b"\0" * 7 + b"\1"
    found = thumbnail_in(in_comments(qoi, "_QOI", edge=2), 16)

    assert found is not None
    expected = [(200, 100, 50, 255), (200, 100, 50, 255), (201, 100, 49, 255), (1, 2, 3, 4)]
    assert pixel_rows(found) == expected


def test_a_qoi_picture_may_use_earlier_colours_and_finer_differences() -> None:
    # A colour, one near it by a luma difference, and the first again by its place.
    first = (200 * 3 + 100 * 5 + 50 * 7 + 255 * 11) & 63
    coded = bytes([0xFE, 200, 100, 50, 0x80 | (32 + 10), 0x97, first])
    qoi = QOI_HEAD.pack(b"qoif", 3, 1, 3, 0) + coded + b"\0" * 7 + b"\1"
    found = png_of_qoi(qoi)

    assert found is not None
    expected = [(200, 100, 50, 255), (211, 110, 59, 255), (200, 100, 50, 255)]
    assert pixel_rows(found) == expected


@pytest.mark.parametrize(
    "qoi",
    [
        QOI_HEAD.pack(b"qoif", 2**31, 2**31, 4, 0),
        QOI_HEAD.pack(b"qoif", MAX_PIXELS + 1, 1, 4, 0) + b"\xfd" * 9999,
        QOI_HEAD.pack(b"qoif", 0, 5, 4, 0),
        QOI_HEAD.pack(b"qoif", 5, 5, 4, 0) + b"\xfe\1",
        b"qoif",
    ],
)
def test_a_hostile_qoi_picture_is_none(qoi: bytes) -> None:
    assert png_of_qoi(qoi) is None


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"G28\n",
        b"; thumbnail begin 32x32 10\n; AAAA\n",
        b"; thumbnail begin 32x32 10\n; not base64!\n; thumbnail end\n",
        in_comments(b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"),
        in_comments(b"<html><script>alert(1)</script>"),
        in_comments(b"GIF89a" + b"\0" * 40),
        in_comments(PNG[:60]),
        in_comments(PNG)[:120] + b"\n; thumbnail end\n",
        in_comments(b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 2**31) + b"IHDR"),
    ],
)
def test_what_is_no_picture_is_no_thumbnail(head: bytes) -> None:
    assert thumbnail_in(head, 32) is None


def test_a_thumbnail_that_claims_a_billion_bytes_has_as_many_as_it_has() -> None:
    assert thumbnail_in(in_comments(PNG, told=99_999_999), 32) == PNG
    assert thumbnail_in(in_comments(PNG, told=10**9), 32) == PNG


def test_one_that_can_not_be_read_leaves_the_others() -> None:
    head = in_comments(b"no picture", edge=64) + in_comments(PNG)

    assert thumbnail_in(head, 64) == PNG


def test_thousands_of_thumbnails_take_no_longer_than_a_few() -> None:
    begun = time.process_time()
    thumbnail_in((b"; thumbnail begin 32x32 1\n" * 80_000)[:MAX_HEAD_BYTES], 32)
    thumbnail_in((b"; thumbnail begin 9x9 1\n; thumbnail end\n" * 60_000)[:MAX_HEAD_BYTES], 32)

    assert time.process_time() - begun < 1.0


def test_bytes_after_a_picture_are_dropped() -> None:
    shown = thumbnail_of(PNG + b"<script>alert(1)</script>")

    assert shown is not None
    assert (shown.data, shown.media_type) == (PNG, "image/png")


def test_a_picture_that_claims_to_be_huge_is_none() -> None:
    header = struct.pack(">II", MAX_EDGE_PX + 1, 10)

    assert thumbnail_of(PNG[:16] + header + PNG[24:]) is None
    assert thumbnail_of(PNG + b"\0" * MAX_THUMBNAIL_BYTES) is None


@given(st.binary(max_size=400), st.integers(0, 3000), st.sampled_from(["text", "binary", "qoi"]))
def test_no_file_harms_the_reader(noise: bytes, where: int, kind: str) -> None:
    size = struct.pack("<HHH", 0, 32, 32)
    whole = {
        "text": sliced().data,
        "binary": binary(block(0, b"x"), block(5, PNG, size)),
        "qoi": in_comments(QOI_HEAD.pack(b"qoif", 9, 9, 4, 0) + noise, "_QOI"),
    }[kind]
    head = bytearray(whole)
    head[where : where + len(noise)] = noise
    found = thumbnail_in(bytes(head), 32)

    assert found is None or thumbnail_of(found) is not None
