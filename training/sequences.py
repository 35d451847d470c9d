"""Whole prints, picture by picture, and what the temporal rule makes of them.

Some are a held-out camera's photos with a held-out failure pasted in, the others are rendered.
Of both it is known from which picture on they fail. Neither is a recording of a print that failed.
"""

import io
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from PIL import Image

from printreach.detector.model import Model
from printreach.detector.preprocess import Prepared, prepare
from printreach.rules.detection import (
    NORMAL_INTERVAL_S,
    DetectionContext,
    Sight,
    Verdict,
    observe,
)
from training.pictures import Picture, Pixels
from training.render import sequence
from training.render_failures import Failure
from training.samples import with_patch

LENGTH: Final = 20
ONSET: Final = 8
IN_TIME: Final = 10
"""A failure is to be paused within so many pictures."""
_SEED: Final = 11
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_FIRST_SEED: Final = 900_000
"""None that the training renders."""
_RENDERED: Final = (
    *(("good", Failure.NONE, 0, 20), ("spaghetti", Failure.SPAGHETTI, ONSET, 12)),
    *(
        ("spaghetti from the start", Failure.SPAGHETTI, 0, 8),
        ("came loose", Failure.DETACHED, ONSET, 8),
    ),
    *(("shifted layer", Failure.SHIFTED, ONSET, 4), ("printing air", Failure.AIR, ONSET, 4)),
)
"""What is called how, what fails, from which picture on, and how many."""


@dataclass(frozen=True, slots=True)
class Story:
    """One print. onset: the number of its first bad picture; as many as it has if none is."""

    name: str
    onset: int
    pictures: tuple[Pixels, ...]


@dataclass(frozen=True, slots=True)
class Watched:
    """A story as the model saw it."""

    name: str
    onset: int
    sights: tuple[Sight, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How prints of one name went. good_pictures: before the onset; faster: suggested at so many.

    early_*: prints warned of or paused before they failed. warned, paused: within IN_TIME pictures.
    """

    prints: int
    failing: int
    good_pictures: int
    faster: int
    early_warned: int
    early_paused: int
    warned: int
    paused: int


def pasted(scenes: list[Picture], donors: list[Picture]) -> Iterator[Story]:
    """A camera's good pictures in the order of its files, as they are and spoiled.

    Failing ones are spoiled from their ninth picture on by one failure, which stays in its place.
    """
    random = Random(_SEED)
    for at in range(0, len(scenes) - LENGTH + 1, LENGTH):
        run = scenes[at : at + LENGTH]
        yield Story("pasted: good", LENGTH, tuple(scene.pixels for scene in run))
        donor, seed = random.choice(donors), random.getrandbits(32)
        spoiled = [with_patch(scene, donor, Random(seed)) for scene in run[ONSET:]]
        shown = (*run[:ONSET], *spoiled)
        yield Story("pasted: spaghetti", ONSET, tuple(scene.pixels for scene in shown))


def rendered(first_seed: int = _FIRST_SEED) -> Iterator[Story]:
    """Prints that never were."""
    seed = first_seed
    for name, failing, onset, count in _RENDERED:
        for _ in range(count):
            frames = sequence(seed, failing, onset, LENGTH)
            begins = LENGTH if failing is Failure.NONE else onset
            yield Story(f"rendered: {name}", begins, tuple(frame.pixels for frame in frames))
            seed += 1


def watched(model: Model, stories: Iterable[Story]) -> list[Watched]:
    """Show each picture to the model as a camera sends it."""
    answer = []
    for story in stories:
        sent = [as_sent(pixels) for pixels in story.pictures]
        sights = tuple(
            model.look([prepared])[0].sight(prepared)  # one at a time, as the service does
            for prepared in sent
        )
        answer.append(Watched(story.name, story.onset, sights))
    return answer


def outcomes(seen: Iterable[Watched]) -> dict[str, Outcome]:
    """What the temporal rule does at each kind of print, a picture each 20 s."""
    by_name: dict[str, list[tuple[int, list[Verdict]]]] = defaultdict(list)
    for one in seen:
        by_name[one.name].append((one.onset, verdicts_on(one.sights)))
    return {name: _outcome(runs) for name, runs in by_name.items()}


def verdicts_on(sights: Iterable[Sight], interval_s: float = NORMAL_INTERVAL_S) -> list[Verdict]:
    """Let the rule watch one print."""
    context, verdicts = DetectionContext(), []
    for number, sight in enumerate(sights):
        context, verdict = observe(context, sight, _START + timedelta(seconds=number * interval_s))
        verdicts.append(verdict)
    return verdicts


def as_sent(pixels: Pixels) -> Prepared:
    """A picture as it arrives: JPEG."""
    written = io.BytesIO()
    Image.fromarray(pixels).save(written, "JPEG", quality=85)
    return prepare(written.getvalue())


def _outcome(runs: list[tuple[int, list[Verdict]]]) -> Outcome:
    before = [verdicts[:onset] for onset, verdicts in runs]
    after = [verdicts[onset : onset + IN_TIME] for onset, verdicts in runs]
    return Outcome(
        prints=len(runs),
        failing=sum(bool(verdicts) for verdicts in after),
        good_pictures=sum(len(verdicts) for verdicts in before),
        faster=sum(v.faster_inspection_suggested for verdicts in before for v in verdicts),
        early_warned=sum(any(v.warning_suggested for v in verdicts) for verdicts in before),
        early_paused=sum(any(v.pause_suggested for v in verdicts) for verdicts in before),
        warned=sum(any(v.warning_suggested for v in verdicts) for verdicts in after),
        paused=sum(any(v.pause_suggested for v in verdicts) for verdicts in after),
    )
