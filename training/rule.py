"""Prints to choose the rule over time by, and how each level does on them: python -m training.rule.

They are rendered with seeds of their own, or put together from photos that calibrate: nothing here
trains, and nothing here measures.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from random import Random
from typing import Final

from printreach.detector.evaluation.prints import outcomes, watched
from printreach.detector.evaluation.tables import sequence_table
from printreach.detector.model import load_model
from printreach.rules.detection import LEVELS, DetectionContext
from training.evaluate import failures_with_boxes, good_scenes
from training.incidents import Incident, with_incident
from training.photos import read_manifest
from training.pictures import Picture, Pixels, load
from training.render import Plan, any_plan, frame
from training.render_failures import Failure
from training.samples import with_patch
from training.sequences import LENGTH, ONSET, Story, runs, seen
from training.splits import split

WHOLE_LENGTH: Final = 90
"""Half an hour, in which a part grows from its first layer to its last."""
_SEED: Final = 77
_STARTS: Final = ((1, 6), (2, 6))
"""Runs of photos, as training/sequences.py takes them."""
_SPOILED: Final = (*[ONSET] * 4, *[0] * 3)
"""Each run is spoiled so often, from these pictures on."""
_FROM_THE_START_LENGTH: Final = 12
_RENDERED: Final = (
    ("good", Failure.NONE, LENGTH, LENGTH, range(6_000_000, 6_000_020)),
    ("good", Failure.NONE, LENGTH, LENGTH, range(6_000_100, 6_000_140)),
    ("good", Failure.NONE, LENGTH, LENGTH, range(6_000_500, 6_000_513)),
    ("spaghetti", Failure.SPAGHETTI, ONSET, LENGTH, range(6_001_000, 6_001_036)),
    (
        *("spaghetti from the start", Failure.SPAGHETTI, 0),
        *(_FROM_THE_START_LENGTH, range(6_002_000, 6_002_030)),
    ),
    ("came loose", Failure.DETACHED, ONSET, LENGTH, range(6_003_000, 6_003_032)),
)
"""What is called how, what fails, from which picture on, of how many, and the seeds."""
_WITH_INCIDENTS: Final = range(6_005_000, 6_005_040)
_WHOLE: Final = range(6_010_000, 6_010_024)
_MIXED: Final = range(6_090_000, 6_090_043)
"""Rendered prints with a photographed failure pasted in."""
_SMALL: Final = 0.12


def rendered() -> Iterator[Story]:
    for name, failing, onset, length, seeds in _RENDERED:
        for seed in seeds:
            plan = any_plan(seed, failing, onset, length)
            yield Story(f"rendered: {name}", onset, _pictures(plan))
    for seed in _WITH_INCIDENTS:
        yield _with_incident(seed)
    for seed in _WHOLE:
        plan = any_plan(seed, Failure.NONE, WHOLE_LENGTH, WHOLE_LENGTH)
        grown = replace(plan, from_share=0.02, to_share=1.0)
        yield Story("rendered: good, whole", WHOLE_LENGTH, _pictures(grown))


def photographed(scenes: Sequence[Picture], donors: Sequence[Picture]) -> Iterator[Story]:
    """A camera's good pictures in the order of its files, as they are, spoiled, and disturbed."""
    random = Random(_SEED)
    all_runs = list(runs(scenes, _STARTS))
    for run in all_runs:
        yield Story("pasted: good", LENGTH, tuple(scene.pixels for scene in run))
        for onset in _SPOILED:
            donor, seed = random.choice(donors), random.getrandbits(32)
            spoiled = [with_patch(scene, donor, Random(seed)) for scene in run[onset:]]
            shown = tuple(scene.pixels for scene in (*run[:onset], *spoiled))
            yield Story(_spaghetti("pasted", onset), onset, shown)
    for number, run in enumerate(all_runs):
        for incident in Incident:
            shown = with_incident([scene.pixels for scene in run], incident, number)
            yield Story("pasted: good, disturbed", LENGTH, shown)
    for seed in _MIXED:
        onset = ONSET if seed % 5 < 3 else 0
        donor, place = random.choice(donors), random.getrandbits(32)
        yield Story(_spaghetti("mixed", onset), onset, _mixed(seed, onset, scenes[0], donor, place))


def _spaghetti(how: str, onset: int) -> str:
    return f"{how}: spaghetti" if onset else f"{how}: spaghetti from the start"


def _mixed(seed: int, onset: int, scene: Picture, donor: Picture, place: int) -> tuple[Pixels, ...]:
    count = onset + _FROM_THE_START_LENGTH
    plan = any_plan(seed, Failure.NONE, count, count)
    shown = []
    for number in range(count):
        drawn = frame(plan, number)
        good = replace(scene, pixels=drawn.pixels, kinds=drawn.kinds)
        bad = number >= onset
        shown.append(with_patch(good, donor, Random(place), _SMALL) if bad else good)
    return tuple(picture.pixels for picture in shown)


def _with_incident(seed: int) -> Story:
    """A good print in which something happens: another thing by each seed of five."""
    plan = any_plan(seed, Failure.NONE, LENGTH, LENGTH)
    what = seed % 5
    if what == 0:
        plan = replace(plan, parks=True)
    elif what == 1:
        plan = replace(plan, changes_filament=Random(seed).randrange(7, LENGTH - 6))
    pictures = _pictures(plan)
    if what > 1:
        pictures = with_incident(pictures, list(Incident)[what - 2], seed)
    return Story("rendered: good, disturbed", LENGTH, pictures)


def _pictures(plan: Plan) -> tuple[Pixels, ...]:
    return tuple(frame(plan, number).pixels for number in range(plan.count))


def main() -> None:
    """Print how prints go, at each level."""
    parser = argparse.ArgumentParser(prog="python -m training.rule", description=__doc__)
    parser.add_argument("--images", type=Path, required=True, help="the folder of the manifest")
    parser.add_argument("--weights", type=Path, help="a folder; what ships unless given")
    options = parser.parse_args()
    pictures = load(options.images, read_manifest(options.images))
    parts = split([picture.photo for picture in pictures])
    known = [pictures[index] for index in parts.calibrate]
    stories = chain(photographed(good_scenes(known), failures_with_boxes(known)), rendered())
    shown = seen(load_model(options.weights), stories)
    for level in LEVELS:
        context = DetectionContext(warning_level=level, pause_level=level)
        went = outcomes(watched(one, context) for one in shown)
        print(f"Level {level}:\n{sequence_table(went)}")


if __name__ == "__main__":
    main()
