"""Which photos train, calibrate or measure: whole sources and cameras, never at random.

The web's collections overlap. Photos that look alike or bear the same name are one group, and a
group that touches what is held out is held out whole or left out.
"""

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from enum import Enum
from typing import Final

import numpy as np
import numpy.typing as npt

from training.photos import Kind, Photo

HELD_OUT_SOURCE: Final = "rf_3dprinting_qa"
"""Trains nothing. It is the only collection of failures that its authors gathered from videos."""
HELD_OUT_CAMERA: Final = "camera view3"
CALIBRATION_CAMERA: Final = "camera view2"
ALIKE_BITS: Final = 20
"""Of 256. No two of the photos that this was written with differ by less than 30."""
_SHARE_OF_DEFECTS_HELD_OUT: Final = 0.25
"""Finished parts with lesser defects come from one source only, so a part of it must do."""


class Part(Enum):
    TRAIN = "train"
    CALIBRATE = "calibrate"
    MEASURE = "measure"
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class Split:
    """Photos by their index."""

    train: tuple[int, ...]
    calibrate: tuple[int, ...]
    measure: tuple[int, ...]


def split(photos: list[Photo], looks: npt.NDArray[np.bool_]) -> Split:
    """Give each photo its part.

    looks: a row of 256 bits a photo, as look_of() makes them.
    """
    parts: dict[Part, list[int]] = defaultdict(list)
    for group in _groups(photos, looks):
        wanted = {index: _part_of(photos[index], group, photos) for index in group}
        for index, part in wanted.items():
            parts[_after_neighbours(part, set(wanted.values()))].append(index)
    return Split(*(tuple(sorted(parts[part])) for part in list(Part)[:3]))


def look_of(grey: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Make 256 bits of a grey picture of 16 rows of 17: is each place brighter than the next?"""
    return (grey[:, 1:] > grey[:, :-1]).reshape(-1)


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


def _groups(photos: list[Photo], looks: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Indices of photos that are one and the same, or nearly. In-situ photos stand alone."""
    leader = list(range(len(photos)))

    def find(index: int) -> int:
        while leader[index] != index:
            index = leader[index]
        return index

    web = [index for index, photo in enumerate(photos) if not photo.is_in_situ]
    names: dict[str, int] = {}
    for index in web:
        first = names.setdefault(_stem(photos[index].name), index)
        leader[find(index)] = find(first)
        apart = (looks[web] != looks[index]).sum(axis=1)
        for other in np.flatnonzero(apart <= ALIKE_BITS):
            leader[find(index)] = find(web[int(other)])
    groups: dict[int, list[int]] = defaultdict(list)
    for index in range(len(photos)):
        groups[find(index)].append(index)
    return list(groups.values())


def _stem(name: str) -> str:
    """The name before the exporter's own suffix."""
    return "".join(filter(str.isalnum, name.partition(".rf.")[0])).lower()


def _draw(name: str) -> float:
    """Between 0 and 1, always the same for a name."""
    return int.from_bytes(hashlib.sha256(_stem(name).encode()).digest()[:6]) / 2**48
