"""Whole prints, picture by picture, and what the temporal rule makes of them.

Some are a held-out camera's photos with a held-out failure pasted in, the others are rendered.
Of both it is known from which picture on they fail. Neither is a recording of a print that failed.
"""

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from PIL import Image

from printreach.detector.evaluation.prints import ScoredPicture, ScoredPrint
from printreach.detector.model import Model
from printreach.detector.preprocess import PreparedImage, prepare
from printreach.rules.detection import NORMAL_INTERVAL_S
from training.pictures import Picture, Pixels
from training.render import sequence
from training.render_failures import Failure
from training.samples import with_patch

LENGTH: Final = 20
ONSET: Final = 8
_SEED: Final = 11
_STARTS: Final = ((1, 8), (2, 10))
"""Runs of pasted prints take each picture or each second one; one begins so many after another."""
_SPOILED: Final = 2
"""Of each run, by different failures from the onset on; one more is spoiled from the start."""
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


def pasted(scenes: list[Picture], donors: list[Picture]) -> Iterator[Story]:
    """A camera's good pictures in the order of its files, as they are and spoiled.

    Failing ones are spoiled by one failure, which stays in its place. Runs share pictures.
    """
    random = Random(_SEED)
    for run in runs(scenes, _STARTS):
        yield Story("pasted: good", LENGTH, tuple(scene.pixels for scene in run))
        for onset in (*[ONSET] * _SPOILED, 0):
            donor, seed = random.choice(donors), random.getrandbits(32)
            spoiled = [with_patch(scene, donor, Random(seed)) for scene in run[onset:]]
            name = "pasted: spaghetti" if onset else "pasted: spaghetti from the start"
            shown = (*run[:onset], *spoiled)
            yield Story(name, onset, tuple(scene.pixels for scene in shown))


def runs(
    scenes: Sequence[Picture], starts: Iterable[tuple[int, int]]
) -> Iterator[Sequence[Picture]]:
    """Pictures of a print each. starts: as of _STARTS."""
    for stride, apart in starts:
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


def seen(model: Model, stories: Iterable[Story]) -> list[ScoredPrint]:
    """Show each picture to the model as a camera sends it."""
    return [ScoredPrint(story.name, tuple(_scored_pictures(model, story))) for story in stories]


def _scored_pictures(model: Model, story: Story) -> Iterator[ScoredPicture]:
    for number, pixels in enumerate(story.pictures):
        prepared = as_sent(pixels)
        (output,) = model.score([prepared])  # one at a time, as the service does
        at_s = float(number * NORMAL_INTERVAL_S)
        yield ScoredPicture(output.assessment(prepared), at_s, number >= story.onset)


def as_sent(pixels: Pixels) -> PreparedImage:
    """A picture as it arrives: JPEG."""
    written = io.BytesIO()
    Image.fromarray(pixels).save(written, "JPEG", quality=85)
    return prepare(written.getvalue())
