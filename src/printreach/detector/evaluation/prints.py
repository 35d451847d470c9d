"""Whole prints, picture by picture, and what the temporal rule makes of them."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from printreach.rules.detection import DetectionContext, ImageAssessment, Verdict, observe

IN_TIME_S: Final = 200.0
"""A failure is to be paused within so long: ten pictures at the normal interval."""
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_DEVIATIONS: Final = 1.96
_OUTER_SHARE: Final = 0.025
_LONGEST_STEP_S: Final = 60.0
"""The most that the time between two pictures counts as time under watch."""
_HOUR_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class ScoredPicture:
    """A picture as the model saw it. at_s: since the print's first one.

    failed: the print has failed by then; None where nobody can tell, which judges nothing.
    """

    assessment: ImageAssessment
    at_s: float
    failed: bool | None


@dataclass(frozen=True, slots=True)
class ScoredPrint:
    """A print as the model saw it. name: of the kind that it is counted with."""

    name: str
    pictures: tuple[ScoredPicture, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How prints of one name went.

    good_pictures: before the failure; faster: a faster look was suggested at so many; good_hours:
    until the failure or the first pause. early_*: prints warned or paused before they failed.
    warned, paused: within IN_TIME_S of the failure.
    """

    prints: int
    failing: int
    good_pictures: int
    good_hours: float
    faster: int
    early_warned: int
    early_paused: int
    warned: int
    paused: int

    @property
    def begins_good(self) -> bool:
        """Whether there is a good picture at all."""
        return self.good_pictures > 0


def outcomes(seen: Iterable[ScoredPrint]) -> dict[str, Outcome]:
    """Return how prints of each name go under the temporal rule."""
    by_name: dict[str, list[_Run]] = defaultdict(list)
    for one in seen:
        by_name[one.name].append(_Run(one.pictures, verdicts_on(one.pictures)))
    return {name: _outcome(runs) for name, runs in by_name.items()}


def together(parts: Iterable[Outcome]) -> Outcome:
    """Return the outcome of all of them."""
    known = list(parts)
    return Outcome(
        prints=sum(one.prints for one in known),
        failing=sum(one.failing for one in known),
        good_pictures=sum(one.good_pictures for one in known),
        good_hours=sum(one.good_hours for one in known),
        faster=sum(one.faster for one in known),
        early_warned=sum(one.early_warned for one in known),
        early_paused=sum(one.early_paused for one in known),
        warned=sum(one.warned for one in known),
        paused=sum(one.paused for one in known),
    )


def verdicts_on(pictures: Iterable[ScoredPicture]) -> list[Verdict]:
    """Let the rule watch one print."""
    context, verdicts = DetectionContext(), []
    for picture in pictures:
        at = _START + timedelta(seconds=picture.at_s)
        context, verdict = observe(context, picture.assessment, at)
        verdicts.append(verdict)
    return verdicts


def likely_share(count: int, of: int) -> tuple[float, float]:
    """Return where a share that was seen so often lies in 95 of 100 cases, by Wilson."""
    if of == 0:
        return 0.0, 1.0
    share, square = count / of, _DEVIATIONS**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    spread = share * (1 - share) / of + square / (4 * of**2)
    away = _DEVIATIONS * math.sqrt(spread) / (1 + square / of)
    return max(0.0, middle - away), min(1.0, middle + away)


def likely_rate(count: int, hours: float) -> tuple[float, float]:
    """Return where a rate per 1,000 hours, seen so often in hours, lies in 95 of 100 cases.

    The exact interval of a Poisson count.
    """
    if hours <= 0:
        return 0.0, math.inf
    least = 0.0 if count == 0 else _mean_with(count - 1, 1 - _OUTER_SHARE)
    return least * 1000 / hours, _mean_with(count, _OUTER_SHARE) * 1000 / hours


@dataclass(frozen=True, slots=True)
class _Run:
    """A print's pictures with the verdict on each."""

    pictures: Sequence[ScoredPicture]
    verdicts: Sequence[Verdict]

    @property
    def onset_s(self) -> float:
        """When it is first known to have failed; infinite if it never is."""
        return next((picture.at_s for picture in self.pictures if picture.failed), math.inf)

    @property
    def before(self) -> list[Verdict]:
        """The verdicts on good pictures before the failure."""
        return [verdict for picture, verdict in self._pairs if self._is_before(picture)]

    @property
    def after(self) -> list[Verdict]:
        """The verdicts on what is in time after the failure."""
        onset_s = self.onset_s
        return [
            verdict
            for picture, verdict in self._pairs
            if onset_s <= picture.at_s < onset_s + IN_TIME_S
        ]

    @property
    def good_s(self) -> float:
        """How long it was watched while good, until the first pause."""
        lasting_s, last_s = 0.0, None
        for picture, verdict in self._pairs:
            if not self._is_before(picture):
                last_s = None
                continue
            if last_s is not None:
                lasting_s += min(_LONGEST_STEP_S, picture.at_s - last_s)
            last_s = picture.at_s
            if verdict.pause_suggested:
                break
        return lasting_s

    @property
    def _pairs(self) -> Iterable[tuple[ScoredPicture, Verdict]]:
        return zip(self.pictures, self.verdicts, strict=True)

    def _is_before(self, picture: ScoredPicture) -> bool:
        return picture.failed is False and picture.at_s < self.onset_s


def _outcome(runs: Sequence[_Run]) -> Outcome:
    before, after = [run.before for run in runs], [run.after for run in runs]
    return Outcome(
        prints=len(runs),
        failing=sum(bool(verdicts) for verdicts in after),
        good_pictures=sum(len(verdicts) for verdicts in before),
        good_hours=sum(run.good_s for run in runs) / _HOUR_S,
        faster=sum(v.faster_inspection_suggested for verdicts in before for v in verdicts),
        early_warned=sum(any(v.warning_suggested for v in verdicts) for verdicts in before),
        early_paused=sum(any(v.pause_suggested for v in verdicts) for verdicts in before),
        warned=sum(any(v.warning_suggested for v in verdicts) for verdicts in after),
        paused=sum(any(v.pause_suggested for v in verdicts) for verdicts in after),
    )


def _mean_with(count: int, share: float) -> float:
    """Return the mean of the Poisson distribution that gives at most count in this share."""
    low, high = 0.0, 10.0 + 3.0 * count
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if _at_most(count, middle) > share else (low, middle)
    return (low + high) / 2


def _at_most(count: int, mean: float) -> float:
    """Return how likely a Poisson variable is at most count."""
    if mean == 0:
        return 1.0
    return sum(
        math.exp(number * math.log(mean) - mean - math.lgamma(number + 1))
        for number in range(count + 1)
    )
