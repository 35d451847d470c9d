"""Cameras that watch several prints each: python -m training.cameras FOLDER --images DIR.

Writes prints in the order in which a camera saw them, as docs/detector-evaluation.md describes a
folder of sequences. Each camera begins with three good prints, from which it can learn. Then come
failing ones, and good ones in which something happens. They are rendered with seeds of their own;
one camera more is the held-out one, whose photos have held-out failures pasted in.
"""

import argparse
import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Final

from PIL import Image

from printreach.detector.evaluation.folder import FAILED, FRAMES, GOOD, LABELS, SEQUENCES
from printreach.rules.detection import NORMAL_INTERVAL_S
from training.evaluate import failures_with_boxes, good_scenes
from training.incidents import Incident, with_incident
from training.photos import read_manifest
from training.pictures import Picture, Pixels, load
from training.render import Plan, any_plan, frame, on_camera
from training.render_failures import Failure
from training.samples import with_patch
from training.sequences import LENGTH, ONSET, runs
from training.splits import split

WHOLE_LENGTH: Final = 90
"""Half an hour, in which a part grows from its first layer to its last."""
_CAMERAS: Final = (("choosing", 3_000_000, 12), ("measuring", 2_000_000, 7))
"""What cameras are called, the first seed, and how many. The rule may be chosen by the first ones
alone; none of these seeds trains or is shown elsewhere."""
_SEEDS_A_CAMERA: Final = 100
_QUALITY: Final = 85
_PHOTOS_LEARNT_FROM: Final = 3
_PHOTO_RUNS: Final = ((1, 8), (2, 8))
"""Runs of photos take each picture or each second one; one begins so many after another."""


@dataclass(frozen=True, slots=True)
class CameraPrint:
    """One print. kind: what it is counted with. onset: as of a Story."""

    camera: str
    kind: str
    onset: int
    pictures: tuple[Pixels, ...]


_RENDERED: Final[tuple[tuple[str, Failure, int, Incident | None], ...]] = (
    ("good", Failure.NONE, LENGTH, None),
    ("good", Failure.NONE, LENGTH, None),
    ("good", Failure.NONE, LENGTH, None),
    ("spaghetti", Failure.SPAGHETTI, ONSET, None),
    ("good, a hand", Failure.NONE, LENGTH, Incident.HAND),
    ("spaghetti from the start", Failure.SPAGHETTI, 0, None),
    ("good, light out", Failure.NONE, LENGTH, Incident.LIGHT),
    ("came loose", Failure.DETACHED, ONSET, None),
    ("good, head parks", Failure.NONE, LENGTH, None),
    ("spaghetti", Failure.SPAGHETTI, ONSET, None),
    ("good, filament changed", Failure.NONE, LENGTH, None),
    ("shifted layer", Failure.SHIFTED, ONSET, None),
    ("good, camera pushed", Failure.NONE, LENGTH, Incident.MOVED),
    ("printing air", Failure.AIR, ONSET, None),
    ("good, whole", Failure.NONE, WHOLE_LENGTH, None),
)
"""What is called how, what fails, from which picture on, and what happens."""


def rendered() -> Iterator[CameraPrint]:
    """All prints of each camera, one camera after another."""
    for name, first_seed, count in _CAMERAS:
        for number in range(count):
            first_of_camera = first_seed + number * _SEEDS_A_CAMERA
            yield from _of_camera(f"{name}-{number:02}", first_of_camera)


def _of_camera(name: str, first_seed: int) -> Iterator[CameraPrint]:
    camera = any_plan(first_seed, Failure.NONE, 0, LENGTH)
    for place, (kind, failing, onset, incident) in enumerate(_RENDERED):
        plan = _plan(camera, first_seed + place, kind, failing, onset)
        pictures = tuple(frame(plan, number).pixels for number in range(plan.count))
        if incident is not None:
            pictures = with_incident(pictures, incident, plan.seed)
        yield CameraPrint(name, f"rendered: {kind}", onset, pictures)


