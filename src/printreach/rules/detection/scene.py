"""Recognises changes of the whole image: a moved camera, a switched light, a blocked view.

A model that scores single images takes such changes for failures. A coarse grey image tells them
apart from what happens on the bed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from operator import mul
from typing import Final

SIDE: Final = 8
"""The width and height of a scene, in places."""

_DARK_BELOW: Final = 14.0
_BLANK_SPREAD: Final = 3.0
"""A covered lens is grey all over; no available photo of a print has a spread below 19."""
_LIT_APART: Final = 45.0
"""A guess: no recordings of a light being switched were available."""
_MOVED_LIKENESS: Final = 0.35
"""A guess: a camera that stays put keeps its background. Other cameras of one printer are alike by
-.1 to .5, photos of one camera that was turned a little each time by .5."""
_FROZEN_AFTER: Final = 3
_REMEMBERED: Final = 5
"""A hotend in front and a bed that moves change much of a picture, and come back; where a camera
was moved to is new. Of 1112 pictures of rendered prints whose camera stays put, 135 were called
moved without this memory, and 40 with it."""


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
    """The scene that later ones are compared with, and how often it was repeated exactly.

    earlier: grey images of scenes before a change, the latest first. Raises ValueError as Scene
    does.
    """

    scene: Scene
    repeats: int = 0
    earlier: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        for grey in self.earlier:
            _check_places(grey)


def compare_scene(
    seen: SceneMemory | None, scene: Scene
) -> tuple[SceneMemory | None, ViewCondition]:
    """Compare a scene with the ones before. Dark and blank ones are not remembered."""
    if _mean(scene.grey) < _DARK_BELOW:
        return seen, ViewCondition.DARK
    if _spread(scene.grey) < _BLANK_SPREAD:
        return seen, ViewCondition.BLOCKED
    if seen is None:
        return SceneMemory(scene=scene), ViewCondition.CLEAR
    if scene.digest == seen.scene.digest:
        repeats = seen.repeats + 1
        view = ViewCondition.FROZEN if repeats >= _FROZEN_AFTER else ViewCondition.CLEAR
        return replace(seen, repeats=repeats), view
    return _compared(seen, scene)


def likeness(one: Sequence[int], other: Sequence[int]) -> float:
    """Correlate two scenes: 1 for the same whatever the light, 0 for unlike ones."""
    both = sum(map(mul, one, other)) / len(one) - _mean(one) * _mean(other)
    spreads = _spread(one) * _spread(other)
    return both / spreads if spreads else 0.0


def _compared(seen: SceneMemory, scene: Scene) -> tuple[SceneMemory, ViewCondition]:
    """Compare with the scenes before. The camera was moved where the scene is like none of them."""
    before, now = seen.scene.grey, scene.grey
    if likeness(before, now) < _MOVED_LIKENESS:
        is_known = any(likeness(earlier, now) >= _MOVED_LIKENESS for earlier in seen.earlier)
        earlier = (before, *seen.earlier)[:_REMEMBERED]
        return SceneMemory(
            scene=scene, earlier=earlier
        ), ViewCondition.CLEAR if is_known else ViewCondition.MOVED
    is_relit = abs(_mean(now) - _mean(before)) > _LIT_APART
    view = ViewCondition.LIGHT_SWITCHED if is_relit else ViewCondition.CLEAR
    return SceneMemory(scene=scene, earlier=seen.earlier), view


def _check_places(grey: Sequence[int]) -> None:
    if len(grey) != SIDE * SIDE:
        raise ValueError(f"a scene has {SIDE} rows of {SIDE} places")


def _mean(grey: Sequence[int]) -> float:
    return sum(grey) / len(grey)


def _spread(grey: Sequence[int]) -> float:
    # In whole numbers, which are exact, and by the half as fast as a sum of differences.
    return math.sqrt(len(grey) * sum(map(mul, grey, grey)) - sum(grey) ** 2) / len(grey)
