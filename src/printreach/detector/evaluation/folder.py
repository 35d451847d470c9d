"""A folder of labelled pictures, as docs/detector-evaluation.md describes it.

good/CAMERA/*.jpg           frames of prints that go well
failed/CAMERA/*.jpg         frames of prints that have failed
sequences/NAME/frames/*     one print's frames, in order
sequences/NAME/labels.csv   frame,label and, where known, seconds,camera,kind
"""

import csv
import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from printreach.rules.detection import NORMAL_INTERVAL_S

GOOD, FAILED, SEQUENCES = "good", "failed", "sequences"
"""The names of the folders, and the first two of labels, too."""
UNSURE: Final = "unsure"
"""The label of a frame that judges nothing."""
FRAMES, LABELS = "frames", "labels.csv"
CAMERA, KIND = "camera", "kind"
"""Columns of labels that are the same for a whole print."""
IMAGES: Final = frozenset({".jpg", ".jpeg", ".png", ".webp"})
"""File name endings that count as images in a folder."""
_FAILED_BY_LABEL: Final = {GOOD: False, FAILED: True, UNSURE: None}
_MAX_LABELS_BYTES: Final = 16_000_000


class FolderRefused(Exception):
    """The folder is not laid out as described. The message says what is wrong, and where."""


@dataclass(frozen=True, slots=True)
class LabelledFrame:
    """A single frame. camera: the name of its folder; "" where it lies in none."""

    path: Path
    camera: str
    failed: bool


@dataclass(frozen=True, slots=True)
class SequenceFrame:
    """A frame of a print. at_s: since the first one. failed: None where nobody can tell."""

    path: Path
    at_s: float
    failed: bool | None


@dataclass(frozen=True, slots=True)
class LabelledSequence:
    """One print. camera and kind, what it is counted with: "" where it is not said."""

    name: str
    camera: str
    kind: str
    frames: tuple[SequenceFrame, ...]


@dataclass(frozen=True, slots=True)
class LabelledFolder:
    """All that is labelled in a folder."""

    frames: tuple[LabelledFrame, ...]
    sequences: tuple[LabelledSequence, ...]


def read_folder(folder: Path) -> LabelledFolder:
    """Read what is labelled, without opening an image. Raises FolderRefused, or OSError."""
    if not folder.is_dir():
        raise FolderRefused(f"{folder}: it is no folder")
    frames = [
        *_frames(folder / GOOD, failed=False),
        *_frames(folder / FAILED, failed=True),
    ]
    sequences = [_sequence(each) for each in _folders(folder / SEQUENCES)]
    if not frames and not sequences:
        raise FolderRefused(
            f"{folder}: there is no image in {GOOD}/ or {FAILED}/, and nothing in {SEQUENCES}/"
        )
    return LabelledFolder(tuple(frames), tuple(sequences))


def images_in(folder: Path) -> list[Path]:
    """Return the images right in a folder, in natural order; none where there is no folder."""
    if not folder.is_dir():
        return []
    found = [each for each in folder.iterdir() if each.suffix.lower() in IMAGES]
    return sorted(found, key=in_natural_order)


def in_natural_order(path: Path) -> tuple[list[tuple[str, int]], str]:
    """Return a sort key by which frame-9 comes before frame-10."""
    parts = re.findall(r"(\D*)(\d*)", path.name)
    return [(text, int(digits or 0)) for text, digits in parts], path.name


def _frames(folder: Path, *, failed: bool) -> Iterator[LabelledFrame]:
    for path in images_in(folder):
        yield LabelledFrame(path, "", failed)
    for camera in _folders(folder):
        for path in images_in(camera):
            yield LabelledFrame(path, camera.name, failed)


def _folders(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted((each for each in folder.iterdir() if each.is_dir()), key=in_natural_order)


def _sequence(folder: Path) -> LabelledSequence:
    labels = folder / LABELS
    if not labels.is_file():
        raise FolderRefused(f"{folder}: there is no {LABELS} in it")
    if labels.stat().st_size > _MAX_LABELS_BYTES:
        raise FolderRefused(f"{labels}: it has more than {_MAX_LABELS_BYTES} bytes")
    frames: list[SequenceFrame] = []
    known: dict[str, str] = {}
    try:
        with labels.open(newline="", encoding="utf-8") as lines:
            for number, row in enumerate(csv.DictReader(lines)):
                frames.append(_sequence_frame(folder, number, row))
                for column in (CAMERA, KIND):
                    known[column] = known.get(column) or (row.get(column) or "").strip()
    except (ValueError, csv.Error) as error:
        raise FolderRefused(f"{labels}: line {len(frames) + 2}: {error}") from error
    if not frames:
        raise FolderRefused(f"{labels}: it names no frame")
    if any(later.at_s <= one.at_s for one, later in itertools.pairwise(frames)):
        raise FolderRefused(f"{labels}: each frame comes later than the one before it")
    return LabelledSequence(folder.name, known[CAMERA], known[KIND], tuple(frames))


def _sequence_frame(folder: Path, number: int, row: dict[str, str]) -> SequenceFrame:
    """Read one line. Raises ValueError."""
    name, label = (row.get("frame") or "").strip(), (row.get("label") or "").strip()
    path = folder / FRAMES / name
    # A downloaded folder must not make its reader open another file.
    if not name or Path(name).name != name or not path.is_file():
        raise ValueError(f"there is no frame {name!r} in {FRAMES}/")
    if label not in _FAILED_BY_LABEL:
        raise ValueError(f"{label!r} is none of the labels {', '.join(_FAILED_BY_LABEL)}")
    written = (row.get("seconds") or "").strip()
    at_s = float(written) if written else float(number * NORMAL_INTERVAL_S)
    if not (math.isfinite(at_s) and 0 <= at_s <= 10_000_000):
        raise ValueError(f"{written} is no number of seconds since the first frame")
    return SequenceFrame(path, at_s, _FAILED_BY_LABEL[label])
