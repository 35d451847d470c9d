"""The photos and what is known of each, from their manifest."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Final

from training.copies import read_copies
from training.labels import Label, agreed, read_labels

PERMISSIVE: Final = frozenset({"Apache-2.0", "CC-BY-4.0", "Public-Domain", "CC0-1.0", "MIT"})
"""Nothing under another licence trains weights that we give away."""


class Kind(IntEnum):
    """What a place of a picture shows; the order of the model's channels."""

    FINE = 0
    SPAGHETTI = 1
    OTHER_DEFECT = 2


_SPAGHETTI_WORDS: Final = frozenset({"spaghetti", "fail"})


@dataclass(frozen=True, slots=True)
class Box:
    """A place in a picture, as shares of its width and height."""

    kind: Kind
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Photo:
    """One photo.

    path: below the folder. camera: "" where each photo has a camera of its own. copies: the group
    of its copies; "" where it has none. is_told: False for a photo of a failed print in which two
    readers don't agree that the failure can be seen.
    """

    path: str
    kind: Kind
    source: str
    camera: str
    boxes: tuple[Box, ...]
    name: str
    repository: str
    licence: str
    copies: str = ""
    is_told: bool = True

    @property
    def failed(self) -> bool:
        return self.kind is Kind.SPAGHETTI

    @property
    def is_in_situ(self) -> bool:
        """Taken by a camera that watches a printer, one of many of the same scene."""
        return bool(self.camera)


class LicenceRefused(Exception):
    """A photo's licence doesn't allow what training does with it."""


def read_manifest(folder: Path) -> list[Photo]:
    """Read every photo that the manifest names, sorted by path.

    Raises LicenceRefused before a photo that may not be used is opened.
    """
    with (folder / "manifest.csv").open(newline="", encoding="utf-8") as lines:
        copies, labels = read_copies(), read_labels()
        photos = [_photo(row, copies, labels) for row in csv.DictReader(lines)]
    for photo in photos:
        if photo.licence not in PERMISSIVE:
            raise LicenceRefused(f"{photo.path} is under {photo.licence}")
    return sorted(photos, key=lambda photo: photo.path)


def _photo(
    row: dict[str, str], copies: dict[str, str], labels: dict[str, tuple[Label, Label]]
) -> Photo:
    kind = {"1": Kind.SPAGHETTI, "0": Kind.FINE}.get(row["failed"], Kind.OTHER_DEFECT)
    read = labels.get(row["path"], (Label.VISIBLE, Label.VISIBLE))
    note = row["note"].partition(";")[0]
    return Photo(
        path=row["path"],
        kind=kind,
        source=row["dataset_group"],
        camera=note if note.startswith("camera ") else "",
        boxes=tuple(_boxes(row["boxes"])),
        name=row["original_path"].rpartition("/")[2],
        repository=row["source_repo"],
        licence=row["licence"],
        copies=copies.get(row["path"], ""),
        is_told=kind is not Kind.SPAGHETTI or agreed(*read) is Label.VISIBLE,
    )


def _boxes(written: str) -> Iterator[Box]:
    """`class cx cy w h` relative to the picture, separated by `;`."""
    for words in (box.split() for box in written.split(";") if box.strip()):
        x, y, width, height = map(float, words[1:])
        kind = Kind.SPAGHETTI if words[0] in _SPAGHETTI_WORDS else Kind.OTHER_DEFECT
        yield Box(
            kind,
            max(0.0, x - width / 2),
            max(0.0, y - height / 2),
            min(1.0, x + width / 2),
            min(1.0, y + height / 2),
        )
