"""Photos decoded once and kept small, so that training draws on memory and not on JPEG."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageOps

from training.photos import Kind, Photo

Pixels = npt.NDArray[np.uint8]

KEPT_SIDE: Final = 352
"""Longest side: training shows 256, and a crop of three quarters loses nothing."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A photo's pixels (rows, columns, 3) and a map of the same size: the Kind at each pixel.

    is_mapped: False where only the whole is known (a failed print without boxes).
    """

    photo: Photo
    pixels: Pixels
    kinds: Pixels
    is_mapped: bool


def load(folder: Path, photos: list[Photo]) -> list[Picture]:
    return [_picture(folder, photo) for photo in photos]


def _picture(folder: Path, photo: Photo) -> Picture:
    with Image.open(folder / photo.path) as opened:
        image = ImageOps.exif_transpose(opened).convert("RGB")
    image.thumbnail((KEPT_SIDE, KEPT_SIDE), Image.Resampling.BICUBIC)
    kinds = Image.new("L", image.size, int(Kind.FINE))
    draw = ImageDraw.Draw(kinds)
    # Spaghetti last: where both are marked, the failure counts.
    for box in sorted(photo.boxes, key=lambda box: box.kind is Kind.SPAGHETTI):
        place = (
            box.left * image.width,
            box.top * image.height,
            max(box.left * image.width, box.right * image.width - 1),
            max(box.top * image.height, box.bottom * image.height - 1),
        )
        draw.rectangle(place, fill=int(box.kind))
    is_mapped = bool(photo.boxes) or photo.kind is Kind.FINE
    return Picture(photo, np.asarray(image).copy(), np.asarray(kinds).copy(), is_mapped)
