"""Messages of Bambu printers for tests without a network."""

from typing import Any

from printreach.printers.bambu.known_state import KnownState, with_message
from tests.fakes.bambu.machine import MODULES, Machine

Json = dict[str, Any]

H2D: Json = {
    "nozzle_temper": None,
    "extruder": {
        "info": [
            {"id": 0, "temp": (220 << 16) | 218, "stat": 1},
            {"id": 1, "temp": (0 << 16) | 31, "stat": 0},
        ]
    },
    "vir_slot": [
        {"id": "254", "tray_type": "PLA", "tray_color": "FFFFFFFF"},
        {"id": "255", "tray_type": ""},
    ],
}


def whole() -> Json:
    """The whole report of a P1S at rest."""
    return Machine(lambda _path: None).full()


def known_from(**changes: object) -> KnownState:
    """A P1S that has told everything, and then these fields of its report."""
    known = with_message(KnownState(), {"info": {"command": "get_version", "module": MODULES}})
    known = with_message(known, whole())
    return with_message(known, {"print": {"command": "push_status", "msg": 1, **changes}})


def product(name: str) -> Json:
    return {"info": {"command": "get_version", "module": [{"name": "ota", "product_name": name}]}}
