"""Smart pause: the state that is saved, and the commands that pause and restore.

OctoPrint has no smart pause, so it is made of G-code that is sent while the print is paused.
Commands and the lines of the print go through one queue: what is sent before a resume is carried
out before it.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from printreach.contract.commands import Pause
from printreach.printers import loose
from printreach.printers.loose import Json
from printreach.printers.print_progress import (
    UNKNOWN_PROGRESS,
    PrintProgress,
    PrintReport,
    parse_progress,
    positions,
)
from printreach.printers.saved_state import SavedStateStore, distance_mm
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits, restore_problem

from .translate import KnownState, is_fully_paused, job_path

STORE = "octoprint-smart-pause.json"
LIFT_MM_PER_MIN = 300  # slow enough for a Z axis on threaded rods
RETRACT_MM_PER_MIN = 1200
CLOSE_ENOUGH_C = 3.0
MAX_TARGET_C = 500.0
"""Hotter than any hotend gets."""

_PRINT_MARKS = frozenset({"print", "pause", "resume", "cancel", "done"})
_MODE = re.compile(rb"^[ \t]*(M82|M83|G1[ \t][^;\r\n]*?E[-+.0-9])", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedState:
    """The changes that a smart pause made.

    path: of the print's file. progress: of the print then. targets: the heaters that were turned
    off, by OctoPrint's names. has_tools: the printer has several, so that a hotend has to be named
    by its number. is_relative: the print gives its filament in relative lengths (M83).
    """

    path: str
    targets: dict[str, float]
    lift_mm: int
    retract_mm: int
    has_tools: bool
    is_relative: bool
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

    def without_moves(self) -> "SavedState":
        """Return the temperatures alone; setting them twice does no harm."""
        return replace(self, lift_mm=0, retract_mm=0)


def plan_saved_state(
    order: Pause,
    path: str,
    targets: dict[str, float],
    *,
    has_tools: bool,
    is_relative: bool,
    limits: CommandLimits = DEFAULT_LIMITS,
) -> SavedState:
    """Return what is to be turned off; not what a resume wouldn't be allowed to heat again.

    targets: of all heaters that are on.
    """

    def is_turned_off(heater: str) -> bool:
        if heater == "bed":
            return order.disable_bed and targets[heater] <= limits.bed_c
        return order.disable_hotend and targets[heater] <= limits.hotend_c

    return SavedState(
        path=path,
        targets={
            heater: target
            for heater, target in targets.items()
            if _is_known(heater) and is_turned_off(heater)
        },
        lift_mm=order.z_lift_mm,
        retract_mm=order.retract_filament_mm,
        has_tools=has_tools,
        is_relative=is_relative,
    )


def pause_commands(saved: SavedState) -> list[str]:
    """Return the commands of a smart pause: retract while hot, then lift, then turn off heaters."""
    moves = _moves(saved, lift_mm=saved.lift_mm, extrude_mm=-saved.retract_mm)
    return [*moves, *(_heat(heater, 0, saved) for heater in saved.targets)]


def heat_commands(saved: SavedState) -> list[str]:
    """Return the commands that heat everything again, and don't wait for it: what is queued after
    a command that waits would still be carried out after a cancel."""
    return [_heat(heater, target, saved) for heater, target in saved.targets.items()]


def move_back_commands(saved: SavedState) -> list[str]:
    """Return the commands that lower the nozzle and unretract, for when it is warm."""
    return _moves(saved, lift_mm=-saved.lift_mm, extrude_mm=saved.retract_mm)


def is_warm(saved: SavedState, temps: Json) -> bool:
    """temps: of all heaters, as OctoPrint tells them."""
    return all(
        (loose.number(loose.obj(temps, heater), "actual") or 0.0) >= target - CLOSE_ENOUGH_C
        for heater, target in saved.targets.items()
    )


def limit_problem(saved: SavedState, limits: CommandLimits) -> str | None:
    hotends = [target for heater, target in saved.targets.items() if heater != "bed"]
    return restore_problem(
        limits,
        hotend_c=max(hotends, default=0.0),
        bed_c=saved.targets.get("bed", 0.0),
        lift_mm=saved.lift_mm,
        retract_mm=saved.retract_mm,
    )


def parse_saved_state(stored: object) -> SavedState | None:
    """Decode a stored state; None where it can't be read."""
    targets = loose.obj(stored, "targets")
    path = loose.text(stored, "path")
    if path is None:
        return None
    found = {heater: loose.number(targets, heater) for heater in targets}
    return SavedState(
        path=path,
        targets={
            heater: target
            for heater, target in found.items()
            if target and 1 <= target <= MAX_TARGET_C and _is_known(heater)
        },
        lift_mm=distance_mm(stored, "lift_mm"),
        retract_mm=distance_mm(stored, "retract_mm"),
        has_tools=loose.flag(stored, "has_tools") or False,
        is_relative=loose.flag(stored, "is_relative") or False,
        progress=parse_progress(stored),
    )


