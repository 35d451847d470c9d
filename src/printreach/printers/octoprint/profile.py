"""OctoPrint's printer profile: the parts that its owner has configured. Pure."""

from dataclasses import dataclass

from printreach.printers import loose
from printreach.printers.loose import Json

MAX_EXTRUDERS = 16


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
