"""The appearance of a print: its score, and how much worse it is than at the start.

The model's score of one image means little across scenes: some good prints always look odd. So a
print is also compared with its own first images, as a whole and place by place. Since prints grow,
the reference follows while the print looks good, or looks worse so slowly that it may be growth.
"""

import heapq
import math
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

EvidenceMap: TypeAlias = tuple[tuple[float, ...], ...]
"""Rows of places that cover the whole image from its upper left corner."""

FARTHEST: Final = 7.0
"""The bound of a logit."""
_STRONGEST: Final = 4
"""The number of strongest places that decide, as for an image's score."""
_DOWNWARDS: Final = 0.2
_DIGITS: Final = 2
"""The digits that are stored; more take space and mean nothing."""


def is_rectangular(places: EvidenceMap) -> bool:
    """Whether all rows have the same number of places, and at least one.

    An empty map counts, too.
    """
    lengths = {len(row) for row in places}
    return len(lengths) <= 1 and 0 not in lengths


def have_same_shape(one: EvidenceMap, other: EvidenceMap) -> bool:
    """Whether two maps can be compared place by place."""
    return len(one) == len(other) and list(map(len, one)) == list(map(len, other))


def logit(probability: float, farthest: float = FARTHEST) -> float:
    """Return the logit of a probability; 0 for NaN, which is neither good nor bad."""
    if math.isnan(probability):
        return 0.0
    bounded = max(1e-9, min(1 - 1e-9, probability))
    return max(-farthest, min(farthest, math.log(bounded / (1 - bounded))))


def logits(evidence: EvidenceMap) -> EvidenceMap:
    """Return the logits of the probabilities in a map."""
    return tuple(tuple(round(logit(place), _DIGITS) for place in row) for row in evidence)


def oddest(before: EvidenceMap, now: EvidenceMap) -> EvidenceMap:
    """Return the highest logit of each place and its neighbours, now or before."""
    around = _widened(now)
    if not before:
        return around
    return tuple(tuple(map(max, *rows)) for rows in zip(before, around, strict=True))


def moved_towards(before: EvidenceMap, now: EvidenceMap, share: float) -> EvidenceMap:
    """Move the highest logits towards the present ones of each place and its neighbours.

    share: the weight upwards; downwards it is smaller, since a print head returns.
    """
    return tuple(
        tuple(_nearer(most, place, share) for most, place in zip(mosts, row, strict=True))
        for mosts, row in zip(before, _widened(now), strict=True)
    )


def rise(before: EvidenceMap, now: EvidenceMap) -> float:
    """Return how much the most changed places exceed their highest logit so far."""
    rises = (
        place - most
        for row, mosts in zip(now, before, strict=True)
        for place, most in zip(row, mosts, strict=True)
    )
    strongest = heapq.nlargest(_STRONGEST, rises)
    return sum(strongest) / len(strongest)


def _nearer(most: float, place: float, share: float) -> float:
    slowed = share if place > most else share * _DOWNWARDS
    return round(most + slowed * (place - most), _DIGITS)


def _widened(places: EvidenceMap) -> EvidenceMap:
    """Return the highest of each place and the eight around it."""
    across = [tuple(map(max, row, (row[0], *row), (*row[1:], row[-1]))) for row in places]
    down = zip(across, (across[0], *across), (*across[1:], across[-1]), strict=False)
    return tuple(tuple(map(max, *rows)) for rows in down)


FIRST_PICTURES: Final = 4
"""A print that fails from its start soon looks worse than its first 80 seconds."""
_MEAN_OVER_S: Final = 30.0
_MIN_SHARE, _GREATEST_SHARE = 0.3, 0.7
"""The least and greatest weight of one image in the means, whatever the interval."""
_FARTHEST_MEAN: Final = 4.5
_FOLLOWS_OVER_S: Final = 100.0
_GOOD_LOGIT: Final = 0.0
"""Below this a print looks good: it is a score of 50, where PrintQuality is 6."""
_GROWTH_RISE: Final = 1.5
_GROWTH_MEAN: Final = 1.5
"""Below both a print that looks worse than at its start may just have grown. A failure shows within
a few images, and those that are seen look worse than this by themselves (a probability of 0.82)."""

