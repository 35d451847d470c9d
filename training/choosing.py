"""Pictures to choose between models by: of what calibrates, and of prints rendered for that alone.

Whoever chooses by the photos that measure measures nothing any more. The ones that calibrate are
few, so they are shown in several ways. Nothing here trains.
"""

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Final

import numpy as np
from PIL import Image

from printreach.detector.evaluation.figures import Figures, figures
from printreach.detector.model import Model
from printreach.detector.preprocess import SIDE, PreparedImage, scene_of
from training.augment import framed, weathered
from training.photos import Kind
from training.pictures import Picture, Pixels
from training.render import picture
from training.render_failures import Failure
from training.samples import cut_beside, with_patch

_SEED: Final = 99
_GOOD_FROM, _BAD_FROM = 700_000, 750_000
"""Seeds that neither train nor measure."""
_GOOD, _BAD, _PASTED_INTO = 150, 70, 80
_MIN_SEEN: Final = 0.004
"""Of a rendered picture is spaghetti, or it can't be asked for."""
_MIN_SEEN_OF_PHOTO: Final = 0.03
_SMALL, _SMALL_IN_RENDERED = 0.1, 0.12
_DEFECTS_AGAIN, _FAILURES_AGAIN = 4, 2
_STRATA: Final = {
    "photos": ({"failure"}, {"defect", "good"}),
    "web photos, changed too": ({"failure", "failure changed"}, {"defect", "defect changed"}),
    "pasted": ({"pasted"}, {"good", "good changed", "good close", "pasted defect"}),
    "pasted small": ({"pasted small"}, {"good", "good changed", "good close", "pasted defect"}),
    "rendered": ({"rendered failure"}, {"rendered"}),
    "pasted into rendered": ({"rendered, pasted"}, {"rendered", "rendered, pasted defect"}),
}
"""What each stratum tells apart: failures, and others."""


def by_choosing(model: Model, pictures: list[Picture]) -> dict[str, Figures]:
    """Measure on what is to choose by. pictures: the photos that calibrate."""
    names, scores = [], []
    for name, pixels in shown(pictures):
        (output,) = model.score([_prepared(pixels)])
        names.append(name)
        scores.append(output.probability)
    strata = {**_STRATA, "all but rendered": photographed(), "all together": everything()}
    named, scored = np.array(names), np.array(scores)
    answer = {}
    for stratum, (failures, others) in strata.items():
        failed, other = (np.isin(named, sorted(part)) for part in (failures, others))
        answer[stratum] = figures(scored[failed | other], failed[failed | other])
    return answer


def everything() -> tuple[set[str], set[str]]:
    parts = list(_STRATA.values())
    failures = set().union(*(failures for failures, _ in parts))
    return failures, set().union(*(others for _, others in parts)) | {"beside a failure"}


def photographed() -> tuple[set[str], set[str]]:
    failures, others = everything()
    drawn = {name for name in failures | others if "rendered" in name}
    return failures - drawn, others - drawn


def shown(pictures: list[Picture]) -> Iterator[tuple[str, Pixels]]:
    """Everything by its name in _STRATA; the same pictures each time."""
    random = Random(_SEED)
    failures = [one for one in pictures if one.photo.failed and one.is_mapped]
    defects = [one for one in pictures if one.photo.kind is Kind.OTHER_DEFECT]
    good = [one for one in pictures if one.photo.kind is Kind.FINE]
    yield from (("failure", one.pixels) for one in failures)
    yield from (("defect", one.pixels) for one in defects)
    yield from (("good", one.pixels) for one in good)
    yield from _changed(failures, defects, good, random)
    yield from (("beside a failure", cut) for cut in _cuts(failures, random))
    yield from (("good close", cut) for cut in _cuts(good, random))
    rendered = [picture(_GOOD_FROM + number) for number in range(_GOOD)]
    yield from (("rendered", one.pixels) for one in rendered)
    for number in range(_BAD):
        failing = picture(_BAD_FROM + number, Failure.SPAGHETTI)
        if (failing.kinds == Kind.SPAGHETTI).mean() > _MIN_SEEN:
            yield "rendered failure", failing.pixels
    for scene in good:
        yield "pasted", with_patch(scene, random.choice(failures), random).pixels
        yield "pasted small", with_patch(scene, random.choice(failures), random, _SMALL).pixels
        yield from _with_defect("pasted defect", scene, defects, random)
    for one in rendered[:_PASTED_INTO]:
        scene = replace(good[0], pixels=one.pixels, kinds=one.kinds)
        failing_scene = with_patch(scene, random.choice(failures), random, _SMALL_IN_RENDERED)
        yield "rendered, pasted", failing_scene.pixels
        yield from _with_defect(
            "rendered, pasted defect", scene, defects, random, _SMALL_IN_RENDERED
        )


def _changed(
    failures: list[Picture], defects: list[Picture], good: list[Picture], random: Random
) -> Iterator[tuple[str, Pixels]]:
    """As training changes what it shows."""
    for one in defects * _DEFECTS_AGAIN:
        yield "defect changed", _weathered(framed(one.pixels, one.kinds, random)[0], random)
    for one in failures * _FAILURES_AGAIN:
        image, kinds = framed(one.pixels, one.kinds, random)
        if (np.asarray(kinds) == Kind.SPAGHETTI).mean() > _MIN_SEEN_OF_PHOTO:
            yield "failure changed", _weathered(image, random)
    for one in good:
        yield "good changed", _weathered(framed(one.pixels, one.kinds, random)[0], random)


def _weathered(image: Image.Image, random: Random) -> Pixels:
    return np.asarray(weathered(image, random))


def _cuts(pictures: list[Picture], random: Random) -> Iterator[Pixels]:
    for one in pictures:
        cut = cut_beside(one, random)
        if cut is not None:
            yield cut.pixels


def _with_defect(
    name: str, scene: Picture, defects: list[Picture], random: Random, least_share: float = 0.2
) -> Iterator[tuple[str, Pixels]]:
    donor = random.choice(defects)
    if any(box.kind == donor.photo.kind for box in donor.photo.boxes):
        yield name, with_patch(scene, donor, random, least_share).pixels


def _prepared(pixels: Pixels) -> PreparedImage:
    shrunk = np.asarray(Image.fromarray(pixels).resize((SIDE, SIDE), Image.Resampling.BOX))
    return PreparedImage(shrunk, scene_of(shrunk))
