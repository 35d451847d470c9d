"""Smart pause: what a print needs no more while it rests, and how it gets it back.

Klipper keeps the heaters as they are in a pause, so this is made of G-code. Heat is awaited by
looking, not by a command that waits: until that was done Klipper would take no other, not even to
cancel.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from printreach.contract.commands import Pause
from printreach.printers import loose
from printreach.printers.rests import RestStore, distance_mm, target_c

from .status import Known, active_extruder, obj, print_path

STORE = "moonraker-smart-pause.json"
CLOSE_ENOUGH_C = 3.0
BED = "heater_bed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """What was taken from a print. path: of its file. targets: of the heaters turned off."""

    path: str
    targets: dict[str, float]
    lift_mm: int
    retract_mm: int

    @property
    def is_nothing(self) -> bool:
        return not (self.targets or self.lift_mm or self.retract_mm)


def targets_of(known: Known) -> dict[str, float]:
    """The hotend in use and the bed, where they are on."""
    found = {
        heater: loose.number(obj(known, heater), "target") or 0.0
        for heater in (active_extruder(known), BED)
        if heater is not None
    }
    return {heater: target for heater, target in found.items() if target > 0}


def plan_rest(order: Pause, path: str, targets: Mapping[str, float]) -> Rest:
    """targets: as they were before the pause, since a printer's own pause may change them."""

    def is_turned_off(heater: str) -> bool:
        return order.disable_bed if heater == BED else order.disable_hotend

    return Rest(
        path=path,
        targets={heater: target for heater, target in targets.items() if is_turned_off(heater)},
        lift_mm=order.z_lift_mm,
        retract_mm=order.retract_filament_mm,
    )


def is_warm(rest: Rest, known: Known) -> bool:
    return all(
        (loose.number(obj(known, heater), "temperature") or 0.0) >= target - CLOSE_ENOUGH_C
        for heater, target in rest.targets.items()
    )


def is_of_this_print(rest: Rest, known: Known) -> bool:
    return rest.path == print_path(known)


def rest_of(told: object) -> Rest | None:
    """What was remembered; None where that isn't legible."""
    path = loose.text(told, "path")
    if path is None:
        return None
    targets = loose.obj(told, "targets")
    found = {heater: target_c(targets, heater) for heater in targets}
    return Rest(
        path=path,
        targets={
            heater: target
            for heater, target in found.items()
            if target and heater.replace("_", "").isalnum()
        },
        lift_mm=distance_mm(told, "lift_mm"),
        retract_mm=distance_mm(told, "retract_mm"),
    )


def rest_store(folder: Path) -> RestStore[Rest]:
    """Remembers a rest across a restart of the agent, which may come in the middle of a pause."""
    return RestStore(folder / STORE, rest_of)
