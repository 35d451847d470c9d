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
from printreach.printers.saved_state import SavedStateStore, distance_mm, target_c

from .orders import extrude_lines, move_lines, temp_lines

STORE = "bambu-smart-pause.json"
CLOSE_ENOUGH_C = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedState:
    """What a smart pause changed. job: the print's id. Targets are 0 where nothing was changed."""

    job: str
    hotend_c: float
    bed_c: float
    lift_mm: int
    retract_mm: int

    @property
    def is_empty(self) -> bool:
        return not (self.hotend_c or self.bed_c or self.lift_mm or self.retract_mm)

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


def plan_saved_state(order: Pause, job: str, temps: Temps) -> SavedState:
    return SavedState(
        job=job,
        hotend_c=temps.hotend_target if order.disable_hotend else 0.0,
        bed_c=temps.bed_target if order.disable_bed else 0.0,
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


def parse_saved_state(told: object) -> SavedState | None:
    """Decode a stored state; None where it can't be read."""
    job = loose.text(told, "job")
    if job is None:
        return None
    return SavedState(
        job=job,
        hotend_c=target_c(told, "hotend_c"),
        bed_c=target_c(told, "bed_c"),
        lift_mm=distance_mm(told, "lift_mm"),
        retract_mm=distance_mm(told, "retract_mm"),
    )


def saved_state_store(folder: Path) -> SavedStateStore[SavedState]:
    """Return the store, which keeps the state across a restart of the agent during a pause."""
    return SavedStateStore(folder / STORE, parse_saved_state)