def _plan(camera: Plan, seed: int, kind: str, failing: Failure, onset: int) -> Plan:
    count = max(LENGTH, onset)
    plan = on_camera(any_plan(seed, failing, onset, count), camera)
    if kind == "good, head parks":
        return replace(plan, parks=True)
    if kind == "good, filament changed":
        return replace(plan, changes_filament=Random(seed).randrange(7, LENGTH - 6))
    if kind == "good, whole":
        return replace(plan, from_share=0.02, to_share=1.0)
    return plan


def photographed(
    camera: str, scenes: Sequence[Picture], donors: Sequence[Picture]
) -> Iterator[CameraPrint]:
    """A camera's good pictures in the order of its files.

    The first ones teach, and no later print has any of them. Of the others each run is spoiled by
    different failures, and is shown as it is, with a hand, and with the light out. Runs share
    pictures, so the good ones come last.
    """
    taught = _PHOTOS_LEARNT_FROM * LENGTH
    for at in range(0, taught, LENGTH):
        yield _as_they_are(camera, scenes[at : at + LENGTH])
    later = list(runs(scenes[taught:], _PHOTO_RUNS))
    random = Random(taught)
    for run in later:
        for onset in (ONSET, ONSET, 0):
            donor, seed = random.choice(donors), random.getrandbits(32)
            spoiled = [with_patch(scene, donor, Random(seed)) for scene in run[onset:]]
            kind = "pasted: spaghetti" if onset else "pasted: spaghetti from the start"
            shown = tuple(scene.pixels for scene in (*run[:onset], *spoiled))
            yield CameraPrint(camera, kind, onset, shown)
    for number, run in enumerate(later):
        plain = _as_they_are(camera, run)
        yield plain
        for kind, incident in (
            ("pasted: good, a hand", Incident.HAND),
            ("pasted: good, light out", Incident.LIGHT),
            ("pasted: good, camera pushed", Incident.MOVED),
        ):
            pictures = with_incident(plain.pictures, incident, number)
            yield replace(plain, kind=kind, pictures=pictures)


def _as_they_are(camera: str, run: Sequence[Picture]) -> CameraPrint:
    return CameraPrint(camera, "pasted: good", LENGTH, tuple(scene.pixels for scene in run))


def written(folder: Path, number: int, one: CameraPrint) -> None:
    """Write one print into a folder of sequences."""
    name = f"{one.camera}-{number:03}-{re.sub(r'[^a-z]+', '-', one.kind)}"
    sequence = folder / SEQUENCES / name
    (sequence / FRAMES).mkdir(parents=True)
    with (sequence / LABELS).open("w", newline="", encoding="utf-8") as lines:
        labels = csv.writer(lines, lineterminator="\n")
        labels.writerow(("frame", "label", "seconds", "camera", "kind"))
        for at, pixels in enumerate(one.pictures):
            file = f"{at:03}.jpg"
            Image.fromarray(pixels).save(sequence / FRAMES / file, "JPEG", quality=_QUALITY)
            label = FAILED if at >= one.onset else GOOD
            labels.writerow((file, label, at * NORMAL_INTERVAL_S, one.camera, one.kind))


def prints(images: Path) -> Iterator[CameraPrint]:
    """All of them: of the held-out photos, and rendered ones."""
    pictures = load(images, read_manifest(images))
    parts = split([picture.photo for picture in pictures])
    held_out = [pictures[index] for index in parts.measure]
    yield from photographed("photos", good_scenes(held_out), failures_with_boxes(held_out))
    yield from rendered()


def main() -> None:
    """Write them all."""
    parser = argparse.ArgumentParser(prog="python -m training.cameras", description=__doc__)
    parser.add_argument("folder", type=Path, help="a new one")
    parser.add_argument("--images", type=Path, required=True, help="the folder of the manifest")
    options = parser.parse_args()
    for number, one in enumerate(prints(options.images)):
        written(options.folder, number, one)


if __name__ == "__main__":
    main()
