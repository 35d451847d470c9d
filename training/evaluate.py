"""The shipped file itself, asked through the package, on photos that trained nothing."""

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import numpy as np

from printreach.detector.evaluation.figures import (
    CameraFigures,
    Figures,
    figures,
    figures_by_camera,
)
from printreach.detector.model import Model, ModelOutput
from printreach.detector.preprocess import prepare
from training.photos import Kind
from training.pictures import Picture
from training.samples import with_patch
from training.sequences import as_sent

_SEED: Final = 11


@dataclass(frozen=True, slots=True)
class Scored:
    """A photo and what the model made of it."""

    picture: Picture
    output: ModelOutput
    stratum: str

    @property
    def failed(self) -> bool:
        return self.picture.photo.failed


def score(model: Model, folder: Path, pictures: list[Picture]) -> list[Scored]:
    """Score photos from their files, as the service does."""
    scored = []
    for picture in pictures:
        (output,) = model.score([prepare((folder / picture.photo.path).read_bytes())])
        stratum = "other camera" if picture.photo.is_in_situ else "web photos"
        scored.append(Scored(picture, output, stratum))
    return scored


def by_camera(scored: list[Scored]) -> CameraFigures:
    """Measure each camera, and all together with an interval over cameras.

    Copies, and pictures of one scene, count as of one camera.
    """
    return figures_by_camera(
        np.array([one.output.probability for one in scored]),
        np.array([one.failed for one in scored]),
        [one.picture.photo.camera or one.picture.photo.copies for one in scored],
    )


def by_stratum(scored: list[Scored]) -> dict[str, Figures]:
    """Measure each stratum that has both classes, and all together."""
    strata = {"all": scored}
    for one in scored:
        strata.setdefault(one.stratum, []).append(one)
    return {
        name: figures(
            np.array([one.output.probability for one in members]),
            np.array([one.failed for one in members]),
        )
        for name, members in strata.items()
        if len({one.failed for one in members}) == 2
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
            (output,) = model.score([as_sent(picture.pixels)])
            scored.append(Scored(picture, output, "composed in situ"))
    return scored


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


def _number(name: str) -> int:
    return int("".join(filter(str.isdigit, name)) or 0)
