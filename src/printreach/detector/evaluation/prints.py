"""Whole prints, picture by picture, and what the temporal rule makes of them."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from printreach.rules.detection import DetectionContext, ImageAssessment, Verdict, observe

IN_TIME_S: Final = 200.0
"""A failure is to be paused within so long: ten pictures at the normal interval."""
START: Final = datetime(2026, 1, 1, tzinfo=UTC)
SECOND: Final = timedelta(seconds=1)
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
    """A print as the model saw it.

    name: of the kind that it is counted with. camera: "" where it is not known.
    """

    name: str
    pictures: tuple[ScoredPicture, ...]
    camera: str = ""


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


@dataclass(frozen=True, slots=True)
class WatchedPrint:
    """A print with the rule's verdict on each picture, and what the rule knew in the end."""

    seen: ScoredPrint
    verdicts: Sequence[Verdict]
    context: DetectionContext


def outcomes(
    prints: Iterable[WatchedPrint], of: Callable[[ScoredPrint], str] = lambda one: one.name
) -> dict[str, Outcome]:
    """Return how prints went, by name or by something else that is known of them."""
    by_name: dict[str, list[_Run]] = defaultdict(list)
    for one in prints:
        by_name[of(one.seen)].append(_Run(one.seen.pictures, one.verdicts))
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


def watched(seen: ScoredPrint, context: DetectionContext | None = None) -> WatchedPrint:
    """Let the rule watch one print. context: what is known before its first picture."""
    known, verdicts = context or DetectionContext(), []
    for picture in seen.pictures:
        known, verdict = observe(known, picture.assessment, START + picture.at_s * SECOND)
        verdicts.append(verdict)
    return WatchedPrint(seen, verdicts, known)


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
