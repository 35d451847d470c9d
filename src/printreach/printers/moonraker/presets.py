"""The presets that Mainsail and Fluidd keep in Moonraker's database. Pure.

Their heaters have Klipper's names, and each says whether it is part of the preset. The G-code that
a preset may have besides is never run.
Source: Mainsail 2.x, src/store/gui/presets/types.ts; Fluidd 1.x, src/store/config/types.ts.
"""

from collections.abc import Iterable
from typing import Final

from printreach.contract.temperatures import Preset
from printreach.contract.unset import UNSET, UnsetType
from printreach.printers import loose

from .machine import Machine, short_name
from .pause_plan import BED

MAINSAIL: Final = ("mainsail", "presets.presets")
FLUIDD: Final = ("fluidd", "uiSettings.dashboard.tempPresets")
"""The namespace and the key of each."""


def presets_of_mainsail(answer: object, machine: Machine) -> list[Preset]:
    """Read the database's answer: presets by their ids."""
    return _presets(loose.obj(answer, "value").values(), "bool", machine)


def presets_of_fluidd(answer: object, machine: Machine) -> list[Preset]:
    """Read the database's answer: a list."""
    return _presets(loose.items(answer, "value"), "active", machine)


def _presets(entries: Iterable[object], is_set: str, machine: Machine) -> list[Preset]:
    """is_set: the field that says whether a heater is part of the preset."""
    extruder = machine.extruders[0] if machine.extruders else None
    chamber = machine.chamber if machine.has_chamber_heater else None
    return [
        Preset(
            name=(loose.text(entry, "name") or "").strip(),
            tool_c=_target(loose.obj(entry, "values"), extruder, is_set),
            bed_c=_target(loose.obj(entry, "values"), BED, is_set),
            chamber_c=_target(loose.obj(entry, "values"), chamber, is_set),
        )
        for entry in entries
    ]


def _target(values: loose.Json, heater: str | None, is_set: str) -> float | UnsetType:
    if heater is None:
        return UNSET
    value = loose.obj(values, heater) or loose.obj(values, short_name(heater))
    return loose.known(loose.number(value, "value")) if loose.flag(value, is_set) else UNSET
