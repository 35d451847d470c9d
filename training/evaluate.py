"""The shipped file itself, asked through the package, on photos that trained nothing."""

import io
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Final

import numpy as np
from PIL import Image

from printreach.detector.model import Found, Model
from printreach.detector.preprocess import Prepared, prepare
from printreach.rules.detection import NORMAL_INTERVAL_S, DetectionContext, Verdict, observe
from training.measures import Figures, figures
from training.photos import Kind
from training.pictures import Picture
from training.samples import with_patch

_SEED: Final = 11
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_SEQUENCE: Final = 20
_ONSET: Final = 8


@dataclass(frozen=True, slots=True)
class Scored:
    """A photo and what the model made of it."""

    picture: Picture
    found: Found
    stratum: str

    @property
    def failed(self) -> bool:
        return self.picture.photo.failed


@dataclass(frozen=True, slots=True)
class Sequences:
    """How sequences of pictures went; each share of all of its kind."""

    good: int
    failing: int
    good_frames: int
    faster_on_good: int
    good_warned: int
    good_paused: int
    failing_warned: int
    failing_paused: int


def score(model: Model, folder: Path, pictures: list[Picture]) -> list[Scored]:
    """Score photos from their files, as the service does."""
    scored = []
    for picture in pictures:
        (found,) = model.look([prepare((folder / picture.photo.path).read_bytes())])
        stratum = "other camera" if picture.photo.is_in_situ else "web photos"
        scored.append(Scored(picture, found, stratum))
    return scored


def by_stratum(scored: list[Scored]) -> dict[str, Figures]:
    """Measure each stratum, and all together."""
    strata = {"all": scored}
    for one in scored:
        strata.setdefault(one.stratum, []).append(one)
    return {
        name: figures(
            np.array([one.found.probability for one in members]),
            np.array([one.failed for one in members]),
        )
        for name, members in strata.items()
    }


def composed(model: Model, scenes: list[Picture], donors: list[Picture]) -> list[Scored]:
    """Held-out failures put into held-out good scenes, beside those scenes as they were."""
    random = Random(_SEED)
    scored = []
    for scene in scenes:
        donor = random.choice(donors)
        failing = with_patch(scene, donor, random)
        shown = Picture(donor.photo, failing.pixels, failing.kinds, True)
        for picture in (scene, shown):
            (found,) = model.look([_as_sent(picture)])
            scored.append(Scored(picture, found, "composed in situ"))
    return scored


def sequences(model: Model, scenes: list[Picture], donors: list[Picture]) -> Sequences:
    """A held-out camera's pictures in the order of their files, good ones and spoiled ones.

    Failing ones are spoiled from their ninth picture on by one failure, which stays in its place.
    """
    random = Random(_SEED)
    runs = [scenes[at : at + _SEQUENCE] for at in range(0, len(scenes), _SEQUENCE)]
    runs = [run for run in runs if len(run) == _SEQUENCE]
    good, failing = [_verdicts(model, run) for run in runs], []
    for run in runs:
        donor, seed = random.choice(donors), random.getrandbits(32)
        spoiled = [with_patch(scene, donor, Random(seed)) for scene in run[_ONSET:]]
        failing.append(_verdicts(model, [*run[:_ONSET], *spoiled]))
    frames = [verdict for verdicts in good for verdict in verdicts]
    in_time = slice(_ONSET, _ONSET + 10)
    return Sequences(
        good=len(good),
        failing=len(failing),
        good_frames=len(frames),
        faster_on_good=sum(verdict.faster_inspection_suggested for verdict in frames),
        good_warned=sum(any(v.warning_suggested for v in run) for run in good),
        good_paused=sum(any(v.pause_suggested for v in run) for run in good),
        failing_warned=sum(any(v.warning_suggested for v in run[in_time]) for run in failing),
        failing_paused=sum(any(v.pause_suggested for v in run[in_time]) for run in failing),
    )


def failures_with_boxes(pictures: list[Picture]) -> list[Picture]:
    return [picture for picture in pictures if picture.photo.failed and picture.photo.boxes]


def good_scenes(pictures: list[Picture]) -> list[Picture]:
    """A camera's good pictures, in the order of the numbers in their files' names."""
    scenes = [
        picture
        for picture in pictures
        if picture.photo.is_in_situ and picture.photo.kind is Kind.FINE
    ]
    return sorted(scenes, key=lambda picture: _number(picture.photo.name))


def _verdicts(model: Model, run: list[Picture]) -> list[Verdict]:
    context, verdicts = DetectionContext(), []
    for number, picture in enumerate(run):
        prepared = _as_sent(picture)
        (found,) = model.look([prepared])
        at = _START + timedelta(seconds=number * NORMAL_INTERVAL_S)
        context, verdict = observe(context, found.sight(prepared), at)
        verdicts.append(verdict)
    return verdicts


def _as_sent(picture: Picture) -> Prepared:
    written = io.BytesIO()
    Image.fromarray(picture.pixels).save(written, "JPEG", quality=85)
    return prepare(written.getvalue())


def _number(name: str) -> int:
    return int("".join(filter(str.isdigit, name)) or 0)
