"""Which photos train, calibrate or measure: whole sources and cameras, never at random.

The web's collections overlap. Copies, and photos that bear the same name, are one group, and a
group that touches what is held out is held out whole or left out.
"""

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from enum import Enum
from typing import Final

from training.copies import joined
from training.photos import Kind, Photo

HELD_OUT_SOURCE: Final = "rf_3dprinting_qa"
"""Trains nothing. It is the only collection of failures that its authors gathered from videos."""
HELD_OUT_CAMERA: Final = "camera view3"
CALIBRATION_CAMERA: Final = "camera view2"
_SHARE_OF_DEFECTS_HELD_OUT: Final = 0.25
"""Finished parts with lesser defects come from one source only, so a part of it must do."""


class Part(Enum):
    TRAIN = "train"
    CALIBRATE = "calibrate"
    MEASURE = "measure"
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class Split:
    """Photos by their index. unseen: of failed prints, would measure if a failure could be seen."""

    train: tuple[int, ...]
    calibrate: tuple[int, ...]
    measure: tuple[int, ...]
    unseen: tuple[int, ...]


def split(photos: list[Photo]) -> Split:
    """Give each photo its part."""
    parts: dict[Part, list[int]] = defaultdict(list)
    for group in _groups(photos):
        wanted = {index: _part_of(photos[index], group, photos) for index in group}
        for index, part in wanted.items():
            parts[_after_neighbours(part, set(wanted.values()))].append(index)
    told = {part: sorted(i for i in parts[part] if photos[i].is_told) for part in Part}
    return Split(
        tuple(told[Part.TRAIN]),
        tuple(told[Part.CALIBRATE]),
        tuple(told[Part.MEASURE]),
        tuple(sorted(set(parts[Part.MEASURE]) - set(told[Part.MEASURE]))),
    )


def _part_of(photo: Photo, group: list[int], photos: list[Photo]) -> Part:
    if photo.is_in_situ:
        held_out = {HELD_OUT_CAMERA: Part.MEASURE, CALIBRATION_CAMERA: Part.CALIBRATE}
        return held_out.get(photo.camera, Part.TRAIN)
    # One draw for a group, made of its name: adding a photo elsewhere moves nothing here.
    draw = _draw(photos[group[0]].name)
    if photo.source == HELD_OUT_SOURCE:
        return Part.CALIBRATE if draw < 1 / 3 else Part.MEASURE
    if photo.kind is Kind.OTHER_DEFECT and draw < _SHARE_OF_DEFECTS_HELD_OUT:
        return Part.CALIBRATE if draw < _SHARE_OF_DEFECTS_HELD_OUT / 3 else Part.MEASURE
    return Part.TRAIN


def _after_neighbours(part: Part, group: set[Part]) -> Part:
    """What measures stays; what looks like it neither trains nor calibrates."""
    for stronger in (Part.MEASURE, Part.CALIBRATE):
        if part is stronger:
            return part
        if stronger in group:
            return Part.LEFT_OUT
    return part


def _groups(photos: list[Photo]) -> list[list[int]]:
    """Indices of photos that are one and the same, or nearly. In-situ photos stand alone."""
    first_of: dict[str, int] = {}
    pairs = []
    for index, photo in enumerate(photos):
        if not photo.is_in_situ:
            names = (_stem(photo.name), photo.copies and f"copies {photo.copies}")
            pairs += [(first_of.setdefault(name, index), index) for name in names if name]
    return joined(len(photos), pairs)


def _stem(name: str) -> str:
    """The name before the exporter's own suffix."""
    return "".join(filter(str.isalnum, name.partition(".rf.")[0])).lower()


def _draw(name: str) -> float:
    """Between 0 and 1, always the same for a name."""
    return int.from_bytes(hashlib.sha256(_stem(name).encode()).digest()[:6]) / 2**48
