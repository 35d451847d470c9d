"""Strangers' images made safe and small: checked before memory is spent on them.

What an image says of itself (format, parts, size) is read first; only then is it decoded, JPEG at
a reduced size. Of what is decoded at full size there is one copy, and one such image at a time.
"""

import contextlib
import io
import struct
import threading
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from PIL import Image
from PIL.JpegImagePlugin import JpegImageFile

from printreach.detector.files import NotWhole, check_file, check_pixels, declared_size
from printreach.detector.masks import paint_out
from printreach.rules.detection_images import MOST_BYTES
from printreach.rules.detection_scene import SIDE as SCENE_SIDE
from printreach.rules.detection_scene import Scene
from printreach.rules.jpeg import whole_jpeg
from printreach.rules.watching import Region

SIDE: Final = 320
"""The model sees so many pixels each way."""

_LEAST_SIDE: Final = 8
"""Smaller ones show nothing."""
_DRAFT_SIDE: Final = SIDE * 8 // 5
"""JPEG is decoded at a half, a quarter or an eighth, but at least so large: 1080p at a half."""
_STRIP_PIXELS: Final = 1 << 20
"""So many are converted at a time."""
_LARGE_PIXELS: Final = 8_000_000
_WIDE_MODES: Final = frozenset({"I", "F", "I;16", "I;16L", "I;16B", "I;16N"})
_ORIENTATION: Final = 0x0112
_REDUCING_GAP: Final = 2.0
_CORNER: Final = 4
_MISSING: Final = frozenset({127, 128})
"""What the decoder paints in place of what is missing; CMYK is turned over."""
_MORE_BYTES: Final = 4096

# Who sends damaged Exif would fill the log, and the memory of what was warned of.
warnings.filterwarnings("ignore", module="PIL")

_one_large = threading.Lock()
"""Held while a large image is decoded: one of 50 megapixels takes 200 MB, as WebP 800."""

# What Pillow raises for files that are damaged, or made to do damage.
_DAMAGED: Final = (
    *(ArithmeticError, EOFError, IndexError, KeyError, MemoryError, OSError, SyntaxError),
    *(TypeError, ValueError, struct.error, zlib.error),
)


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
        pixels = _decoded(data)
    except NotWhole as error:
        raise ImageRefused(str(error)) from error
    except _DAMAGED as error:
        raise ImageRefused("it is truncated or corrupt") from error
    shown = paint_out(pixels, masked)
    return Prepared(shown, scene_of(shown))


def scene_of(pixels: npt.NDArray[np.uint8]) -> Scene:
    """Look at a picture of SIDE each way as a whole."""
    cell = SIDE // SCENE_SIDE
    down = pixels.reshape(SCENE_SIDE, cell, SIDE * 3).sum(axis=1, dtype=np.uint32)
    sums = down.reshape(SCENE_SIDE, SCENE_SIDE, cell * 3).sum(axis=2)
    return Scene(
        grey=tuple(int(place) for place in (sums // (cell * cell * 3)).reshape(-1)),
        digest=zlib.crc32(pixels.tobytes()),
    )


def _decoded(data: bytes) -> npt.NDArray[np.uint8]:
    image_format = check_file(data)
    if (size := declared_size(data, image_format)) is not None:
        _refuse_size(*size)  # as WebP, Pillow takes memory for it before it says how large it is
    with Image.open(io.BytesIO(data), formats=(image_format,)) as image:
        width, height = image.size
        _refuse_size(width, height)
        is_large = width * height > _LARGE_PIXELS
        with _one_large if is_large else contextlib.nullcontext():
            if isinstance(image, JpegImageFile):
                image.draft("RGB", (_DRAFT_SIDE, _DRAFT_SIDE))
            image.load()
            if image_format == "JPEG" and _is_cut_off(image, data):
                raise ImageRefused("it is truncated or corrupt")
            pixels = np.asarray(_small(image))
            return _upright(pixels, _orientation(image))


def _refuse_size(width: int, height: int) -> None:
    check_pixels(width, height)
    if min(width, height) < _LEAST_SIDE:
        raise ImageRefused(f"{width} x {height} pixels show nothing")


def _is_cut_off(image: Image.Image, data: bytes) -> bool:
    """Whether what is coded of a JPEG breaks off before its end, as cameras on a bad cable send it.

    The decoder paints what is missing grey. A picture may be grey there by itself, so what tells is
    that more bytes before the end change something: of a whole picture, nothing.
    """
    width, height = image.size
    corner = image.crop((width - _CORNER, height - _CORNER, width, height))
    if not set(corner.tobytes()) <= _MISSING:
        return False
    whole = whole_jpeg(data) or data
    more = whole[:-2] + bytes(_MORE_BYTES) + whole[-2:]
    with Image.open(io.BytesIO(more), formats=("JPEG",)) as other:
        other.draft("RGB", (_DRAFT_SIDE, _DRAFT_SIDE))
        return other.tobytes() != image.tobytes()


def _small(image: Image.Image) -> Image.Image:
    """The whole image in SIDE pixels each way, three channels of bytes.

    As Image.resize does it with the same gap, but strip by strip: no second copy of all pixels.
    """
    width, height = image.size
    across, down = _factor(width), _factor(height)
    if across == down == 1:
        return _rgb(image).resize((SIDE, SIDE), Image.Resampling.BOX)
    reduced = Image.new("RGB", (-(-width // across), -(-height // down)))
    rows = max(1, _STRIP_PIXELS // width // down) * down
    for top in range(0, height, rows):
        strip = _rgb(image.crop((0, top, width, min(height, top + rows))))
        reduced.paste(strip.reduce((across, down)), (0, top // down))
    whole = (0, 0, width / across, height / down)
    return reduced.resize((SIDE, SIDE), Image.Resampling.BOX, whole)


def _factor(length: int) -> int:
    return int(length / SIDE / _REDUCING_GAP) or 1


def _rgb(image: Image.Image) -> Image.Image:
    """Three channels of bytes, whatever it had: 16 bits, CMYK, a palette, transparency."""
    if image.mode in _WIDE_MODES:
        # Pillow would cut off what is above 255 and show all but the shadows white.
        levels = np.asarray(image, dtype=np.float32) / 256
        return Image.fromarray(np.clip(levels, 0, 255).astype(np.uint8)).convert("RGB")
    if "transparency" in image.info or image.mode in {"RGBA", "LA", "PA"}:
        behind = Image.new("RGBA", image.size, (127, 127, 127, 255))
        behind.alpha_composite(image.convert("RGBA"))
        return behind.convert("RGB")
    return image if image.mode == "RGB" else image.convert("RGB")


def _orientation(image: Image.Image) -> object:
    """How the camera was held, by Exif; what can't be read says nothing."""
    try:
        return image.getexif().get(_ORIENTATION)
    except _DAMAGED:
        return None


def _upright(pixels: npt.NDArray[np.uint8], orientation: object) -> npt.NDArray[np.uint8]:
    """Turn a picture as Exif says it was taken; by what it does to a square."""
    match orientation:
        case 2:
            turned = pixels[:, ::-1]
        case 3:
            turned = pixels[::-1, ::-1]
        case 4:
            turned = pixels[::-1]
        case 5:
            turned = pixels.transpose(1, 0, 2)
        case 6:
            turned = pixels.transpose(1, 0, 2)[:, ::-1]
        case 7:
            turned = pixels.transpose(1, 0, 2)[::-1, ::-1]
        case 8:
            turned = pixels.transpose(1, 0, 2)[::-1]
        case _:
            return pixels
    return np.ascontiguousarray(turned)
