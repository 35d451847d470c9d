"""Recognises changes of the whole image: a moved camera, a switched light, a blocked view.

A model that scores single images takes such changes for failures. A coarse grey image tells them
apart from what happens on the bed. A camera was moved if most edges of the background, those that
were the same in the images before, are gone in several images in a row, which are alike. A print
head or a failed print hides some of them, and the light changes how strong they are.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from operator import mul, sub
from typing import Final

SIDE: Final = 16
"""The width and height of a scene, in places."""

_DARK_BELOW: Final = 14.0
_BLANK_SPREAD: Final = 3.0
"""A covered lens is grey all over; no available photo of a print has a spread below 19."""
_LIT_APART: Final = 45.0
"""A guess: no recordings of a light being switched were available."""
_FROZEN_AFTER: Final = 3

_REMEMBERED: Final = 6
_KNOWN_FROM: Final = 5
"""With fewer images it is not known what belongs to the background."""
_MOVED_AFTER: Final = 3
_SAME_BACKGROUND: Final = 0.3
"""The share of the background's edges from which on it counts as the same one.

Of 3360 pictures of rendered prints whose camera stays put, with and without failures and changes of
the light, 8 are called moved, and of 1440 of the simulated printer none. Of cameras that look
somewhere else 53 of 60 are found within 6 pictures, of those turned by a sixth of the picture 30 of
40, by a twelfth 11 of 40. Comparing whole pictures called 42 and 105 moved.
"""
_ALIKE: Final = 0.6
"""The same, of images after a change: they show one scene, not something that passes by."""
_EDGE: Final = 4
"""Grey values from which a difference of neighbouring places is an edge, not noise."""
_STEADY: Final = 2.5
"""An edge belongs to the background if it is so many times as strong as it usually varies."""
_FEWEST_EDGES: Final = 12
_SAME_STRENGTH: Final = (0.45, 2.2)
_WEAKEST_LIGHT: Final = 0.08


class ViewCondition(Enum):
    """The condition of the camera's view."""

    CLEAR = "clear"
    DARK = "dark"
    BLOCKED = "blocked"
    FROZEN = "frozen"
    LIGHT_SWITCHED = "light switched"
    MOVED = "moved"


UNUSABLE_VIEWS: Final = frozenset({ViewCondition.DARK, ViewCondition.BLOCKED})
"""Views that tell nothing of the print."""
UNSEEING_VIEWS: Final = UNUSABLE_VIEWS | {ViewCondition.FROZEN}
"""Views in which the watch sees nothing of the print as it is now, so they give no verdict."""
INCOMPARABLE_VIEWS: Final = frozenset({ViewCondition.LIGHT_SWITCHED, ViewCondition.MOVED})
"""Views that are good, but can't be compared with those before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A coarse version of an image.

    grey: SIDE rows of SIDE places, each 0 to 255. digest: equal for identical pixels, which a live
    camera's noise never produces. Raises ValueError for another number of places.
    """

    grey: tuple[int, ...]
    digest: int

    def __post_init__(self) -> None:
        _check_places(self.grey)


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneMemory:
    """What later scenes are compared with.

    background: grey images of one scene, the latest last. doubted: of those since, that are unlike
    it. digest: of the last scene; repeats: how often it was repeated exactly. Raises ValueError as
    Scene does.
    """

    background: tuple[bytes, ...] = ()
    doubted: tuple[bytes, ...] = ()
    digest: int = -1
    repeats: int = 0

    def __post_init__(self) -> None:
        for grey in (*self.background, *self.doubted):
            _check_places(grey)

    @property
    def is_in_doubt(self) -> bool:
        """Whether the last scene is unlike those before, and nothing was decided yet."""
        return bool(self.doubted)


