"""Strangers' images made safe and small: checked before memory is spent on them.

What an image says of itself (format, size) is read first, from its head alone; only then is it
decoded, JPEG at a reduced size.
"""

import io
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps, UnidentifiedImageError
from PIL.JpegImagePlugin import JpegImageFile

from printreach.detector.masks import paint_out
from printreach.rules.detection_images import MOST_BYTES, MOST_PIXELS
from printreach.rules.detection_scene import SIDE as SCENE_SIDE
from printreach.rules.detection_scene import Scene
from printreach.rules.watching import Region

FORMATS: Final = ("JPEG", "PNG", "WEBP")
SIDE: Final = 256
"""The model sees so many pixels each way."""

_LEAST_SIDE: Final = 8
"""Smaller ones show nothing."""
_DRAFT_SIDE: Final = 2 * SIDE
"""JPEG is decoded at a half, a quarter or an eighth, but at least so large."""
_WIDE_MODES: Final = frozenset({"I", "F", "I;16", "I;16L", "I;16B", "I;16N"})

# Each format begins and ends as its specification says. What goes on after its end is two files in
# one: an image to us, and something else to whoever opens it next.
# MPO is what phones write: JPEGs one after another, of which the first counts.
_JPEG_END: Final = b"\xff\xd9"
_ENDS: Final = {"JPEG": _JPEG_END, "MPO": _JPEG_END, "PNG": b"IEND\xaeB`\x82"}
_RIFF_HEAD: Final = 8
"""WebP tells its own length, without these bytes."""
_PADDING: Final = b"\x00\xff\r\n"
"""What cameras leave behind the end."""


class ImageRefused(Exception):
    """An image that isn't decoded, with why."""


class ImageTooLarge(ImageRefused):
    """More bytes than are taken."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the model sees (SIDE, SIDE, 3) of bytes, and the picture as a whole."""

    pixels: npt.NDArray[np.uint8]
    scene: Scene


def prepare(data: bytes, masked: Sequence[Region] = ()) -> Prepared:
    """Check, decode, turn upright and shrink an image, and paint out what is masked of it.

    Raises ImageTooLarge, or ImageRefused for one that is truncated, corrupt, of another format or
    too many pixels.
    """
    if len(data) > MOST_BYTES:
        raise ImageTooLarge(f"{len(data)} bytes; {MOST_BYTES} are taken")
    try:
        with warnings.catch_warnings():
            # Pillow warns of large images; ours is the stricter limit.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = _decoded(data)
    except ImageRefused:
        raise
    except (OSError, SyntaxError, ValueError, EOFError, ArithmeticError, MemoryError) as error:
        raise ImageRefused("it is truncated or corrupt") from error
    except Image.DecompressionBombError as error:
        raise ImageRefused(f"more than {MOST_PIXELS} pixels, which are not decoded") from error
    except (KeyError, IndexError, TypeError, zlib.error) as error:
        raise ImageRefused("it can't be decoded") from error
    pixels = np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BOX, reducing_gap=2.0))
    shown = paint_out(pixels, masked)
    return Prepared(shown, scene_of(shown))


def scene_of(pixels: npt.NDArray[np.uint8]) -> Scene:
    """Look at a picture of SIDE each way as a whole."""
    cell = SIDE // SCENE_SIDE
    grey = pixels.mean(axis=2).reshape(SCENE_SIDE, cell, SCENE_SIDE, cell).mean(axis=(1, 3))
    return Scene(
        grey=tuple(int(place) for place in grey.reshape(-1)),
        digest=zlib.crc32(pixels.tobytes()),
    )


def _decoded(data: bytes) -> Image.Image:
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
    except UnidentifiedImageError as error:
        raise ImageRefused("it is no JPEG, PNG or WebP image") from error
    with image:
        width, height = image.size
        if width * height > MOST_PIXELS:
            raise ImageRefused(f"{width} x {height} pixels; {MOST_PIXELS} are decoded")
        if min(width, height) < _LEAST_SIDE:
            raise ImageRefused(f"{width} x {height} pixels show nothing")
        _refuse_what_follows(data, str(image.format))
        if isinstance(image, JpegImageFile):
            image.draft("RGB", (_DRAFT_SIDE, _DRAFT_SIDE))
        image.load()
        return _rgb(ImageOps.exif_transpose(image))


def _refuse_what_follows(data: bytes, image_format: str) -> None:
    if image_format == "WEBP":
        end = int.from_bytes(data[4:8], "little") + _RIFF_HEAD
        is_whole = len(data) >= end and not data[end:].strip(_PADDING)
    else:
        is_whole = data.rstrip(_PADDING).endswith(_ENDS[image_format])
    if not is_whole:
        raise ImageRefused("it is truncated, or something follows its end")


def _rgb(image: Image.Image) -> Image.Image:
    """Three channels of bytes, whatever it had: 16 bits, CMYK, a palette, transparency."""
    if image.mode in _WIDE_MODES:
        # Pillow would cut off what is above 255 and show all but the shadows white.
        levels = np.asarray(image, dtype=np.float64) / 256
        return Image.fromarray(np.clip(levels, 0, 255).astype(np.uint8)).convert("RGB")
    if "transparency" in image.info or image.mode in {"RGBA", "LA", "PA"}:
        behind = Image.new("RGBA", image.size, (127, 127, 127, 255))
        behind.alpha_composite(image.convert("RGBA"))
        return behind.convert("RGB")
    return image.convert("RGB")
