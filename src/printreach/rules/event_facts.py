"""What an event tells of its print beside what happened, within the bounds of the contract."""

import math
from typing import Final, TypedDict

from printreach.contract.events import LATEST_UNIX_TIME, MAX_TEXT
from printreach.contract.status import CurrentPrint, State
from printreach.contract.unset import UNSET, UnsetType
from printreach.rules.prints import PrintMark, Sighting

_MOST: Final = 2**31 - 1
_MOST_MM: Final = 10_000.0


class Facts(TypedDict):
    """Fields of PrintEvent."""

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


def facts_of(mark: PrintMark, seen: Sighting) -> Facts:
    """What this look at the printer knows of the print, whatever it or its agent claims."""
    now = seen.job.current_print
    progress = 100.0 if seen.job.state is State.COMPLETE else min(100.0, max(0.0, now.progress))
    weight_mg = now.est_total_fil_weight_mg
    return Facts(
        print_id=mark.print_id,
        file_name=readable(mark.file_name or now.file_name, MAX_TEXT) or UNSET,
        duration_sec=_count(now.duration_sec),
        progress=int(progress),
        time_remaining_sec=_count(now.time_left_sec),
        z_offset_mm=_offset(seen.z_offset_mm),
        current_layer=_count(now.current_layer),
        total_layers=_count(now.total_layers),
        print_started_at_sec=mark.started_at if 0 < mark.started_at <= LATEST_UNIX_TIME else UNSET,
        filament_used_mm=_used(now.est_total_fil_used_mm, progress),
        filament_used_mg=UNSET if isinstance(weight_mg, UnsetType) else _used(weight_mg, progress),
        estimated_total_sec=_total(now, seen.job.state),
    )


def readable(text: str, at_most: int) -> str:
    """Cut, and fit to be sent: no halves of characters, no control characters."""
    whole = text[:at_most].encode("utf-8", "replace").decode("utf-8")
    return "".join(one if one.isprintable() else " " for one in whole).strip()


def _count(value: int | None) -> int | UnsetType:
    return UNSET if value is None else min(max(0, value), _MOST)


def _offset(value: float | None) -> float | UnsetType:
    if value is None or not math.isfinite(value) or abs(value) > _MOST_MM:
        return UNSET
    return value


def _used(whole: int, progress: float) -> int | UnsetType:
    """What of an estimate is used up by now; 0 stands for unknown."""
    return _count(int(min(whole, _MOST) * progress / 100)) if whole > 0 else UNSET


def _total(now: CurrentPrint, state: State) -> int | UnsetType:
    if state is State.COMPLETE:
        return _count(now.duration_sec)
    return UNSET if now.time_left_sec is None else _count(now.duration_sec + now.time_left_sec)
