"""Detects when the first and the third layer of a print are done.

A layer counts as done once the print has been above it for ten seconds: a Z hop or a number that
flickers is no new layer. For platforms that report no layers they are estimated from the nozzle's
height.
"""

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final

STABLE_S: Final = 10.0

_FIRST, _THIRD = 1, 3
# A layer that was passed during a gap is not reported once the print has reached this layer.
_FIRST_IS_OLD, _THIRD_IS_OLD = 5, 8
_LOWEST_MM: Final = 0.05
"""A nozzle below this is homing or probing."""
_HIGHEST_MM: Final = 10_000.0
"""No printer is higher; a larger value is damaged."""
_FIRST_LAYER_MM: Final = 1.0
"""The thickest first layer that is believed."""
_STEP_MM: Final = 0.2
"""The layer height that is assumed until the print's own is known."""
_STEPS_MM: Final = (0.05, 0.8)
_PARKED_MM: Final = 2.0
"""Before the first layers are done, a nozzle this far above the first layer is parked."""


class LayerDone(Enum):
    FIRST = auto()
    THIRD = auto()


@dataclass(frozen=True, kw_only=True, slots=True)
class LayerMemory:
    """The memory of a print's layers.

    since: when the print came above the next layer of interest; None while it is not above.
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
    memory: LayerMemory, layer: int | None, at: float, *, has_gap: bool = False
) -> tuple[LayerMemory, LayerDone | None]:
    """Update the memory by the current layer, counted from 1; also return a layer that is done.

    has_gap: the printer was not observed for a while.
    """
    if has_gap and layer is not None:
        memory = replace(
            memory,
            is_first_done=memory.is_first_done or layer > _FIRST_IS_OLD,
            is_third_done=memory.is_third_done or layer > _THIRD_IS_OLD,
        )
    if memory.is_third_done:
        return memory, None
    next_layer = _THIRD if memory.is_first_done else _FIRST
    if layer is None or layer <= next_layer:
        return replace(memory, since=None, window_mm=None), None
    if memory.since is None or memory.since > at:
        return replace(memory, since=at), None
    if at - memory.since < STABLE_S:
        return memory, None
    if next_layer == _THIRD:
        return replace(memory, is_third_done=True, since=None, window_mm=None), LayerDone.THIRD
    step_mm = _step_of(memory)
    done = replace(memory, is_first_done=True, since=None, window_mm=None, step_mm=step_mm)
    return done, LayerDone.FIRST


def estimate_layer(memory: LayerMemory, height_mm: float) -> tuple[LayerMemory, int | None]:
    """Estimate the layer from the height of a hot, printing nozzle; None where it can't be told."""
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
