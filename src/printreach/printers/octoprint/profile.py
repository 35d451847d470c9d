"""OctoPrint's printer profile and temperature profiles, as its owner has configured them. Pure."""

import re
from dataclasses import dataclass

from printreach.contract.materials import (
    MAX_TOOLS,
    MaterialSystem,
    Source,
    Tool,
)
from printreach.contract.presets import Preset
from printreach.contract.unset import UNSET, UnsetType
from printreach.printers import loose
from printreach.printers.loose import Json
from printreach.printers.materials import spool_at_each_tool

MAX_EXTRUDERS = 16
_TOOL = re.compile(r"tool([0-9]{1,2})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """nozzle_mm: the diameter of each nozzle. The defaults are OctoPrint's own."""

    extruders: int = 1
    has_bed: bool = True
    has_chamber: bool = False
    nozzle_mm: float | None = None


def profile_of(answer: object) -> Profile:
    """Read /api/printerprofiles: the profile in use, else the default one."""
    profiles = [loose.obj(entry) for entry in loose.obj(answer, "profiles").values()]
    for mark in ("current", "default"):
        for entry in profiles:
            if loose.flag(entry, mark):
                return _read(entry)
    return Profile()


def _read(entry: Json) -> Profile:
    extruder = loose.obj(entry, "extruder")
    nozzle_mm = loose.number(extruder, "nozzleDiameter")
    return Profile(
        extruders=min(max(loose.count(extruder, "count") or 1, 1), MAX_EXTRUDERS),
        has_bed=loose.flag(entry, "heatedBed") is not False,
        has_chamber=loose.flag(entry, "heatedChamber") is True,
        nozzle_mm=nozzle_mm if nozzle_mm is not None and nozzle_mm > 0 else None,
    )


def materials_of(temps: Json, profile: Profile) -> MaterialSystem | None:
    """temps: by heater. None before the first temperatures came."""
    numbers = sorted({int(tool[1]) for name in temps if (tool := _TOOL.fullmatch(name))})
    if not numbers:
        return None
    numbers = numbers[:MAX_TOOLS]
    sources = [
        Source(id=f"spool{number}", index=index, name=f"Spool {number + 1}", position=number)
        for index, number in enumerate(numbers)
    ]
    return spool_at_each_tool(sources, [_tool(number, temps, profile) for number in numbers])


def _tool(number: int, temps: Json, profile: Profile) -> Tool:
    heat = loose.obj(temps, f"tool{number}")
    actual, target = loose.number(heat, "actual"), loose.number(heat, "target")
    return Tool(
        id=f"tool{number}",
        index=number,
        name=f"Tool {number + 1}",
        actual_celsius=loose.known(actual),
        target_celsius=loose.known(target),
        nozzle_diameter_mm=UNSET if profile.nozzle_mm is None else profile.nozzle_mm,
    )


def presets_in(settings: object) -> list[Preset]:
    """Return the temperature profiles of OctoPrint's settings, in their order.

    As its own page does (1.11.8): a heater that a profile doesn't name is switched off, and one
    that it names without a number is left as it is.
    """
    profiles = map(loose.obj, loose.items(loose.obj(settings, "temperature"), "profiles"))
    return [
        Preset(
            name=(loose.text(profile, "name") or "").strip(),
            tool_c=_target(profile, "extruder"),
            bed_c=_target(profile, "bed"),
            chamber_c=_target(profile, "chamber"),
        )
        for profile in profiles
    ]


def _target(profile: Json, heater: str) -> float | UnsetType:
    return loose.known(loose.number(profile, heater)) if heater in profile else 0.0
