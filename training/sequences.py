"""Whole prints, picture by picture, and what the temporal rule makes of them.

Some are a held-out camera's photos with a held-out failure pasted in, the others are rendered.
Of both it is known from which picture on they fail. Neither is a recording of a print that failed.
"""

import io
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from PIL import Image

from printreach.detector.model import Model
from printreach.detector.preprocess import PreparedImage, prepare
from printreach.rules.detection import (
    NORMAL_INTERVAL_S,
    DetectionContext,
    ImageAssessment,
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
_STARTS: Final = ((1, 8), (2, 10))
"""Runs of pasted prints take each picture or each second one; one begins so many after another."""
_SPOILED: Final = 2
"""Of each run, by different failures from the onset on; one more is spoiled from the start."""
_DEVIATIONS: Final = 1.96
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_FIRST_SEED: Final = 900_000
"""None that the training renders."""
_SEEDS_EACH: Final = 1_000
"""More prints of one kind change none of another."""
_RENDERED: Final = (
    *(("good", Failure.NONE, 0, 40), ("spaghetti", Failure.SPAGHETTI, ONSET, 24)),
    *(
        ("spaghetti from the start", Failure.SPAGHETTI, 0, 16),
        ("came loose", Failure.DETACHED, ONSET, 16),
    ),
    *(("shifted layer", Failure.SHIFTED, ONSET, 8), ("printing air", Failure.AIR, ONSET, 8)),
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
    sights: tuple[ImageAssessment, ...]


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

    Failing ones are spoiled by one failure, which stays in its place. Runs share pictures.
    """
    random = Random(_SEED)
    for run in _runs(scenes):
        yield Story("pasted: good", LENGTH, tuple(scene.pixels for scene in run))
        for onset in (*[ONSET] * _SPOILED, 0):
            donor, seed = random.choice(donors), random.getrandbits(32)
            spoiled = [with_patch(scene, donor, Random(seed)) for scene in run[onset:]]
            name = "pasted: spaghetti" if onset else "pasted: spaghetti from the start"
            shown = (*run[:onset], *spoiled)
            yield Story(name, onset, tuple(scene.pixels for scene in shown))


def _runs(scenes: list[Picture]) -> Iterator[list[Picture]]:
    for stride, apart in _STARTS:
        length = (LENGTH - 1) * stride + 1
        for at in range(0, len(scenes) - length + 1, apart):
            yield scenes[at : at + length : stride]


def rendered(first_seed: int = _FIRST_SEED) -> Iterator[Story]:
    """Prints that never were."""
    for kind, (name, failing, onset, count) in enumerate(_RENDERED):
        first_of_kind = first_seed + kind * _SEEDS_EACH
        for seed in range(first_of_kind, first_of_kind + count):
            frames = sequence(seed, failing, onset, LENGTH)
            begins = LENGTH if failing is Failure.NONE else onset
            yield Story(f"rendered: {name}", begins, tuple(frame.pixels for frame in frames))


def watched(model: Model, stories: Iterable[Story]) -> list[Watched]:
    """Show each picture to the model as a camera sends it."""
    answer = []
    for story in stories:
        sent = [as_sent(pixels) for pixels in story.pictures]
        sights = tuple(
            model.score([prepared])[0].assessment(prepared)  # one at a time, as the service does
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


def verdicts_on(
    sights: Iterable[ImageAssessment], interval_s: float = NORMAL_INTERVAL_S
) -> list[Verdict]:
    """Let the rule watch one print."""
    context, verdicts = DetectionContext(), []
    for number, assessment in enumerate(sights):
        context, verdict = observe(
            context, assessment, _START + timedelta(seconds=number * interval_s)
        )
        verdicts.append(verdict)
    return verdicts


def likely_share(count: int, of: int) -> tuple[float, float]:
    """Where a share lies in 95 of 100 cases, of which count in so many were seen; by Wilson."""
    if of == 0:
        return 0.0, 1.0
    share, square = count / of, _DEVIATIONS**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    spread = share * (1 - share) / of + square / (4 * of**2)
    away = _DEVIATIONS * math.sqrt(spread) / (1 + square / of)
    return max(0.0, middle - away), min(1.0, middle + away)


def as_sent(pixels: Pixels) -> PreparedImage:
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
