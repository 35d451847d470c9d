"""Decides from single images of a print whether to warn of a failure, or to pause it.

A bad score must last for a while, and an image that can't be compared with those before it (the
light went on, the camera was moved) is no failure.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from printreach.rules.detection.appearance import Appearance, EvidenceMap, is_rectangular
from printreach.rules.detection.detector import quality_of
from printreach.rules.detection.scene import (
    INCOMPARABLE_VIEWS,
    UNUSABLE_VIEWS,
    Scene,
    SceneMemory,
    ViewCondition,
    compare_scene,
)

MAX_IMAGE_BYTES: Final = 6_291_456
MAX_IMAGE_PIXELS: Final = 50_000_000

LEVELS: Final = range(1, 6)
DEFAULT_LEVEL: Final = 3

MINIMUM_INTERVAL_S: Final = 5
NORMAL_INTERVAL_S: Final = 20
SUSPICIOUS_INTERVAL_S: Final = 10

BAD_QUALITY: Final = 3
DOUBTFUL_QUALITY: Final = 5

_WARNS_FROM: Final = {1: 70, 2: 71, 3: 72, 4: 75, 5: 77}
_PAUSES_FROM: Final = {1: 70, 2: 71, 3: 72, 4: 75, 5: 77}
"""The Score from which it counts, by confidence level. At 70 PrintQuality falls to 3.

