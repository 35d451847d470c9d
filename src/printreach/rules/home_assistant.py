"""Messages to Home Assistant, so that a printer appears there by MQTT discovery.

Source: https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery, "Device discovery payload",
of Home Assistant 2024.11 and later.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from printreach.contract.status import State, StatusResult
from printreach.contract.unset import UNSET
from printreach.rules.printers import Printer

ONLINE: Final = b"online"
OFFLINE: Final = b"offline"
ORIGIN: Final = "Printreach"
_OURS: Final = "printreach_"

ORDERS: Final[Mapping[bytes, str]] = {
    b"PAUSE": "/pause",
    b"RESUME": "/resume",
    b"CANCEL": "/cancel",
}
"""The payload that a button sends, and the command that it stands for."""


@dataclass(frozen=True, slots=True)
class Topics:
    """MQTT topics. prefix: Home Assistant's own, unless it was changed there."""

    prefix: str = "homeassistant"

    bridge: str = "printreach/status"
    every_order: str = "printreach/+/order"

    @property
    def every_config(self) -> str:
        return f"{self.prefix}/device/+/config"

    @property
    def birth(self) -> str:
        """The topic on which Home Assistant reports that it has started."""
        return f"{self.prefix}/status"

    def config(self, printer_id: str) -> str:
        return f"{self.prefix}/device/{_OURS}{printer_id}/config"

    def availability(self, printer_id: str) -> str:
        return f"printreach/{printer_id}/availability"

    def state(self, printer_id: str) -> str:
        return f"printreach/{printer_id}/state"

    def picture(self, printer_id: str) -> str:
        return f"printreach/{printer_id}/picture"

    def order(self, printer_id: str) -> str:
        return f"printreach/{printer_id}/order"

    def printer_of_config(self, topic: str) -> str | None:
        """Return the printer that a configuration of ours is about; None where it is another's."""
        parts = topic.split("/")
        name = parts[-2] if len(parts) >= 2 else ""
        return name.removeprefix(_OURS) if name.startswith(_OURS) else None

    def printer_of_order(self, topic: str) -> str | None:
        parts = topic.split("/")
        return parts[1] if len(parts) == 3 and parts[2] == "order" else None


def config_of(printer: Printer, topics: Topics, base_url: str, version: str) -> bytes:
    """Return everything that makes a printer appear, in one message."""
    printer_id = printer.printer_id
    device = {
        "identifiers": [f"{_OURS}{printer_id}"],
        "name": printer.name,
        "manufacturer": ORIGIN,
        "configuration_url": f"{base_url}/printers/{printer_id}",
    }
    if printer.platform:
        device["model"] = printer.platform
    config = {
        "device": device,
        "origin": {"name": ORIGIN, "sw_version": version, "support_url": base_url},
        "availability": [
            {"topic": topics.bridge},
            {"topic": topics.availability(printer_id)},
        ],
        "availability_mode": "all",
        "state_topic": topics.state(printer_id),
        "components": _components(printer_id, topics),
    }
    return json.dumps(config).encode()


def is_of_installation(config: bytes, base_url: str) -> bool:
    """Whether this installation put a configuration there: another may use the same broker."""
    try:
        read = json.loads(config)
    except (ValueError, RecursionError):
        return False
    origin = read.get("origin") if isinstance(read, dict) else None
    if not isinstance(origin, dict):
        return False
    return origin.get("name") == ORIGIN and origin.get("support_url") == base_url


def state_of(status: StatusResult) -> bytes:
    """Return what a printer does now. Unknown is null, never zero."""
    job, now = status.job_status, status.job_status.current_print
    temps = now.temps
    is_known = now.file_name != ""
    left = now.time_left_sec
    payload: dict[str, Any] = {
        "state": job.state.value,
        "progress": round(now.progress, 1) if is_known else None,
        "file": now.file_name or None,
        "time_left_min": None if left is None else round(left / 60),
        "layer": now.current_layer,
        "layers": now.total_layers,
        "hotend": round(temps.hotend_actual, 1),
        "hotend_target": round(temps.hotend_target, 1),
        "bed": round(temps.bed_actual, 1),
        "bed_target": round(temps.bed_target, 1),
        "chamber": None if temps.chamber_actual is UNSET else round(temps.chamber_actual, 1),
        "error": job.error,
    }
    return json.dumps(payload).encode()


def is_printing(status: StatusResult) -> bool:
    """Whether a picture of it is published."""
    return status.job_status.state in (
        State.WARMING_UP,
        State.PRINTING,
        State.PAUSED,
        State.RESUMING,
    )


def _components(printer_id: str, topics: Topics) -> dict[str, dict[str, Any]]:
    made = {
        "state": {
            "platform": "sensor",
            "name": "State",
            "icon": "mdi:printer-3d",
            "device_class": "enum",
            "options": [state.value for state in State],
        },
        "progress": _number("Progress", "%", icon="mdi:progress-clock"),
        "file": {"platform": "sensor", "name": "File", "icon": "mdi:file"},
        "time_left_min": _number("Time left", "min", device_class="duration"),
        "layer": _number("Layer", None, icon="mdi:layers"),
        "layers": _number("Layers", None, icon="mdi:layers"),
        "hotend": _temperature("Hotend"),
        "hotend_target": _temperature("Hotend target"),
        "bed": _temperature("Bed"),
        "bed_target": _temperature("Bed target"),
        "chamber": _temperature("Chamber"),
        "error": {"platform": "sensor", "name": "Error", "icon": "mdi:alert"},
    }
    for key, component in made.items():
        component["value_template"] = f"{{{{ value_json.{key} }}}}"
    made["picture"] = {
        "platform": "camera",
        "name": "Camera",
        "topic": topics.picture(printer_id),
    }
    for order, name, icon in (
        ("PAUSE", "Pause", "mdi:pause"),
        ("RESUME", "Resume", "mdi:play"),
        ("CANCEL", "Stop print", "mdi:stop"),
    ):
        made[order.lower()] = {
            "platform": "button",
            "name": name,
            "icon": icon,
            "command_topic": topics.order(printer_id),
            "payload_press": order,
        }
    for key, component in made.items():
        component["unique_id"] = f"{_OURS}{printer_id}_{key}"
    return made


def _number(name: str, unit: str | None, **more: str) -> dict[str, Any]:
    made: dict[str, Any] = {"platform": "sensor", "name": name, **more}
    return made if unit is None else {**made, "unit_of_measurement": unit}


def _temperature(name: str) -> dict[str, Any]:
    return _number(name, "°C", device_class="temperature", state_class="measurement")