_GAIN: Final = 1.5
_MAX_RISE, _MAX_FALL = 3.0, 2.0
"""The bounds for one image, so that a single one is no failure."""
_USUAL_LOGIT: Final = 0.0
_ODD_DISCOUNT: Final = 1.6
_MAX_ODD_SCORE: Final = 1.2
"""A print that looked odd from its start must look worse than others, up to this bound: one that
fails from its start looks odd, too, and is caught by its score alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Appearance:
    """The appearance of a print since its scene last changed.

    first: logits of its first images. oddest: the highest logit of each place in them. mean: the
    weighted mean of all logits, None before the first. risen: the weighted mean of how much odder
    the places became with each image. Raises ValueError for values out of range.
    """

    first: tuple[float, ...] = ()
    oddest: EvidenceMap = ()
    mean: float | None = None
    risen: float = 0.0

    def __post_init__(self) -> None:
        known = (self.mean or 0.0, *self.first, *(place for row in self.oddest for place in row))
        if not is_rectangular(self.oddest) or max(map(abs, known)) > FARTHEST:
            raise ValueError(f"a map of logits has equal rows, and none is beyond {FARTHEST:g}")
        if not -_MAX_FALL <= self.risen <= _MAX_RISE:
            raise ValueError(f"nothing falls by {_MAX_FALL:g} or rises by {_MAX_RISE:g}")

    @property
    def score(self) -> int:
        """0 to 100, 0 the best."""
        return round(100 / (1 + math.exp(-self._combined)))

    @property
    def _combined(self) -> float:
        """The combination of how bad the print looks and how much worse than at its start."""
        if self.mean is None or not self.first:
            return -FARTHEST
        odd = max(0.0, min(_MAX_ODD_SCORE, _median(self.first) - _USUAL_LOGIT))
        return self.mean + _GAIN * self.risen - _ODD_DISCOUNT * odd

    @property
    def _may_be_growth(self) -> bool:
        is_slow = self.risen < _GROWTH_RISE
        return self.mean is not None and is_slow and self.mean < _GROWTH_MEAN

    def forgiven(self) -> "Appearance":
        """Return the appearance without its recent images."""
        return replace(self, mean=None, risen=0.0)

    def then(self, probability: float, evidence: EvidenceMap, step_s: float) -> "Appearance":
        """Take an image into account that came step_s after the one before."""
        now, places = logit(probability, _FARTHEST_MEAN), logits(evidence)
        if self.oddest and places and not have_same_shape(self.oddest, places):
            return Appearance().then(probability, evidence, step_s)
        risen = self._rise_to(now, places)
        if self.mean is None:
            after = replace(self, mean=now, risen=risen)
        else:
            share = max(_MIN_SHARE, min(_GREATEST_SHARE, _share(step_s, _MEAN_OVER_S)))
            after = replace(
                self,
                mean=self.mean + share * (now - self.mean),
                risen=self.risen + share * (risen - self.risen),
            )
        return after._compared_with(now, places, step_s)

    def _rise_to(self, now: float, places: EvidenceMap) -> float:
        if not self.first:
            return 0.0
        has_maps = bool(self.oddest and places)
        risen = rise(self.oddest, places) if has_maps else now - _median(self.first)
        return max(-_MAX_FALL, min(_MAX_RISE, risen))

    def _compared_with(self, now: float, places: EvidenceMap, step_s: float) -> "Appearance":
        """Update what later images are compared with."""
        if len(self.first) < FIRST_PICTURES:
            return replace(
                self,
                first=(*self.first, now),
                oddest=oddest(self.oddest, places) if places else self.oddest,
            )
        if self._combined >= _GOOD_LOGIT and not self._may_be_growth:
            return self
        share = _share(step_s, _FOLLOWS_OVER_S)
        has_maps = bool(self.oddest and places)
        return replace(
            self,
            first=tuple(each + share * (now - each) for each in self.first),
            oddest=moved_towards(self.oddest, places, share) if has_maps else self.oddest,
        )


def _share(step_s: float, over_s: float) -> float:
    """Return the weight of one step in a mean over that time."""
    return 1 - math.exp(-step_s / over_s)


def _median(logits: tuple[float, ...]) -> float:
    """Return the middle value, or the mean of the middle two: one odd image doesn't move it far."""
    ordered, half = sorted(logits), len(logits) // 2
    return (ordered[half] + ordered[-half - 1]) / 2