class ModeSearch:
    """Finds whether a file uses relative extrusion: its last M82 or M83 before it extrudes.

    Firmware does not report its extrusion mode, and has to be put back into it.
    """

    def __init__(self) -> None:
        self.is_relative = False
        self._rest = b""

    def feed(self, data: bytes) -> bool:
        """Read on; True once the mode is known."""
        lines, newline, self._rest = (self._rest + data).rpartition(b"\n")
        for found in _MODE.finditer(lines + newline):
            if found[1].startswith(b"G1"):
                return True
            self.is_relative = found[1] == b"M83"
        self._rest = self._rest[-1024:]  # no line of G-code is longer
        return False


def saved_state_store(folder: Path) -> SavedStateStore[SavedState]:
    """Return the store, which keeps the state across a restart of the agent during a pause."""
    return SavedStateStore(folder / STORE, parse_saved_state)


def _is_known(heater: str) -> bool:
    return heater == "bed" or re.fullmatch(r"tool[0-9]{1,2}", heater, re.ASCII) is not None


def _heat(heater: str, target: float, saved: SavedState) -> str:
    return _order("M140" if heater == "bed" else "M104", heater, target, saved)


def _order(code: str, heater: str, target: float, saved: SavedState) -> str:
    tool = f" T{heater.removeprefix('tool')}" if saved.has_tools and heater != "bed" else ""
    return f"{code}{tool} S{target:g}"


def _moves(saved: SavedState, *, lift_mm: int, extrude_mm: int) -> list[str]:
    """Return relative moves, with the change of mode before and the change back after."""
    retract = [f"G1 E{extrude_mm} F{RETRACT_MM_PER_MIN}"] if extrude_mm else []
    lift = [f"G1 Z{lift_mm} F{LIFT_MM_PER_MIN}"] if lift_mm else []
    if not retract and not lift:
        return []
    moves = [*lift, *retract] if lift_mm < 0 else [*retract, *lift]
    # G91 and G90 change the extruder's mode too, so M82 or M83 has to come last.
    return ["G91", "M83", *moves, "G90", "M83" if saved.is_relative else "M82"]


def print_report(known: KnownState) -> PrintReport | None:
    """The print as it is now; None while OctoPrint has no connection to the printer."""
    if known.condition.state is None:
        return None
    reported = loose.obj(known.now, "progress")
    return PrintReport(
        state=known.condition.state,
        is_paused=is_fully_paused(known),
        path=job_path(known) or "",
        progress=PrintProgress(
            duration_s=loose.number(reported, "printTime"),
            began_s=_pause_began_s(known),
            position=positions(loose.number(reported, "filepos")),
        ),
    )


def _pause_began_s(known: KnownState) -> float | None:
    """Return when the present pause began, by OctoPrint's clock; None where it doesn't tell.

    OctoPrint marks it for the chart of its page, in memory alone and for half an hour at least.
    Source: standard.py of 1.11.8.
    """
    marks = loose.items(known.now, "markings")
    latest = next(
        (mark for mark in reversed(marks) if loose.text(mark, "type") in _PRINT_MARKS), None
    )
    return loose.number(latest, "time") if loose.text(latest, "type") == "pause" else None
