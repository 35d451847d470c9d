"""Smart pause: what a print needs no more while it rests, and how it gets it back. Pure but for
RestStore.

Klipper keeps the heaters as they are in a pause, so this is made of G-code. Heat is awaited by
looking, not by a command that waits: until that was done Klipper would take no other, not even to
cancel.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from printreach.contract.commands import Pause
from printreach.printers import loose
from printreach.printers.putting_away import put_away
from printreach.rules.commands import MAX_DISTANCE_MM

from .status import Known, active_extruder, obj, print_path

STORE = "moonraker-smart-pause.json"
MAX_STORED_BYTES = 64 * 1024
CLOSE_ENOUGH_C = 3.0
MAX_TARGET_C = 500.0
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


class RestStore:
    """Remembers a rest across a restart of the agent, which may come in the middle of a pause."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / STORE

    def load(self) -> Rest | None:
        """None where nothing rests, or what is there can't be read."""
        try:
            with self._file.open("rb") as file:
                return rest_of(json.loads(file.read(MAX_STORED_BYTES)))
        except (OSError, ValueError, RecursionError):
            return None

    def save(self, rest: Rest) -> None:
        """Raises OSError."""
        self._file.write_text(json.dumps(asdict(rest)))

    def forget(self) -> None:
        put_away(self._file)


def rest_of(told: object) -> Rest | None:
    """What was remembered; None where that isn't legible."""
    path = loose.text(told, "path")
    if path is None:
        return None
    targets = loose.obj(told, "targets")
    found = {heater: loose.number(targets, heater) or 0.0 for heater in targets}
    return Rest(
        path=path,
        targets={
            heater: target
            for heater, target in found.items()
            if 0 < target <= MAX_TARGET_C and heater.replace("_", "").isalnum()
        },
        lift_mm=_distance_mm(told, "lift_mm"),
        retract_mm=_distance_mm(told, "retract_mm"),
    )


def _distance_mm(told: object, key: str) -> int:
    """0 for what no smart pause could have asked for."""
    distance_mm = loose.count(told, key) or 0
    return distance_mm if distance_mm <= MAX_DISTANCE_MM else 0
