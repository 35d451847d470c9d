"""From what single pictures of a print show to whether to warn of it, or to pause it.

A model's score of one picture is worth little across scenes: some good prints always look odd. So
a print is compared with its own first pictures too. What is bad must stay bad for a while, and a
picture that can't be compared (the light went on, the camera was moved) is no failure.
"""

import math
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from printreach.rules.detection_scene import BLIND, CHANGED, Scene, Seen, View, look_at
from printreach.rules.detector import quality_of

LEVELS: Final = range(1, 6)
DEFAULT_LEVEL: Final = 3

MINIMUM_INTERVAL_S: Final = 5
NORMAL_INTERVAL_S: Final = 20
SUSPICIOUS_INTERVAL_S: Final = 10

BAD_QUALITY: Final = 3
DOUBTFUL_QUALITY: Final = 5

_WARNS_FROM: Final = {1: 72, 2: 74, 3: 76, 4: 79, 5: 82}
_PAUSES_FROM: Final = {1: 73, 2: 76, 3: 80, 4: 82, 5: 84}
"""The Score that counts, for each confidence level. 70 is where PrintQuality falls to 3. On the
prints that these were chosen by, four points less did as well; other scenes look odder."""
_WARNS_AFTER_S: Final = {1: 30.0, 2: 35.0, 3: 40.0, 4: 50.0, 5: 60.0}
_PAUSES_AFTER_S: Final = {1: 60.0, 2: 70.0, 3: 80.0, 4: 88.0, 5: 92.0}
"""An interval of 20 s makes it 80 s and 120 s at most."""
_WARNING_FRAMES: Final = 2
_PAUSE_FRAMES: Final = 3
"""However slow the pictures come, one alone decides nothing."""

_LONGEST_STEP_S: Final = 60.0
"""What lies between two pictures counts so long at most: nobody saw what was in between."""
_LONGEST_MEMORY_S: Final = 160.0
_FORGETS_TIMES: Final = 2.0
"""A good picture takes back twice the time that a bad one adds."""

