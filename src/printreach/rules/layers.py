"""When the first and the third layer of a print are done.

A layer counts as done once the print has been above it for ten seconds: a nozzle that hops, or a
number that flickers, is no new layer. Where a platform tells no layers they are reckoned from the
nozzle's height.
"""

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final

STABLE_S: Final = 10.0

_FIRST, _THIRD = 1, 3
# What was passed while nobody looked is no news once it is as far behind as this.
_FIRST_IS_OLD, _THIRD_IS_OLD = 5, 8
_LOWEST_MM: Final = 0.05
"""Less is a nozzle that homes or probes."""
_HIGHEST_MM: Final = 10_000.0
"""No printer is higher; what says so is damaged."""
_FIRST_LAYER_MM: Final = 1.0
"""No first layer is thicker."""
_STEP_MM: Final = 0.2
"""Of a layer, until the print's own is known."""
_STEPS_MM: Final = (0.05, 0.8)
_PARKED_MM: Final = 2.0
"""A nozzle so far above the first layer is parked, before the first layers are done."""


class LayerDone(Enum):
    FIRST = auto()
    THIRD = auto()


@dataclass(frozen=True, kw_only=True, slots=True)
class LayerMemory:
    """since: when the print came above the next layer of interest, if it is.

    lowest_mm: the height of the first layer. step_mm: of the others. window_mm: the least height
    since then; each None until it is known.
    """

    is_first_done: bool = False
    is_third_done: bool = False
    since: float | None = None
    lowest_mm: float | None = None
    step_mm: float | None = None
    window_mm: float | None = None


def observe_layer(
    memory: LayerMemory, layer: int | None, at: float, *, was_away: bool = False
) -> tuple[LayerMemory, LayerDone | None]:
    """The layer that a print is at, counted from 1. was_away: nobody looked for a while."""
    if was_away and layer is not None:
        memory = replace(
            memory,
            is_first_done=memory.is_first_done or layer > _FIRST_IS_OLD,
            is_third_done=memory.is_third_done or layer > _THIRD_IS_OLD,
        )
    if memory.is_third_done:
        return memory, None
    awaited = _THIRD if memory.is_first_done else _FIRST
    if layer is None or layer <= awaited:
        return replace(memory, since=None, window_mm=None), None
    if memory.since is None or memory.since > at:
        return replace(memory, since=at), None
    if at - memory.since < STABLE_S:
        return memory, None
    if awaited == _THIRD:
        return replace(memory, is_third_done=True, since=None, window_mm=None), LayerDone.THIRD
    step_mm = _step_of(memory)
    done = replace(memory, is_first_done=True, since=None, window_mm=None, step_mm=step_mm)
    return done, LayerDone.FIRST


def reckon_layer(memory: LayerMemory, height_mm: float) -> tuple[LayerMemory, int | None]:
    """The layer by the height of a hot nozzle that prints; None where that tells nothing."""
    if not _LOWEST_MM <= height_mm <= _HIGHEST_MM:
        return memory, None
    lowest_mm = memory.lowest_mm
    if height_mm <= _FIRST_LAYER_MM and (lowest_mm is None or height_mm < lowest_mm):
        lowest_mm = height_mm
        memory = replace(memory, lowest_mm=lowest_mm)
    if lowest_mm is None or (not memory.is_third_done and height_mm > lowest_mm + _PARKED_MM):
        return memory, None
    layer = 1 + int((height_mm - lowest_mm) / (memory.step_mm or _STEP_MM) + 0.25)
    if layer > _FIRST and not memory.is_first_done:
        least = height_mm if memory.window_mm is None else min(memory.window_mm, height_mm)
        memory = replace(memory, window_mm=least)
    return memory, layer


def _step_of(memory: LayerMemory) -> float | None:
    if memory.lowest_mm is None or memory.window_mm is None:
        return None
    least, most = _STEPS_MM
    return min(most, max(least, memory.window_mm - memory.lowest_mm))