def compare_scene(
    seen: SceneMemory | None, scene: Scene
) -> tuple[SceneMemory | None, ViewCondition]:
    """Compare a scene with the ones before. Dark and blank ones are not remembered."""
    if _mean(scene.grey) < _DARK_BELOW:
        return seen, ViewCondition.DARK
    if _spread(scene.grey) < _BLANK_SPREAD:
        return seen, ViewCondition.BLOCKED
    if seen is None or not seen.background:
        return SceneMemory(
            background=(bytes(scene.grey),), digest=scene.digest
        ), ViewCondition.CLEAR
    if scene.digest == seen.digest:
        repeats = seen.repeats + 1
        view = ViewCondition.FROZEN if repeats >= _FROZEN_AFTER else ViewCondition.CLEAR
        return replace(seen, repeats=repeats), view
    return _compared(replace(seen, digest=scene.digest, repeats=0), bytes(scene.grey))


def kept_edges(background: Sequence[bytes], now: bytes) -> float:
    """Return the share of the background's edges that are still there, whatever the light.

    1 where too few are known. background: images of one scene.
    """
    usual = [_usual(strengths) for strengths in zip(*map(_edges, background), strict=True)]
    ratios = sorted(
        edge / strength
        for edge, (strength, varies_by) in zip(_edges(now), usual, strict=True)
        if abs(strength) > max(_EDGE, _STEADY * varies_by)
    )
    if len(ratios) < _FEWEST_EDGES:
        return 1.0
    light = _middle(ratios)
    return max(_near(ratios, light) if light > _WEAKEST_LIGHT else 0.0, _near(ratios, 1.0))


def _compared(seen: SceneMemory, now: bytes) -> tuple[SceneMemory, ViewCondition]:
    """Compare with the scenes before."""
    is_same = (
        len(seen.background) < _KNOWN_FROM or kept_edges(seen.background, now) >= _SAME_BACKGROUND
    )
    if is_same:
        is_relit = abs(_mean(now) - _mean(seen.background[-1])) > _LIT_APART
        background = (*seen.background, now)[-_REMEMBERED:]
        view = ViewCondition.LIGHT_SWITCHED if is_relit else ViewCondition.CLEAR
        return replace(seen, background=background, doubted=()), view
    doubted = (*seen.doubted, now)[-_MOVED_AFTER:]
    if len(doubted) == _MOVED_AFTER and kept_edges(doubted[:-1], now) >= _ALIKE:
        return replace(seen, background=doubted, doubted=()), ViewCondition.MOVED
    return replace(seen, doubted=doubted), ViewCondition.CLEAR


def _edges(grey: bytes) -> list[int]:
    """Return the differences between neighbouring places: to the right, and then downwards."""
    rows = (grey[at : at + SIDE] for at in range(0, len(grey), SIDE))
    across = [edge for row in rows for edge in map(sub, row[1:], row)]
    return [*across, *map(sub, grey[SIDE:], grey)]


def _usual(strengths: Iterable[int]) -> tuple[float, float]:
    """Return the middle strength of an edge, and by how much it usually differs from it."""
    ordered = sorted(strengths)
    middle = _middle(ordered)
    return middle, _middle(sorted(abs(strength - middle) for strength in ordered))


def _middle(ordered: Sequence[float]) -> float:
    half = len(ordered) // 2
    return (ordered[half] + ordered[-half - 1]) / 2


def _near(ratios: Sequence[float], light: float) -> float:
    """Return the share of edges that are about as strong as in this light."""
    least, most = (light * bound for bound in _SAME_STRENGTH)
    return sum(least < ratio < most for ratio in ratios) / len(ratios)


def _check_places(grey: Sequence[int]) -> None:
    if len(grey) != SIDE * SIDE:
        raise ValueError(f"a scene has {SIDE} rows of {SIDE} places")


def _mean(grey: Sequence[int]) -> float:
    return sum(grey) / len(grey)


def _spread(grey: Sequence[int]) -> float:
    # In whole numbers, which are exact, and by the half as fast as a sum of differences.
    return math.sqrt(len(grey) * sum(map(mul, grey, grey)) - sum(grey) ** 2) / len(grey)
