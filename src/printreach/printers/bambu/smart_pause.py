"""Smart pause: the state that is saved, and the G-code that pauses and restores.

The firmware keeps the temperatures in a pause and has no smart pause, so it is made of G-code.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from printreach.contract.commands import Axis, Pause, SetTemp
from printreach.contract.status import Temps
from printreach.contract.unset import UNSET
from printreach.printers import loose
from printreach.printers.print_progress import UNKNOWN_PROGRESS, PrintProgress, parse_progress
from printreach.printers.saved_state import SavedStateStore, distance_mm, target_c
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits, restore_problem

from .orders import extrude_lines, move_lines, temp_lines

STORE = "bambu-smart-pause.json"
CLOSE_ENOUGH_C = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedState:
    """The changes that a smart pause made. Targets are 0 where nothing was changed.

    job: the print's id. progress: of the print then.
    """

    job: str
    hotend_c: float
    bed_c: float
    lift_mm: int
    retract_mm: int
    progress: PrintProgress = UNKNOWN_PROGRESS

    @property
    def path(self) -> str:
        return self.job

    @property
    def is_empty(self) -> bool:
        return not (self.has_heat or self.has_moves)

    @property
    def has_heat(self) -> bool:
        return bool(self.hotend_c or self.bed_c)

    @property
    def has_moves(self) -> bool:
        return bool(self.lift_mm or self.retract_mm)

    @property
    def heat(self) -> SetTemp:
        """The targets before the pause."""
        return SetTemp(
            tool_c=self.hotend_c or UNSET,
            bed_c=self.bed_c or UNSET,
        )

    def is_warm(self, temps: Temps) -> bool:
        return (
            temps.hotend_actual >= self.hotend_c - CLOSE_ENOUGH_C
            and temps.bed_actual >= self.bed_c - CLOSE_ENOUGH_C
        )


def plan_saved_state(
    order: Pause, job: str, temps: Temps, limits: CommandLimits = DEFAULT_LIMITS
) -> SavedState:
    """Return what is to be turned off; not what a resume wouldn't be allowed to heat again."""
    is_hotend_off = order.disable_hotend and temps.hotend_target <= limits.hotend_c
    is_bed_off = order.disable_bed and temps.bed_target <= limits.bed_c
    return SavedState(
        job=job,
        hotend_c=temps.hotend_target if is_hotend_off else 0.0,
        bed_c=temps.bed_target if is_bed_off else 0.0,
        lift_mm=order.z_lift_mm,
        retract_mm=order.retract_filament_mm,
    )


def pause_lines(saved: SavedState) -> Sequence[str]:
    """Return the lines of a smart pause: retract while hot, then lift, then turn off heaters."""
    return [
        *(extrude_lines(-saved.retract_mm) if saved.retract_mm else ()),
        *(move_lines(Axis.Z, saved.lift_mm) if saved.lift_mm else ()),
        *(["M104 S0"] if saved.hotend_c else ()),
        *(["M140 S0"] if saved.bed_c else ()),
    ]


def warm_up_lines(saved: SavedState) -> Sequence[str]:
    return temp_lines(saved.heat, extruders=1)


def unpark_lines(saved: SavedState) -> Sequence[str]:
    """Return the lines that lower the nozzle and unretract, for when it is warm."""
    return [
        *(move_lines(Axis.Z, -saved.lift_mm) if saved.lift_mm else ()),
        *(extrude_lines(saved.retract_mm) if saved.retract_mm else ()),
    ]


def limit_problem(saved: SavedState, limits: CommandLimits) -> str | None:
    return restore_problem(
        limits,
        hotend_c=saved.hotend_c,
        bed_c=saved.bed_c,
        lift_mm=saved.lift_mm,
        retract_mm=saved.retract_mm,
    )


def parse_saved_state(stored: object) -> SavedState | None:
    """Decode a stored state; None where it can't be read."""
    job = loose.text(stored, "job")
    if job is None:
        return None
    return SavedState(
        job=job,
        hotend_c=target_c(stored, "hotend_c"),
        bed_c=target_c(stored, "bed_c"),
        lift_mm=distance_mm(stored, "lift_mm"),
        retract_mm=distance_mm(stored, "retract_mm"),
        progress=parse_progress(stored),
    )


def saved_state_store(folder: Path) -> SavedStateStore[SavedState]:
    """Return the store, which keeps the state across a restart of the agent during a pause."""
    return SavedStateStore(folder / STORE, parse_saved_state)