How many false pauses each gives in 1,000 hours stands in docs/detector-model.md."""
_WARNS_AFTER_S: Final = {1: 30.0, 2: 35.0, 3: 40.0, 4: 50.0, 5: 60.0}
_PAUSES_AFTER_S: Final = {1: 60.0, 2: 60.0, 3: 60.0, 4: 80.0, 5: 92.0}
"""With images each 20 s this becomes 80 s and 120 s at most."""
_WARNING_FRAMES: Final = 2
_PAUSE_FRAMES: Final = 3
"""The fewest bad images: a single one never decides, however slowly they come."""

_LONGEST_STEP_S: Final = 60.0
"""The most that the time between two images counts: nothing is known of the time between."""
_LONGEST_MEMORY_S: Final = 160.0
_FORGETS_TIMES: Final = 2.0
"""A good image takes back this multiple of the time that a bad one adds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageAssessment:
    """A model's assessment of one image. probability: of a failure, calibrated, 0 to 1.

    evidence: the same for each place of it; empty where only the whole is known. Raises ValueError
    where its rows differ in length.
    """

    probability: float
    scene: Scene
    evidence: EvidenceMap = ()

    def __post_init__(self) -> None:
        if not is_rectangular(self.evidence):
            raise ValueError("the rows of a map have as many places each")


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """The time for which the score has been above a threshold."""

    lasting_s: float = 0.0
    frames: int = 0
    is_above: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionContext:
    """The state of a print's detection after its images so far.

    appearance: in the present scene. doubted: since it is doubtful whether the scene is still the
    same. score: of the last usable image. Raises ValueError for a level that does not exist, or a
    time without a zone.
    """

    warning_level: int = DEFAULT_LEVEL
    pause_level: int = DEFAULT_LEVEL
    appearance: Appearance = field(default_factory=Appearance)
    doubted: Appearance | None = None
    score: int = 0
    seen: SceneMemory | None = None
    last_at: datetime | None = None
    warning: Suspicion = Suspicion()
    pause: Suspicion = Suspicion()

    def __post_init__(self) -> None:
        if self.warning_level not in LEVELS or self.pause_level not in LEVELS:
            raise ValueError("a confidence level is 1 to 5")
        if self.last_at is not None and self.last_at.tzinfo is None:
            raise ValueError("a time has a zone")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict on a print. score: 0 to 100, 0 is best; print_quality: 1 to 10, 10 is best.

    Both are of the last usable image; an unusable one suggests nothing.
    """

    score: int
    print_quality: int
    warning_suggested: bool
    pause_suggested: bool
    faster_inspection_suggested: bool
    minimum_interval_s: int
    recommended_interval_s: int
    view: ViewCondition


def observe(
    context: DetectionContext, assessment: ImageAssessment, at: datetime
) -> tuple[DetectionContext, Verdict]:
    """Take one more image into account. A clock that was set back only costs that interval."""
    step_s = _step_s(context.last_at, at)
    seen, view = compare_scene(context.seen, assessment.scene)
    looked = replace(context, seen=seen, last_at=at)
    if view in UNUSABLE_VIEWS:
        return looked, _verdict(looked, view)
    looked = _with_appearance(looked, assessment, view, step_s)
    warns_from, pauses_from = _WARNS_FROM[looked.warning_level], _PAUSES_FROM[looked.pause_level]
    looked = replace(
        looked,
        warning=_suspect(looked.warning, looked.score >= warns_from, step_s),
        pause=_suspect(looked.pause, looked.score >= pauses_from, step_s),
    )
    return looked, _verdict(looked, view)


def _with_appearance(
    context: DetectionContext, assessment: ImageAssessment, view: ViewCondition, step_s: float
) -> DetectionContext:
    """Add the image to the appearance of its scene.

    While it is doubtful whether that is another scene, it is compared with nothing before, and what
    was known is kept.
    """
    is_in_doubt = context.seen is not None and context.seen.is_in_doubt
    if is_in_doubt or view is ViewCondition.MOVED:
        before = context.doubted or Appearance()
    else:
        before = Appearance() if view in INCOMPARABLE_VIEWS else context.appearance
    now = before.then(assessment.probability, assessment.evidence, step_s)
    if is_in_doubt:
        return replace(context, doubted=now, score=now.score)
    return replace(context, appearance=now, doubted=None, score=now.score)


def _step_s(before: datetime | None, at: datetime) -> float:
    if before is None:
        return 0.0
    return max(0.0, min(_LONGEST_STEP_S, (at - before).total_seconds()))


def _suspect(before: Suspicion, is_above: bool, step_s: float) -> Suspicion:
    """Let suspicion grow or fade. The time before the first bad picture is not bad time."""
    if not is_above:
        return Suspicion(
            lasting_s=max(0.0, before.lasting_s - _FORGETS_TIMES * step_s),
            frames=max(0, before.frames - 1),
        )
    grown_s = before.lasting_s + (step_s if before.is_above else 0.0)
    return Suspicion(
        lasting_s=min(_LONGEST_MEMORY_S, grown_s),
        frames=min(_PAUSE_FRAMES, before.frames + 1),
        is_above=True,
    )


def _verdict(context: DetectionContext, view: ViewCondition) -> Verdict:
    warning, pause = context.warning, context.pause
    warns_after_s = _WARNS_AFTER_S[context.warning_level]
    pauses_after_s = _PAUSES_AFTER_S[context.pause_level]
    warns = warning.lasting_s >= warns_after_s and warning.frames >= _WARNING_FRAMES
    pauses = pause.lasting_s >= pauses_after_s and pause.frames >= _PAUSE_FRAMES
    quality = quality_of(context.score)
    is_bad = quality <= BAD_QUALITY and warning.frames >= _WARNING_FRAMES
    is_seen = view not in UNUSABLE_VIEWS
    return Verdict(
        score=context.score,
        print_quality=quality,
        warning_suggested=warns and is_seen,
        pause_suggested=pauses and is_seen,
        faster_inspection_suggested=warns or pauses or is_bad,
        minimum_interval_s=MINIMUM_INTERVAL_S,
        recommended_interval_s=_recommended_s(quality),
        view=view,
    )


def _recommended_s(quality: int) -> int:
    if quality <= BAD_QUALITY:
        return MINIMUM_INTERVAL_S
    return SUSPICIOUS_INTERVAL_S if quality <= DOUBTFUL_QUALITY else NORMAL_INTERVAL_S
