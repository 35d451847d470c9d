"""The fields of an event that describe its print, within the bounds of the contract."""

import math
from typing import Final, TypedDict

from printreach.contract.events import LATEST_UNIX_TIME, MAX_TEXT
from printreach.contract.status import CurrentPrint, State
from printreach.contract.unset import UNSET, UnsetType
from printreach.rules.prints import PrintObservation, TrackedPrint
from printreach.rules.safe_text import readable

_MAX: Final = 2**31 - 1
_MAX_MM: Final = 10_000.0


class Facts(TypedDict):
    """Fields of PrintEvent that describe the print."""

    print_id: str
    file_name: str | UnsetType
    duration_sec: int | UnsetType
    progress: int | UnsetType
    time_remaining_sec: int | UnsetType
    z_offset_mm: float | UnsetType
    current_layer: int | UnsetType
    total_layers: int | UnsetType
    print_started_at_sec: int | UnsetType
    filament_used_mm: int | UnsetType
    filament_used_mg: int | UnsetType
    estimated_total_sec: int | UnsetType


def facts_of(tracked: TrackedPrint, observation: PrintObservation) -> Facts:
    """Return what this observation tells of the print, cut to what the contract allows."""
    now = observation.job.current_print
    progress = (
        100.0 if observation.job.state is State.COMPLETE else min(100.0, max(0.0, now.progress))
    )
    weight_mg = now.est_total_fil_weight_mg
    return Facts(
        print_id=tracked.print_id,
        file_name=readable(tracked.file_name or now.file_name, MAX_TEXT) or UNSET,
        duration_sec=_count(now.duration_sec),
        progress=int(progress),
        time_remaining_sec=_count(now.time_left_sec),
        z_offset_mm=_offset(observation.z_offset_mm),
        current_layer=_count(now.current_layer),
        total_layers=_count(now.total_layers),
        print_started_at_sec=tracked.started_at
        if 0 < tracked.started_at <= LATEST_UNIX_TIME
        else UNSET,
        filament_used_mm=_used(now.est_total_fil_used_mm, progress),
        filament_used_mg=UNSET if isinstance(weight_mg, UnsetType) else _used(weight_mg, progress),
        estimated_total_sec=_total(now, observation.job.state),
    )


def _count(value: int | None) -> int | UnsetType:
    return UNSET if value is None else min(max(0, value), _MAX)


def _offset(value: float | None) -> float | UnsetType:
    if value is None or not math.isfinite(value) or abs(value) > _MAX_MM:
        return UNSET
    return value


def _used(total: int, progress: float) -> int | UnsetType:
    """Return how much of an estimate is used by now; UNSET where the estimate is 0 (unknown)."""
    return _count(int(min(total, _MAX) * progress / 100)) if total > 0 else UNSET


def _total(now: CurrentPrint, state: State) -> int | UnsetType:
    if state is State.COMPLETE:
        return _count(now.duration_sec)
    return UNSET if now.time_left_sec is None else _count(now.duration_sec + now.time_left_sec)
