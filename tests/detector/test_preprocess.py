"""Images that are decoded, and images that are refused before they cost anything."""

import io
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image, ImageOps

from printreach.detector.preprocess import (
    SIDE,
    ImageRefused,
    ImageTooLarge,
    prepare,
)
from printreach.rules.detection import MAX_IMAGE_BYTES
from printreach.rules.detection.scene import ViewCondition, compare_scene
from tests.detector.images import animated, jpeg_that_claims, scene, written

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


@pytest.mark.parametrize("image_format", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("orientation", range(10))
def test_an_image_is_turned_upright_however_the_camera_was_held(
    orientation: int, image_format: str
) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {} if image_format == "JPEG" else {"lossless": True}
    data = written(scene(300, 200), image_format, exif=exif, **options)
    upright = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))

    turned = prepare(data)

    expected = prepare(written(upright, "PNG", exif=b""))
    assert np.abs(turned.pixels.astype(int) - expected.pixels).max() <= 4


@pytest.mark.parametrize("exif", [b"Exif\0\0", b"Exif\0\0II*\0", b"Exif\0\0MM\0*" + b"\xff" * 40])
def test_an_image_whose_exif_is_damaged_is_as_upright_as_it_stands(exif: bytes) -> None:
    assert np.array_equal(prepare(written(scene(), exif=exif)).pixels, prepare(JPEG).pixels)


@pytest.mark.parametrize("image_format", ["PNG", "WEBP"])
def test_of_an_animation_the_first_picture_counts(image_format: str) -> None:
    bright, dark = scene(), scene().point(lambda level: level // 40)

    prepared = prepare(animated(image_format, bright, dark, dark))

    assert abs(prepared.pixels.mean() - prepare(JPEG).pixels.mean()) < 2


def test_of_a_phones_file_of_several_pictures_the_first_counts() -> None:
    smaller = scene(320, 240).point(lambda level: level // 40)

    prepared = prepare(animated("MPO", scene(), smaller))

    assert abs(prepared.pixels.mean() - prepare(JPEG).pixels.mean()) < 2


@pytest.mark.parametrize("size", [(2600, 900), (900, 2600), (2100, 1600), (513, 511), (8, 5000)])
@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P"])
def test_a_large_image_is_shrunk_as_a_whole_would_be(size: tuple[int, int], mode: str) -> None:
    image = scene(*size).convert(mode)
    whole = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX, reducing_gap=2.0)

    pixels = prepare(written(image, "PNG", compress_level=1)).pixels

    assert np.array_equal(pixels, np.asarray(whole))


def test_threads_that_decode_at_once_do_not_disturb_each_other() -> None:
    files = [written(scene(200 + 90 * number, 300), "WEBP") for number in range(8)]
    one_by_one = [prepare(data).scene for data in files]

    with ThreadPoolExecutor(4) as threads:
        at_once = [prepared.scene for prepared in threads.map(prepare, files)]

    assert at_once == one_by_one


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("image_format", ["JPEG", "PNG", "WEBP"])
def test_a_truncated_image_is_refused(image_format: str, share: float) -> None:
    data = written(scene(), image_format)

    with pytest.raises(ImageRefused):
        prepare(data[: int(len(data) * share)])


@pytest.mark.parametrize("share", [0.3, 0.5, 0.9])
@pytest.mark.parametrize(
    "data",
    [
        written(scene(), "PNG"),
        written(scene()),
        written(scene(1920, 1080)),
        written(scene(), restart_marker_rows=1),
        written(scene().convert("L")),
        written(scene().convert("CMYK")),
    ],
    ids=["PNG", "JPEG", "large", "restarts", "grey", "CMYK"],
)
def test_a_truncated_image_with_an_end_put_behind_it_is_refused(data: bytes, share: float) -> None:
    end = data[-12:] if data.startswith(b"\x89PNG") else data[-2:]

    with pytest.raises(ImageRefused, match="truncated"):
        prepare(data[: int(len(data) * share)] + end)


@pytest.mark.parametrize("size", [(640, 480), (1920, 1080), (8, 8)])
@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_a_whole_image_may_end_as_grey_as_what_is_missing(mode: str, size: tuple[int, int]) -> None:
    plain = Image.new("RGB", size, (128, 128, 128))
    lower = plain.copy()
    lower.paste(scene(size[0], size[1] // 2))

    for image in (plain, lower):
        for options in ({}, {"progressive": True}, {"restart_marker_rows": 1}):
            assert prepare(written(image.convert(mode), **options)).pixels.shape == (SIDE, SIDE, 3)


def test_of_a_phones_file_a_first_picture_that_breaks_off_is_refused() -> None:
    cut = JPEG[: len(JPEG) // 2] + JPEG[-2:]

    with pytest.raises(ImageRefused, match="truncated"):
        prepare(cut + JPEG)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is empty"),
        (b"GIF89a", "it is no JPEG, PNG or WebP image"),
        (written(scene())[:-2], "it is truncated or corrupt"),
        (written(scene()) + b"more", "something follows its end"),
        (jpeg_that_claims(20_000, 20_000), "20000 x 20000 pixels; 50000000 are decoded"),
        (jpeg_that_claims(65_535, 65_535), "65535 x 65535 pixels; 50000000 are decoded"),
        (written(scene(1, 1)), "1 x 1 pixels show nothing"),
    ],
)
def test_why_an_image_is_refused_is_said(data: bytes, why: str) -> None:
    with pytest.raises(ImageRefused) as refused:
        prepare(data)

    assert str(refused.value) == why


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


def test_the_number_of_bytes_is_limited_to_the_byte() -> None:
    padded = JPEG + b"\0" * (MAX_IMAGE_BYTES - len(JPEG))

    assert prepare(padded).pixels.shape == (SIDE, SIDE, 3)
    with pytest.raises(ImageTooLarge):
        prepare(padded + b"\0")


def test_the_very_same_picture_is_told_from_a_similar_one() -> None:
    noisy = np.asarray(scene()).copy()
    noisy[::7, ::5] ^= 4

    first, again = prepare(JPEG).scene, prepare(JPEG).scene
    other = prepare(written(Image.fromarray(noisy))).scene

    assert first == again
    assert first.digest != other.digest


def test_a_lamp_that_goes_out_leaves_the_dark() -> None:
    seen, _ = compare_scene(None, prepare(JPEG).scene)
    dark = prepare(written(scene().point(lambda level: level // 40)))

    _, view = compare_scene(seen, dark.scene)

    assert view is ViewCondition.DARK
