"""Smart pause: what a print needs no more while it rests, and how it gets it back.

OctoPrint has no such thing, so it is made of G-code, sent while the print is paused. Commands and
the lines of the print go through one queue: what is sent before a resume is carried out before it.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from printreach.contract.commands import Pause
from printreach.printers import loose
from printreach.printers.rests import RestStore, distance_mm

STORE = "octoprint-smart-pause.json"
LIFT_MM_PER_MIN = 300  # slow enough for a Z axis on threaded rods
RETRACT_MM_PER_MIN = 1200
MAX_TARGET_C = 500.0
"""Hotter than any hotend gets."""

_MODE = re.compile(rb"^[ \t]*(M82|M83|G1[ \t][^;\r\n]*?E[-+.0-9])", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """What was taken from a print.

    path: of its file. targets: the heaters that were turned off, by OctoPrint's names.
    has_tools: the printer has several, so that a hotend has to be named by its number.
    is_relative: the print gives its filament in relative lengths (M83).
    """

    path: str
    targets: dict[str, float]
    lift_mm: int
    retract_mm: int
    has_tools: bool
    is_relative: bool

    @property
    def is_nothing(self) -> bool:
        return not (self.targets or self.lift_mm or self.retract_mm)

    def without_moves(self) -> "Rest":
        """The heat alone; heating what is hot does no harm."""
        return replace(self, lift_mm=0, retract_mm=0)


def plan_rest(
    order: Pause, path: str, targets: dict[str, float], *, has_tools: bool, is_relative: bool
) -> Rest:
    """targets: of all heaters that are on."""

    def is_turned_off(heater: str) -> bool:
        return order.disable_bed if heater == "bed" else order.disable_hotend

    return Rest(
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


def commands_to_rest(rest: Rest) -> list[str]:
    """Retract while it is hot, then lift, then let it cool."""
    moves = _moves(rest, lift_mm=rest.lift_mm, extrude_mm=-rest.retract_mm)
    return [*moves, *(_heat(heater, 0, rest) for heater in rest.targets)]


def commands_to_wake(rest: Rest) -> list[str]:
    """Heat everything at once, wait for it, then come down and give the filament back."""
    heats = [_heat(heater, target, rest) for heater, target in rest.targets.items()]
    waits = [_await_heat(heater, target, rest) for heater, target in rest.targets.items()]
    moves = _moves(rest, lift_mm=-rest.lift_mm, extrude_mm=rest.retract_mm)
    return [*heats, *waits, *moves]


def rest_of(told: object) -> Rest | None:
    """What was remembered; None where that isn't legible."""
    targets = loose.obj(told, "targets")
    path = loose.text(told, "path")
    if path is None:
        return None
    found = {heater: loose.number(targets, heater) for heater in targets}
    return Rest(
        path=path,
        targets={
            heater: target
            for heater, target in found.items()
            if target and 1 <= target <= MAX_TARGET_C and _is_known(heater)
        },
        lift_mm=distance_mm(told, "lift_mm"),
        retract_mm=distance_mm(told, "retract_mm"),
        has_tools=loose.flag(told, "has_tools") or False,
        is_relative=loose.flag(told, "is_relative") or False,
    )


class ModeSearch:
    """Whether a file gives filament in relative lengths: its last M82 or M83 before it extrudes.

    Firmware tells nobody which mode it is in, and has to be put back into it.
    """

    def __init__(self) -> None:
        self.is_relative = False
        self._rest = b""

    def feed(self, data: bytes) -> bool:
        """True once it is known."""
        whole, newline, self._rest = (self._rest + data).rpartition(b"\n")
        for found in _MODE.finditer(whole + newline):
            if found[1].startswith(b"G1"):
                return True
            self.is_relative = found[1] == b"M83"
        self._rest = self._rest[-1024:]  # no line of G-code is longer
        return False


def rest_store(folder: Path) -> RestStore[Rest]:
    """Remembers a rest across a restart of the agent, which may come in the middle of a pause."""
    return RestStore(folder / STORE, rest_of)


def _is_known(heater: str) -> bool:
    return heater == "bed" or re.fullmatch(r"tool[0-9]{1,2}", heater, re.ASCII) is not None


def _heat(heater: str, target: float, rest: Rest) -> str:
    return _order("M140" if heater == "bed" else "M104", heater, target, rest)


def _await_heat(heater: str, target: float, rest: Rest) -> str:
    return _order("M190" if heater == "bed" else "M109", heater, target, rest)


def _order(code: str, heater: str, target: float, rest: Rest) -> str:
    tool = f" T{heater.removeprefix('tool')}" if rest.has_tools and heater != "bed" else ""
    return f"{code}{tool} S{target:g}"


def _moves(rest: Rest, *, lift_mm: int, extrude_mm: int) -> list[str]:
    """Relative moves, between a change of mode and the way back from it."""
    retract = [f"G1 E{extrude_mm} F{RETRACT_MM_PER_MIN}"] if extrude_mm else []
    lift = [f"G1 Z{lift_mm} F{LIFT_MM_PER_MIN}"] if lift_mm else []
    if not retract and not lift:
        return []
    moves = [*lift, *retract] if lift_mm < 0 else [*retract, *lift]
    # G91 and G90 change the extruder's mode too, so M82 or M83 has to come last.
    return ["G91", "M83", *moves, "G90", "M83" if rest.is_relative else "M82"]
