"""What the model is shown: photos, crops beside the failures, and failures put into good scenes.

Each kind has a fixed share of a batch, and within a kind each source has the same, so that the
largest collection doesn't decide what a failure looks like.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageFilter

from training.augment import SIDE, framed, weathered
from training.photos import Kind
from training.pictures import Picture, Pixels

CELLS: Final = 8
"""The map has so many places each way."""
UNKNOWN: Final = -1
"""In a map: this place teaches nothing."""
_CELL: Final = SIDE // CELLS
_MIN_CROP: Final = 0.3
_TRIES: Final = 12


@dataclass(frozen=True, slots=True)
class Sample:
    """A picture (SIDE, SIDE, 3), the Kind of each place of its map, and whether it shows a failure.

    weight: how much the whole picture's verdict teaches; whole prints that failed somewhere else
    than in this picture are labelled failed too.
    """

    pixels: Pixels
    places: npt.NDArray[np.int64]
    failed: bool
    weight: float


class Sampler:
    """Draws samples, the same ones for the same pictures and the same Random."""

    def __init__(self, pictures: list[Picture], rendered: list[Picture]) -> None:
        self._by_kind: dict[tuple[Kind, bool], dict[str, list[Picture]]] = {}
        for picture in pictures:
            photo = picture.photo
            place = self._by_kind.setdefault((photo.kind, photo.is_in_situ), defaultdict(list))
            place[photo.source + photo.camera].append(picture)
        self._shares: tuple[tuple[float, Callable[[Random], Sample]], ...] = (
            (0.32, lambda random: self._photo(Kind.SPAGHETTI, False, random)),
            (0.06, lambda random: self._photo(Kind.SPAGHETTI, True, random)),
            (0.20, lambda random: self._photo(Kind.FINE, True, random)),
            (0.14, lambda random: self._photo(Kind.OTHER_DEFECT, False, random)),
            (0.12, self._beside),
            (0.08, lambda random: self._pasted(Kind.SPAGHETTI, random)),
            (0.08, lambda random: self._pasted(Kind.OTHER_DEFECT, random)),
            *self._rendered_shares(rendered),
        )

    def draw(self, random: Random) -> Sample:
        """Draw the next sample."""
        shares = [share for share, _ in self._shares]
        (make,) = random.choices([make for _, make in self._shares], shares)
        return make(random)

    def _rendered_shares(
        self, rendered: list[Picture]
    ) -> tuple[tuple[float, Callable[[Random], Sample]], ...]:
        """Rendered prints as they are, and photographed failures put into good ones."""
        good = [picture for picture in rendered if not picture.photo.failed]
        bad = [picture for picture in rendered if picture.photo.failed]
        if not rendered:
            return ()
        return (
            (0.14, lambda random: _sample(random.choice(good), random)),
            (0.05, lambda random: _sample(random.choice(bad), random)),
            (0.05, lambda random: self._pasted(Kind.SPAGHETTI, random, random.choice(good))),
            (0.03, lambda random: self._pasted(Kind.OTHER_DEFECT, random, random.choice(good))),
        )

    def _any(self, kind: Kind, in_situ: bool, random: Random) -> Picture:
        by_source = self._by_kind[kind, in_situ]
        return random.choice(by_source[random.choice(sorted(by_source))])

    def _photo(self, kind: Kind, in_situ: bool, random: Random) -> Sample:
        return _sample(self._any(kind, in_situ, random), random)

    def _beside(self, random: Random) -> Sample:
        """A part of a failure's photo without the failure: the scene alone is no sign of one."""
        for _ in range(_TRIES):
            picture = self._any(Kind.SPAGHETTI, False, random)
            cut = cut_beside(picture, random)
            if cut is not None:
                return _sample(cut, random)
        return self._photo(Kind.FINE, True, random)

    def _pasted(self, kind: Kind, random: Random, into: Picture | None = None) -> Sample:
        """A failure in a good scene, or a fine thing pasted the same way, which is no failure."""
        scene = self._any(Kind.FINE, True, random) if into is None else into
        return _sample(with_patch(scene, self._any(kind, False, random), random), random)


def _sample(picture: Picture, random: Random) -> Sample:
    image, mapped = framed(picture.pixels, picture.kinds, random)
    kinds = np.asarray(mapped)
    pixels = np.asarray(weathered(image, random))
    if not picture.is_mapped:
        return Sample(pixels, np.full((CELLS, CELLS), UNKNOWN), picture.photo.failed, 0.3)
    return Sample(pixels, places_of(kinds), *_verdict(kinds, picture))


