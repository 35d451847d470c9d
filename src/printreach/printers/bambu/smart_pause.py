"""Smart pause: what a print needs no more while it rests, and how it gets it back.

Firmware holds the temperatures in a pause and knows nothing of this, so it is made of G-code.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from printreach.contract.commands import Axis, Pause, SetTemp
from printreach.contract.status import Temps
from printreach.contract.unset import UNSET
from printreach.printers import loose
from printreach.printers.rests import RestStore, distance_mm, target_c

from .orders import extrude_lines, move_lines, temp_lines

STORE = "bambu-smart-pause.json"
CLOSE_ENOUGH_C = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """What was taken from a print. job: which. Targets are 0 for what was left as it was."""

    job: str
    hotend_c: float
    bed_c: float
    lift_mm: int
    retract_mm: int

    @property
    def is_nothing(self) -> bool:
        return not (self.hotend_c or self.bed_c or self.lift_mm or self.retract_mm)

    @property
    def heat(self) -> SetTemp:
        """The targets that the print had."""
        return SetTemp(
            tool_c=self.hotend_c or UNSET,
            bed_c=self.bed_c or UNSET,
        )

    def is_warm(self, temps: Temps) -> bool:
        return (
            temps.hotend_actual >= self.hotend_c - CLOSE_ENOUGH_C
            and temps.bed_actual >= self.bed_c - CLOSE_ENOUGH_C
        )


def plan_rest(order: Pause, job: str, temps: Temps) -> Rest:
    return Rest(
        job=job,
        hotend_c=temps.hotend_target if order.disable_hotend else 0.0,
        bed_c=temps.bed_target if order.disable_bed else 0.0,
        lift_mm=order.z_lift_mm,
        retract_mm=order.retract_filament_mm,
    )


def lines_to_rest(rest: Rest) -> Sequence[str]:
    """Retract while it is hot, then lift, then let it cool."""
    return [
        *(extrude_lines(-rest.retract_mm) if rest.retract_mm else ()),
        *(move_lines(Axis.Z, rest.lift_mm) if rest.lift_mm else ()),
        *(["M104 S0"] if rest.hotend_c else ()),
        *(["M140 S0"] if rest.bed_c else ()),
    ]


def lines_to_warm_up(rest: Rest) -> Sequence[str]:
    return temp_lines(rest.heat, extruders=1)


def lines_to_go_on(rest: Rest) -> Sequence[str]:
    """Once it is warm: come down, and give the filament back."""
    return [
        *(move_lines(Axis.Z, -rest.lift_mm) if rest.lift_mm else ()),
        *(extrude_lines(rest.retract_mm) if rest.retract_mm else ()),
    ]


def rest_of(told: object) -> Rest | None:
    """What was remembered; None where that isn't legible."""
    job = loose.text(told, "job")
    if job is None:
        return None
    return Rest(
        job=job,
        hotend_c=target_c(told, "hotend_c"),
        bed_c=target_c(told, "bed_c"),
        lift_mm=distance_mm(told, "lift_mm"),
        retract_mm=distance_mm(told, "retract_mm"),
    )


def rest_store(folder: Path) -> RestStore[Rest]:
    """Remembers a rest across a restart of the agent, which may come in the middle of a pause."""
    return RestStore(folder / STORE, rest_of)
