"""Images: decoded to the model's input, or refused, and nothing else."""

import io
import struct
import zlib
from contextlib import suppress
from typing import Final
from unittest.mock import patch

from PIL import Image

from printreach.detector import files
from printreach.detector.preprocess import SIDE, ImageRefused, PreparedImage, prepare
from printreach.rules.detection.scene import SIDE as PLACES
from printreach.rules.watch.choices import Region

_QUICK_PIXELS: Final = 1_000_000
"""The limit is lower here, so that each try is quick: the way to it is the same."""
_CORNER: Final = Region(0.0, 0.0, 0.25, 0.25)
_BESIDE: Final = slice(SIDE // 4, None)
_PNG_HEAD_BYTES: Final = 8


def image(data: bytes) -> None:
    """Target prepare, with the file as it is and with the checksums of PNG chunks corrected."""
    with patch.object(files, "MAX_IMAGE_PIXELS", _QUICK_PIXELS):
        for file in (data, _with_right_sums(data)):
            found = _prepared(file)
            if found is not None:
                _check(found)
                again = prepare(file, [_CORNER])
                assert (again.pixels[_BESIDE, _BESIDE] == found.pixels[_BESIDE, _BESIDE]).all()


def seeds() -> list[bytes]:
    """Return a small image of each kind."""
    drawn = Image.linear_gradient("L").resize((24, 16)).convert("RGB")
    turned = drawn.rotate(180)
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010F] = "a camera"
    return [
        _written(drawn, "JPEG", exif=exif),
        _written(drawn, "JPEG", progressive=True),
        _written(drawn.convert("CMYK"), "JPEG"),
        _written(drawn.convert("L"), "JPEG", quality=10),
        _written(drawn, "MPO", save_all=True, append_images=[turned]),
        _written(drawn, "PNG", exif=exif),
        _written(drawn.convert("P"), "PNG", transparency=3),
        _written(drawn.convert("RGBA"), "PNG", icc_profile=b"a profile"),
        _written(drawn.convert("I;16"), "PNG"),
        _written(drawn, "PNG", save_all=True, append_images=[turned]),
        _written(drawn, "WEBP", exif=exif),
        _written(drawn, "WEBP", lossless=True),
        _written(drawn.convert("RGBA"), "WEBP", save_all=True, append_images=[turned]),
    ]


def _prepared(file: bytes) -> PreparedImage | None:
    with suppress(ImageRefused):
        return prepare(file)
    return None


def _check(prepared: PreparedImage) -> None:
    assert prepared.pixels.shape == (SIDE, SIDE, 3)
    assert prepared.pixels.dtype == "uint8"
    assert len(prepared.scene.grey) == PLACES**2
    assert all(0 <= place <= 255 for place in prepared.scene.grey)


def _with_right_sums(data: bytes) -> bytes:
    """Correct the checksums, since nearly every change of a PNG breaks one and nothing else would
    be reached.
    """
    mended, at = bytearray(data), _PNG_HEAD_BYTES
    while data.startswith(b"\x89PNG") and at + 12 <= len(data):
        end = at + 8 + int.from_bytes(data[at : at + 4], "big")
        if end + 4 > len(data):
            break
        mended[end : end + 4] = struct.pack(">I", zlib.crc32(data[at + 4 : end]))
        at = end + 4
    return bytes(mended)


def _written(image: Image.Image, image_format: str, **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, image_format, **options)
    return file.getvalue()
