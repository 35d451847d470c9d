"""The facts that PrusaLink reports once about itself and its printer. Pure."""

from dataclasses import dataclass

from printreach.contract.status import Feature
from printreach.printers import loose

PI_STORAGE = "local"
BUDDY_STORAGE = "usb"
MAX_NOZZLE_MM = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """storage: where prints are put, by its name in addresses. nozzle_mm: where it is told."""

    version: str = ""
    storage: str = PI_STORAGE
    nozzle_mm: float | None = None

    @property
    def is_pi(self) -> bool:
        """PrusaLink itself, on a Raspberry Pi; else Buddy's firmware."""
        return self.storage == PI_STORAGE

    @property
    def features(self) -> Feature:
        """Orders to axes and heaters stand in `web/controls.py`; Buddy's firmware takes none."""
        if not self.is_pi:
            return Feature.PRINT_START
        motion = Feature.AXIS_MOVEMENT | Feature.HOMING | Feature.EXTRUSION
        return motion | Feature.TEMPERATURE_CONTROL | Feature.PRINT_START


def is_introduction(version: object, storages: object) -> bool:
    """Something else may answer in place of /api/version and /api/v1/storage."""
    has_list = isinstance(loose.obj(storages).get("storage_list"), list)
    return loose.text(version, "server") is not None and has_list


def machine_of(version: object, info: object, storages: object) -> Machine:
    """Read /api/version, /api/v1/info and /api/v1/storage."""
    nozzle_mm = loose.number(info, "nozzle_diameter")
    is_nozzle = nozzle_mm is not None and 0 < nozzle_mm <= MAX_NOZZLE_MM
    return Machine(
        version=loose.text(version, "server") or "",
        storage=_storage(storages, has_sdk=loose.text(version, "sdk") is not None),
        nozzle_mm=nozzle_mm if is_nozzle else None,
    )


def _storage(storages: object, *, has_sdk: bool) -> str:
    """Return the first writable storage that is one of the two known; else the program's usual one.

    Without a USB drive, Buddy's firmware has none at the moment.
    """
    for reported in loose.items(storages, "storage_list"):
        name = (loose.text(reported, "path") or "").strip("/")
        if name in (PI_STORAGE, BUDDY_STORAGE) and loose.flag(reported, "read_only") is not True:
            return name
    return PI_STORAGE if has_sdk else BUDDY_STORAGE
