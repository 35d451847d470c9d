"""Images that are made to do harm: to memory, to time, or to who opens the same file next."""

import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from printreach.detector.preprocess import SIDE, ImageRefused, prepare
from tests.detector.images import (
    animated,
    jpeg_of_many_scans,
    jpeg_that_claims,
    png_chunk,
    png_head,
    png_of,
    png_that_claims,
    scene,
    webp_that_claims,
    written,
)

FORMATS = ["JPEG", "PNG", "WEBP"]
END = png_chunk(b"IEND", b"")


@pytest.mark.parametrize("image_format", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("other", [b"PK\x03\x04" + b"\0" * 18 + b"x", b"<script>alert(1)</script>"])
def test_a_file_that_is_two_at_once_is_refused(image_format: str, other: bytes) -> None:
    with pytest.raises(ImageRefused, match="follows its end"):
        prepare(written(scene(), image_format) + other)


@pytest.mark.parametrize("between", [b"PK\x03\x04zip", b"\0\0<script>", b"\xff\xd8"])
def test_nothing_hides_between_the_pictures_of_a_phones_file(between: bytes) -> None:
    first, second = written(scene()), written(scene(320, 240))

    with pytest.raises(ImageRefused, match="follows its end"):
        prepare(first + between + second)


@pytest.mark.parametrize(
    "bomb",
    [
        png_that_claims(20_000, 20_000),
        png_that_claims(7072, 7072),
        png_that_claims(2**31 - 1, 2**31 - 1),
        png_that_claims(50_000_000, 8),
        jpeg_that_claims(20_000, 20_000),
        jpeg_that_claims(65_535, 65_535),
        jpeg_that_claims(7072, 7072),
        webp_that_claims(16_383, 16_383),
        webp_that_claims(7072, 7072),
        webp_that_claims(2**24, 2**24),
    ],
)
def test_a_bomb_is_refused_before_memory_is_spent_on_it(bomb: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ImageRefused):
            prepare(bomb)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("claims", [jpeg_that_claims, png_that_claims, webp_that_claims])
@pytest.mark.parametrize("size", [(1, 1), (7, 400), (400, 7)])
def test_an_image_too_small_to_show_anything_is_refused(
    claims: Callable[[int, int], bytes], size: tuple[int, int]
) -> None:
    with pytest.raises(ImageRefused, match="show nothing"):
        prepare(claims(*size))


@pytest.mark.parametrize(
    "data",
    [
        jpeg_of_many_scans(200),
        written(scene())[:2] + b"\xff\xe1\x00\x02" * 100_000 + written(scene())[2:],
        written(scene())[:2] + b"\xff" * 1_000_000 + b"\xe1\x00\x02",
        png_of(png_head(64, 64), png_chunk(b"tEXt", b"a\0b") * 100_000, END),
        png_of(png_head(64, 64), png_chunk(b"IDAT", b"") * 100_000, END),
        png_of(*[png_head(64, 64)] * 50_000, END),
    ],
    ids=["scans", "segments", "filling", "words", "data", "heads"],
)
def test_a_file_of_countless_parts_is_refused_before_they_are_read(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(*_: object, **__: object) -> None:
        raise AssertionError("it was opened")

    monkeypatch.setattr("PIL.Image.open", opened)

    with pytest.raises(ImageRefused):
        prepare(data)


def test_a_webp_file_of_countless_parts_is_refused() -> None:
    data = bytearray(written(scene(64, 64), "WEBP") + b"junk\0\0\0\0" * 20_000)
    data[4:8] = (len(data) - 8).to_bytes(4, "little")

    with pytest.raises(ImageRefused, match="too many parts"):
        prepare(bytes(data))


def test_what_a_second_head_of_a_png_claims_is_not_believed() -> None:
    data = png_that_claims(64, 64)
    first = png_head(64, 64)
    start = len(png_of(first))

    with pytest.raises(ImageRefused):
        prepare(data[:start] + png_head(20_000, 20_000) + data[start:])


def test_progressive_images_of_usual_encoders_have_few_enough_scans() -> None:
    prepare(jpeg_of_many_scans(20))


GOOD = {
    "JPEG": written(scene(160, 120)),
    "progressive": written(scene(160, 120), progressive=True),
    "CMYK": written(scene(160, 120).convert("CMYK")),
    "PNG": written(scene(160, 120), "PNG"),
    "palette": written(scene(160, 120).convert("P"), "PNG"),
    "WEBP": written(scene(160, 120), "WEBP"),
    "lossless": written(scene(160, 120), "WEBP", lossless=True),
    "animated PNG": animated("PNG", scene(160, 120), scene(160, 120).rotate(90)),
    "animated WebP": animated("WEBP", scene(160, 120), scene(160, 120).rotate(90)),
}


@pytest.mark.parametrize("kind", GOOD)
@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=30))
def test_a_corrupt_image_is_decoded_or_refused_and_nothing_else(
    kind: str, changes: list[tuple[float, int]]
) -> None:
    data = bytearray(GOOD[kind])
    for place, byte in changes:
        data[int(place * len(data))] = byte

    try:
        prepared = prepare(bytes(data))
    except ImageRefused:
        return
    assert prepared.pixels.shape == (SIDE, SIDE, 3)


@pytest.mark.parametrize("kind", GOOD)
@settings(max_examples=15, deadline=None)
@given(st.floats(0, 1, exclude_max=True))
def test_an_image_that_breaks_off_anywhere_is_refused(kind: str, share: float) -> None:
    data = GOOD[kind]

    with pytest.raises(ImageRefused):
        prepare(data[: int(share * len(data))])