_REFERENCE_FRAMES: Final = 6
"""Two minutes. With four, good prints that look odder as they grow were warned of."""
_MEAN_OVER_S: Final = 25.0
_LEAST_SHARE, _GREATEST_SHARE = 0.3, 0.7
"""What one picture moves the mean by, whatever the interval."""
_FARTHEST_LOGIT: Final = 4.5
_RELATIVE_GAIN: Final = 0.75
_MOST_RISE, _MOST_FALL = 4.0, 2.0
_USUAL_LOGIT: Final = -1.0
_ODD_DISCOUNT: Final = 1.2
_MOST_ODD: Final = 1.2
"""A print that looked odd from its start must look worse than others. Not without end: one that
fails from its start looks odd too, and is caught by its score alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What a model saw in one picture. probability: of a failure, calibrated, 0 to 1."""

    probability: float
    scene: Scene


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """How long the score has been above a threshold."""

    lasting_s: float = 0.0
    frames: int = 0
    is_above: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionContext:
    """All that is known of a print from its pictures so far.

    reference: logits of the first pictures of this scene. mean: of all logits, newer ones first.
    Raises ValueError for what none can be: a level that there isn't, a mean beyond all logits, a
    time without zone.
    """

    warning_level: int = DEFAULT_LEVEL
    pause_level: int = DEFAULT_LEVEL
    reference: tuple[float, ...] = ()
    mean: float | None = None
    score: int = 0
    seen: Seen | None = None
    last_at: datetime | None = None
    warning: Suspicion = Suspicion()
    pause: Suspicion = Suspicion()

    def __post_init__(self) -> None:
        if self.warning_level not in LEVELS or self.pause_level not in LEVELS:
            raise ValueError("a confidence level is 1 to 5")
        if self.mean is not None and abs(self.mean) > _FARTHEST_LOGIT:
            raise ValueError(f"a mean of logits is {_FARTHEST_LOGIT} at most")
        if self.last_at is not None and self.last_at.tzinfo is None:
            raise ValueError("a time has a zone")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What to make of a print. score: 0 to 100, 0 the best; print_quality: 1 to 10, 10 the best."""

    score: int
    print_quality: int
    warning_suggested: bool
    pause_suggested: bool
    faster_inspection_suggested: bool
    minimum_interval_s: int
    recommended_interval_s: int
    view: View


def observe(
    context: DetectionContext, sight: Sight, at: datetime
) -> tuple[DetectionContext, Verdict]:
    """Take one picture more into account. A clock that was moved back only costs that interval."""
    step_s = _step_s(context.last_at, at)
    seen, view = look_at(context.seen, sight.scene)
    looked = replace(context, seen=seen, last_at=at)
    if view in BLIND:
        return looked, _verdict(looked, view)
    if view in CHANGED:
        looked = replace(looked, reference=(), mean=None)
    looked = _with_score(looked, _logit(sight.probability), step_s)
    warns_from, pauses_from = _WARNS_FROM[looked.warning_level], _PAUSES_FROM[looked.pause_level]
    looked = replace(
        looked,
        warning=_suspect(looked.warning, looked.score >= warns_from, step_s),
        pause=_suspect(looked.pause, looked.score >= pauses_from, step_s),
    )
    return looked, _verdict(looked, view)


def _step_s(before: datetime | None, at: datetime) -> float:
    if before is None:
        return 0.0
    return max(0.0, min(_LONGEST_STEP_S, (at - before).total_seconds()))


def _with_score(context: DetectionContext, logit: float, step_s: float) -> DetectionContext:
    """Update the mean and the reference, and the score that both make."""
    share = max(_LEAST_SHARE, min(_GREATEST_SHARE, 1 - math.exp(-step_s / _MEAN_OVER_S)))
    mean = logit if context.mean is None else context.mean + share * (logit - context.mean)
    reference = context.reference
    if len(reference) < _REFERENCE_FRAMES:
        reference = (*reference, logit)
    score = round(100 / (1 + math.exp(-_combined(mean, _median(reference)))))
    return replace(context, mean=mean, reference=reference, score=score)


def _median(logits: tuple[float, ...]) -> float:
    """The middle one, or between the two in the middle: one odd picture doesn't move it far."""
    ordered, half = sorted(logits), len(logits) // 2
    return (ordered[half] + ordered[-half - 1]) / 2


def _combined(mean: float, usual: float) -> float:
    """Put together how bad the print looks, and how much worse than at its start."""
    worse = max(-_MOST_FALL, min(_MOST_RISE, mean - usual))
    odd = max(0.0, min(_MOST_ODD, usual - _USUAL_LOGIT))
    return mean + _RELATIVE_GAIN * worse - _ODD_DISCOUNT * odd


def _logit(probability: float) -> float:
    """Of a probability; what is no number looks neither good nor bad."""
    if math.isnan(probability):
        return 0.0
    bounded = max(1e-9, min(1 - 1e-9, probability))
    logit = math.log(bounded / (1 - bounded))
    return max(-_FARTHEST_LOGIT, min(_FARTHEST_LOGIT, logit))


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


def _verdict(context: DetectionContext, view: View) -> Verdict:
    warning, pause = context.warning, context.pause
    warns_after_s = _WARNS_AFTER_S[context.warning_level]
    pauses_after_s = _PAUSES_AFTER_S[context.pause_level]
    warns = warning.lasting_s >= warns_after_s and warning.frames >= _WARNING_FRAMES
    pauses = pause.lasting_s >= pauses_after_s and pause.frames >= _PAUSE_FRAMES
    quality = quality_of(context.score)
    is_bad = quality <= BAD_QUALITY and warning.frames >= _WARNING_FRAMES
    return Verdict(
        score=context.score,
        print_quality=quality,
        warning_suggested=warns,
        pause_suggested=pauses,
        faster_inspection_suggested=warns or pauses or is_bad,
        minimum_interval_s=MINIMUM_INTERVAL_S,
        recommended_interval_s=_recommended_s(quality),
        view=view,
    )


def _recommended_s(quality: int) -> int:
    if quality <= BAD_QUALITY:
        return MINIMUM_INTERVAL_S
    return SUSPICIOUS_INTERVAL_S if quality <= DOUBTFUL_QUALITY else NORMAL_INTERVAL_S