def _verdict(kinds: Pixels, picture: Picture) -> tuple[bool, float]:
    """Whether a cut still shows the failure, and how sure that is."""
    seen = float((kinds == Kind.SPAGHETTI).mean())
    whole = max(1e-6, float((picture.kinds == Kind.SPAGHETTI).mean()))
    if seen == 0:
        return False, 1.0
    # A corner of a box may show nothing; half of what was there is enough to tell.
    return True, 1.0 if seen >= min(0.02, whole / 2) else 0.0


def places_of(kinds: Pixels) -> npt.NDArray[np.int64]:
    """The Kind of each place of the map; UNKNOWN where a box covers it in part."""
    cells = kinds.reshape(CELLS, _CELL, CELLS, _CELL)
    places = np.full((CELLS, CELLS), int(Kind.FINE))
    for kind in (Kind.OTHER_DEFECT, Kind.SPAGHETTI):
        covered = (cells == kind).mean(axis=(1, 3))
        places[covered > 0.05] = UNKNOWN
        # A small failure fills no place; the one that has most of it stands for it.
        places[covered >= max(0.15, min(0.6, float(covered.max())))] = kind
    return places


def cut_beside(picture: Picture, random: Random) -> Picture | None:
    """A part without any box in it; None where none was found."""
    place = _free_place(picture.kinds, random)
    return _part(picture, place) if place is not None else None


def _free_place(kinds: Pixels, random: Random) -> tuple[int, int, int, int] | None:
    """A rectangle (left, top, right, bottom) without any box in it."""
    height, width = kinds.shape
    for _ in range(_TRIES):
        across = int(width * random.uniform(_MIN_CROP, 0.7))
        down = int(height * random.uniform(_MIN_CROP, 0.7))
        left, top = random.randrange(width - across + 1), random.randrange(height - down + 1)
        if not kinds[top : top + down, left : left + across].any():
            return left, top, left + across, top + down
    return None


def _part(picture: Picture, place: tuple[int, int, int, int]) -> Picture:
    left, top, right, bottom = place
    rows, columns = slice(top, bottom), slice(left, right)
    return Picture(picture.photo, picture.pixels[rows, columns], picture.kinds[rows, columns], True)


def with_patch(scene: Picture, donor: Picture, random: Random, least_share: float = 0.2) -> Picture:
    """The scene with what one of the donor's boxes holds, faded in at its edges.

    least_share: it takes at least so much of the scene's width, and half of it at most.
    """
    patch = _patch_of(donor, random)
    height, width = scene.kinds.shape
    share = random.uniform(least_share, 0.5)
    size = (max(16, int(width * share)), max(16, int(height * share * random.uniform(0.7, 1.3))))
    patch = patch.resize((min(size[0], width), min(size[1], height)))
    left = random.randrange(width - patch.width + 1)
    # Prints lie in the lower two thirds of what a printer's camera sees.
    top = random.randrange((height - patch.height) // 3, height - patch.height + 1)
    image = Image.fromarray(scene.pixels)
    image.paste(patch, (left, top), _soft_edge(patch.size))
    kinds = scene.kinds.copy()
    kinds[top : top + patch.height, left : left + patch.width] = donor.photo.kind
    return Picture(scene.photo, np.asarray(image), kinds, True)


def _patch_of(donor: Picture, random: Random) -> Image.Image:
    box = random.choice([box for box in donor.photo.boxes if box.kind == donor.photo.kind])
    height, width = donor.kinds.shape
    left, top = int(box.left * width), int(box.top * height)
    right = max(left + 8, int(box.right * width))
    bottom = max(top + 8, int(box.bottom * height))
    return Image.fromarray(donor.pixels).crop((left, top, right, bottom))


def _soft_edge(size: tuple[int, int]) -> Image.Image:
    """An oval that fades out."""
    across = np.linspace(-1, 1, size[0])[None, :]
    down = np.linspace(-1, 1, size[1])[:, None]
    inside = ((across**2 + down**2) < 0.85).astype(np.uint8) * 255
    return Image.fromarray(inside).filter(ImageFilter.GaussianBlur(max(2, min(size) / 16)))
