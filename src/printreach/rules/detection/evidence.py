"""Evidence maps: where in an image a print looks like a failure, compared with earlier images.

A place that looks odd for the first time means more than a place that always did, such as a
cable or infill. The bed moves between two images, so a place is also compared with its neighbours.
"""

import heapq
import math
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
