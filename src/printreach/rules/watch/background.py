"""The background of a camera: the places of its picture that look odd in prints that go well.

A print is compared with its own first images, which don't show yet where the hotend, the gantry
and the part will be later. Prints that ended well have shown it. What is learnt is bounded, so
that a failure which is seen is never taken for the background, however many failed prints nobody
answered about.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from printreach.rules.detection.appearance import (
    FARTHEST,
    FIRST_PICTURES,
    Appearance,
    EvidenceMap,
    have_same_shape,
    is_rectangular,
)
from printreach.rules.watch.choices import Judgement
from printreach.rules.watch.memory import WatchMemory

MAX_LEARNT_LOGIT: Final = 0.0
"""No place is learnt as odder than this, an even chance. Spaghetti that is seen has 3 and more."""
FEWEST_PRINTS: Final = 3
"""Prints that ended well before what they showed is used."""
_REMEMBERED: Final = 8
"""Each print weighs at least one part in so many: cameras are cleaned, printers are moved."""
_DIGITS: Final = 2
_GOOD_SCORE: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraBackground:
    """What a camera has shown. prints: that ended well. places: how odd each place looks in them.

    learnt_at: from the last of them. forgotten_at: when the owner last had it forgotten; answers
    before count no longer. Raises ValueError for places that could hide a failure.
    """

    prints: int = 0
    places: EvidenceMap = ()
    learnt_at: datetime | None = None
    forgotten_at: datetime | None = None

    def __post_init__(self) -> None:
        known = [place for row in self.places for place in row]
        if not is_rectangular(self.places) or self.prints < 0:
            raise ValueError("a map has equal rows, and prints are counted from 0")
        if any(not -FARTHEST <= place <= MAX_LEARNT_LOGIT for place in known):
            raise ValueError(f"a place is learnt as -{FARTHEST:g} to {MAX_LEARNT_LOGIT:g}")

    @property
    def is_used(self) -> bool:
        """Whether prints are compared with it."""
        return self.prints >= FEWEST_PRINTS and bool(self.places)


def ended_well(memory: WatchMemory, answer: Judgement | None) -> bool:
    """Whether a print that was completed shows how good prints look.

    It was never warned of, or its owner said that this was wrong; and it looked good at its end.
    """
    if answer is not None:
        return not answer.was_failure
    was_alarmed = memory.warned_at is not None or memory.paused_at is not None
    return not was_alarmed and bool(memory.history) and memory.history[-1] < _GOOD_SCORE


def learnt(background: CameraBackground, memory: WatchMemory, at: datetime) -> CameraBackground:
    """Take a print that ended well into account."""
    appearance = memory.context.appearance
    if len(appearance.first) < FIRST_PICTURES or not appearance.oddest:
        return background
    shown = tuple(
        tuple(max(-FARTHEST, min(MAX_LEARNT_LOGIT, place)) for place in row)
        for row in appearance.oddest
    )
    before = background.places
    if not before or not have_same_shape(before, shown):
        return replace(background, prints=1, places=shown, learnt_at=at)
    share = 1 / min(_REMEMBERED, background.prints + 1)
    places = tuple(
        tuple(
            round(known + share * (place - known), _DIGITS)
            for known, place in zip(knowns, row, strict=True)
        )
        for knowns, row in zip(before, shown, strict=True)
    )
    return replace(background, prints=background.prints + 1, places=places, learnt_at=at)


def begun(memory: WatchMemory, background: CameraBackground) -> WatchMemory:
    """Return the memory for the first look at a print; one that was looked at stays as it is."""
    if memory.looked_at is not None or not background.is_used:
        return memory
    appearance = Appearance(oddest=background.places)
    return replace(memory, context=replace(memory.context, appearance=appearance))


def still_counting(
    judgements: Iterable[Judgement], background: CameraBackground
) -> list[Judgement]:
    """Return the answers that the owner has not had forgotten."""
    since = background.forgotten_at
    return [one for one in judgements if since is None or one.at > since]
