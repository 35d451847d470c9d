"""Smart pause: the state that is saved, and the checks that resuming needs.

Klipper keeps the heaters as they are in a pause, so a smart pause is made of G-code. The agent
waits for the heat by observing it, not by a command that waits: during such a command Klipper would
accept no other, not even a cancel.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from printreach.contract.commands import Pause
from printreach.contract.status import State
from printreach.printers import loose
from printreach.printers.print_progress import (
    UNKNOWN_PROGRESS,
    PrintProgress,
    PrintReport,
    parse_progress,
    positions,
)
from printreach.printers.saved_state import SavedStateStore, distance_mm, target_c
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits, restore_problem

from .status import KnownState, active_extruder, obj, print_path, state_of

STORE = "moonraker-smart-pause.json"
CLOSE_ENOUGH_C = 3.0
BED = "heater_bed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedState:
    """The changes that a smart pause made.

    path: of the print's file. progress: of the print then. targets: of heaters turned off.
    """

    path: str
    targets: dict[str, float]
    lift_mm: int
    retract_mm: int
    progress: PrintProgress = UNKNOWN_PROGRESS

    @property
    def is_empty(self) -> bool:
        return not (self.has_heat or self.has_moves)

    @property
    def has_heat(self) -> bool:
        return bool(self.targets)

    @property
    def has_moves(self) -> bool:
        return bool(self.lift_mm or self.retract_mm)


def targets_of(known: KnownState) -> dict[str, float]:
    """Return the targets of the active hotend and the bed, where they are on."""
    found = {
        heater: loose.number(obj(known, heater), "target") or 0.0
        for heater in (active_extruder(known), BED)
        if heater is not None
    }
    return {heater: target for heater, target in found.items() if target > 0}


def plan_saved_state(
    order: Pause,
    path: str,
    targets: Mapping[str, float],
    limits: CommandLimits = DEFAULT_LIMITS,
) -> SavedState:
    """Return what is to be turned off; not what a resume wouldn't be allowed to heat again.

    targets: as they were before the pause, since a printer's own pause may change them.
    """

    def is_turned_off(heater: str) -> bool:
        if heater == BED:
            return order.disable_bed and targets[heater] <= limits.bed_c
        return order.disable_hotend and targets[heater] <= limits.hotend_c

    return SavedState(
        path=path,
        targets={heater: target for heater, target in targets.items() if is_turned_off(heater)},
        lift_mm=order.z_lift_mm,
        retract_mm=order.retract_filament_mm,
    )


def is_warm(saved: SavedState, known: KnownState) -> bool:
    return all(
        (loose.number(obj(known, heater), "temperature") or 0.0) >= target - CLOSE_ENOUGH_C
        for heater, target in saved.targets.items()
    )


def limit_problem(saved: SavedState, limits: CommandLimits) -> str | None:
    hotends = [target for heater, target in saved.targets.items() if heater != BED]
    return restore_problem(
        limits,
        hotend_c=max(hotends, default=0.0),
        bed_c=saved.targets.get(BED, 0.0),
        lift_mm=saved.lift_mm,
        retract_mm=saved.retract_mm,
    )


def print_report(known: KnownState) -> PrintReport:
    """The print as it is now."""
    state = state_of(known)
    return PrintReport(
        state=state,
        is_paused=state is State.PAUSED,
        path=print_path(known),
        progress=PrintProgress(
            duration_s=loose.number(obj(known, "print_stats"), "total_duration"),
            began_s=known.began_s,
            position=positions(loose.number(obj(known, "virtual_sdcard"), "file_position")),
        ),
    )


def parse_saved_state(stored: object) -> SavedState | None:
    """Decode a stored state; None where it can't be read."""
    path = loose.text(stored, "path")
    if path is None:
        return None
    targets = loose.obj(stored, "targets")
    found = {heater: target_c(targets, heater) for heater in targets}
    return SavedState(
        path=path,
        targets={
            heater: target
            for heater, target in found.items()
            if target and heater.replace("_", "").isalnum()
        },
        lift_mm=distance_mm(stored, "lift_mm"),
        retract_mm=distance_mm(stored, "retract_mm"),
        progress=parse_progress(stored),
    )


def saved_state_store(folder: Path) -> SavedStateStore[SavedState]:
    """Return the store, which keeps the state across a restart of the agent during a pause."""
    return SavedStateStore(folder / STORE, parse_saved_state)
