"""Which images are decoded, and which are refused before they cost anything."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from printreach.detector.preprocess import (
    SIDE,
    ImageRefused,
    ImageTooLarge,
    prepare,
)
from printreach.rules.detection_images import MOST_BYTES
from printreach.rules.detection_scene import View, look_at
from tests.detector.images import png_that_claims, scene, written

JPEG = written(scene())


@pytest.mark.parametrize(
    "data",
    [
        JPEG,
        written(scene(), progressive=True),
        written(scene(), quality=20),
        written(scene().convert("L")),
        written(scene().convert("CMYK")),
        written(scene(), "PNG"),
        written(scene().convert("P"), "PNG"),
        written(scene().convert("RGBA"), "PNG"),
        written(scene().convert("LA"), "PNG"),
        written(scene().convert("1"), "PNG"),
        written(scene(), "WEBP"),
        written(scene(), "WEBP", lossless=True),
        JPEG + b"\0" * 100,
    ],
)
def test_what_cameras_and_browsers_write_is_decoded(data: bytes) -> None:
    prepared = prepare(data)

    assert prepared.pixels.shape == (SIDE, SIDE, 3)
    assert prepared.pixels.dtype == np.uint8
    assert prepared.scene.grey[0] < prepared.scene.grey[-1]


def test_sixteen_bits_keep_their_light() -> None:
    levels = np.linspace(0, 65535, 64 * 64).astype(np.uint16).reshape(64, 64)

    prepared = prepare(written(Image.fromarray(levels), "PNG"))

    assert 110 < prepared.pixels.mean() < 145


def test_an_image_is_turned_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = 3  # upside down

    turned = prepare(written(scene(), exif=exif))

    assert turned.scene.grey[0] > turned.scene.grey[-1]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("image_format", ["JPEG", "PNG", "WEBP"])
def test_a_truncated_image_is_refused(image_format: str, share: float) -> None:
    data = written(scene(), image_format)

    with pytest.raises(ImageRefused):
        prepare(data[: int(len(data) * share)])


def test_a_truncated_image_with_an_end_put_behind_it_is_refused() -> None:
    data = written(scene(), "PNG")

    with pytest.raises(ImageRefused):
        prepare(data[: len(data) // 2] + data[-12:])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xd8",
        b"GIF89a",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"%PDF-1.7",
        written(scene(), "GIF"),
        written(scene(), "BMP"),
        written(scene(), "TIFF"),
        written(scene(1, 1)),
        written(scene(7, 400)),
    ],
)
def test_what_is_no_picture_of_a_print_is_refused(data: bytes) -> None:
    with pytest.raises(ImageRefused):
        prepare(data)


@pytest.mark.parametrize("image_format", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("other", [b"PK\x03\x04" + b"\0" * 18 + b"x", b"<script>alert(1)</script>"])
def test_a_file_that_is_two_at_once_is_refused(image_format: str, other: bytes) -> None:
    with pytest.raises(ImageRefused, match="follows its end"):
        prepare(written(scene(), image_format) + other)


@pytest.mark.parametrize("size", [(20_000, 20_000), (7072, 7072), (2**31 - 1, 2**31 - 1)])
def test_a_bomb_is_refused_before_memory_is_spent_on_it(size: tuple[int, int]) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ImageRefused):
            prepare(png_that_claims(*size))
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def test_the_number_of_bytes_is_limited_to_the_byte() -> None:
    padded = JPEG + b"\0" * (MOST_BYTES - len(JPEG))

    assert prepare(padded).pixels.shape == (SIDE, SIDE, 3)
    with pytest.raises(ImageTooLarge):
        prepare(padded + b"\0")


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(JPEG) - 1), st.integers(0, 255)), max_size=30))
def test_a_corrupt_image_is_decoded_or_refused_and_nothing_else(
    changes: list[tuple[int, int]],
) -> None:
    data = bytearray(JPEG)
    for place, byte in changes:
        data[place] = byte

    try:
        prepared = prepare(bytes(data))
    except ImageRefused:
        return
    assert prepared.pixels.shape == (SIDE, SIDE, 3)


def test_the_very_same_picture_is_told_from_a_similar_one() -> None:
    noisy = np.asarray(scene()).copy()
    noisy[::7, ::5] ^= 4

    first, again = prepare(JPEG).scene, prepare(JPEG).scene
    other = prepare(written(Image.fromarray(noisy))).scene

    assert first == again
    assert first.digest != other.digest


def test_a_lamp_that_goes_out_leaves_the_dark() -> None:
    seen, _ = look_at(None, prepare(JPEG).scene)
    dark = prepare(written(scene().point(lambda level: level // 40)))

    _, view = look_at(seen, dark.scene)

    assert view is View.DARK
