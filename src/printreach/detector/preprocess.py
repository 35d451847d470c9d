"""Strangers' images made safe and small: checked before memory is spent on them.

Format, chunks and declared size are checked first; only then is the image decoded, a JPEG at a
reduced size. An image decoded at full size is held in one copy, and only one such at a time.
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

from printreach.detector.files import MalformedImage, check_file, check_pixels, declared_size
from printreach.detector.masks import paint_out
from printreach.rules.detection import MAX_IMAGE_BYTES
from printreach.rules.detection.jpeg import whole_jpeg
from printreach.rules.detection.scene import SIDE as SCENE_SIDE
from printreach.rules.detection.scene import Scene
from printreach.rules.watch.choices import Region

SIDE: Final = 320
"""Side of the model's input, in pixels."""

_MIN_SIDE: Final = 8
"""Smaller images show nothing."""
_DRAFT_SIDE: Final = SIDE * 8 // 5
"""A JPEG is decoded at a half, a quarter or an eighth, but not below this: 1080p at a half."""
_STRIP_PIXELS: Final = 1 << 20
"""Pixels converted at a time."""
_LARGE_PIXELS: Final = 8_000_000
_WIDE_MODES: Final = frozenset({"I", "F", "I;16", "I;16L", "I;16B", "I;16N"})
_ORIENTATION: Final = 0x0112
_REDUCING_GAP: Final = 2.0
_CORNER: Final = 4
_MISSING: Final = frozenset({127, 128})
"""The colours with which the decoder fills missing data; in CMYK they are inverted."""
_MORE_BYTES: Final = 4096

# Damaged Exif would fill the log, and the memory of warnings already given.
warnings.filterwarnings("ignore", module="PIL")

_one_large = threading.Lock()
"""Held while a large image is decoded: 50 megapixels take 200 MB, as WebP 800 MB."""

DAMAGED: Final = (
    *(ArithmeticError, EOFError, IndexError, KeyError, MemoryError, OSError, SyntaxError),
    *(TypeError, ValueError, struct.error, zlib.error),
)
"""The exceptions that Pillow raises for damaged or malicious files."""


class ImageRefused(Exception):
    """The image is not decoded. The message says why."""


class ImageTooLarge(ImageRefused):
    """The image has more bytes than are accepted."""


@dataclass(frozen=True, slots=True)
class PreparedImage:
    """The model's input, bytes of shape (SIDE, SIDE, 3), and the scene."""

    pixels: npt.NDArray[np.uint8]
    scene: Scene


def prepare(data: bytes, masked: Sequence[Region] = ()) -> PreparedImage:
    """Check, decode, turn upright and shrink an image, and paint over its masked parts.

    Raises ImageTooLarge, or ImageRefused for one that is truncated, corrupt, of another format or
    too many pixels.
    """
    if len(data) > MAX_IMAGE_BYTES:
        raise ImageTooLarge(f"{len(data)} bytes; {MAX_IMAGE_BYTES} are taken")
    try:
        pixels = _decoded(data)
    except MalformedImage as error:
        raise ImageRefused(str(error)) from error
    except DAMAGED as error:
        raise ImageRefused("it is truncated or corrupt") from error
    shown = paint_out(pixels, masked)
    return PreparedImage(shown, scene_of(shown))


def scene_of(pixels: npt.NDArray[np.uint8]) -> Scene:
    """Summarise an image of SIDE x SIDE pixels."""
    cell = SIDE // SCENE_SIDE
    down = pixels.reshape(SCENE_SIDE, cell, SIDE * 3).sum(axis=1, dtype=np.uint32)
    sums = down.reshape(SCENE_SIDE, SCENE_SIDE, cell * 3).sum(axis=2)
    return Scene(
        grey=tuple(int(channel) for channel in (sums // (cell * cell * 3)).reshape(-1)),
        digest=zlib.crc32(pixels.tobytes()),
    )


def _decoded(data: bytes) -> npt.NDArray[np.uint8]:
    image_format = check_file(data)
    if (size := declared_size(data, image_format)) is not None:
        _refuse_size(*size)  # Pillow allocates memory for a WebP before it tells the size
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
    if min(width, height) < _MIN_SIDE:
        raise ImageRefused(f"{width} x {height} pixels show nothing")


def _is_cut_off(image: Image.Image, data: bytes) -> bool:
    """Return whether a JPEG's data ends early, as from a camera with a bad cable.

    The decoder fills the missing part with grey. The image may be grey there by itself, so the test
    is whether more bytes before the end change the result; in a complete image they do not.
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
    """Shrink the whole image to SIDE x SIDE pixels with three channels of bytes.

    The result is that of Image.resize with the same gap, made strip by strip without a second copy
    of all pixels.
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
    """Convert to three channels of bytes from 16 bits, CMYK, a palette or transparency."""
    if image.mode in _WIDE_MODES:
        # Pillow would clip values above 255 and show everything but the shadows white.
        levels = np.asarray(image, dtype=np.float32) / 256
        return Image.fromarray(np.clip(levels, 0, 255).astype(np.uint8)).convert("RGB")
    if "transparency" in image.info or image.mode in {"RGBA", "LA", "PA"}:
        background = Image.new("RGBA", image.size, (127, 127, 127, 255))
        background.alpha_composite(image.convert("RGBA"))
        return background.convert("RGB")
    return image if image.mode == "RGB" else image.convert("RGB")


def _orientation(image: Image.Image) -> object:
    """Return the Exif orientation; None if it is absent or unreadable."""
    try:
        return image.getexif().get(_ORIENTATION)
    except DAMAGED:
        return None


def _upright(pixels: npt.NDArray[np.uint8], orientation: object) -> npt.NDArray[np.uint8]:
    """Turn a square image upright by its Exif orientation."""
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
