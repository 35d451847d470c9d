"""The parts of a Klipper printer, recognised by the names of its objects; power devices. Pure.

Source: Klipper's Status Reference; for power devices, answers of Moonraker 0.11.0 to
machine.device_power.devices, and notify_power_changed. An object is named after its section in the
printer's configuration: `extruder1`, `heater_generic chamber`, `neopixel case_light`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from printreach.contract.status import Feature, Light
from printreach.printers import loose

MAX_OBJECTS = 2000
"""Large configurations have some hundred objects, most of them macros."""

_EXTRUDER = re.compile(r"extruder([0-9]{0,2})", re.ASCII)
_CHAMBER = re.compile(r"chamber|enclosure|cavity", re.IGNORECASE)
_LIGHT = re.compile(
    r"light|lamp|(cavity|chamber|case|enclosure|frame|bed)_?leds?|led_?(strip|bar)", re.IGNORECASE
)
_NAME = re.compile(r"[A-Za-z0-9_.+-]+")
"""Names that can be used in G-code unquoted."""
_FILAMENT_SENSOR_KINDS = ("filament_switch_sensor", "filament_motion_sensor")
MAX_FILAMENT_SENSORS = 16
_LANE_KINDS = ("AFC_stepper", "AFC_lane")


class LightKind(Enum):
    """The ways to switch a light."""

    PIN = auto()
    LED = auto()


_LIGHT_KINDS = {
    "output_pin": LightKind.PIN,
    "led": LightKind.LED,
    "neopixel": LightKind.LED,
    "dotstar": LightKind.LED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LightSource:
    """A light of Klipper's own. name: for people, and in G-code. key: its object."""

    name: str
    kind: LightKind
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """extruders: `extruder`, `extruder1`…, in their order. chamber: the object that tells its
    temperature. has_chamber_heater: that object heats, too. lanes: objects of an AFC's lanes.
    has_fan: one that M106 sets. filament_sensors: objects that tell whether there is filament."""

    extruders: tuple[str, ...] = ()
    has_bed: bool = False
    chamber: str | None = None
    has_chamber_heater: bool = False
    lights: tuple[LightSource, ...] = ()
    lanes: tuple[str, ...] = ()
    has_mmu: bool = False
    has_afc: bool = False
    has_toolhead: bool = False
    has_files: bool = False
    has_fan: bool = False
    filament_sensors: tuple[str, ...] = ()


NO_MACHINE = Machine()


def machine_of(answer: Iterable[object]) -> Machine:
    """answer: the names that printer.objects.list gives."""
    names = [name for name in answer if isinstance(name, str)][:MAX_OBJECTS]
    known = frozenset(names)
    chamber = _chamber(names)
    return Machine(
        extruders=_extruders(names),
        has_bed="heater_bed" in known,
        chamber=chamber,
        has_chamber_heater=chamber is not None and chamber.startswith("heater_generic "),
        lights=tuple(_lights(names)),
        lanes=_lanes(names),
        has_mmu="mmu" in known,
        has_afc="AFC" in known,
        has_toolhead="toolhead" in known,
        has_files="virtual_sdcard" in known,
        has_fan="fan" in known,
        filament_sensors=tuple(
            name for name in names if name.partition(" ")[0] in _FILAMENT_SENSOR_KINDS
        )[:MAX_FILAMENT_SENSORS],
    )


def subscription(machine: Machine) -> dict[str, list[str]]:
    """Return the objects and fields to be told of.

    Klipper sends what has changed four times a second.
    """
    heat = ["temperature", "target"]
    wanted = {
        "webhooks": ["state", "state_message"],
        "print_stats": [
            *("state", "filename", "message", "info"),
            *("print_duration", "total_duration", "filament_used"),
        ],
        "virtual_sdcard": ["progress", "file_position"],
        "display_status": ["message", "progress"],
        "gcode_move": ["speed_factor", "extrude_factor", "gcode_position", "homing_origin"],
        "toolhead": ["extruder", "homed_axes"],
    }
    wanted |= dict.fromkeys(machine.extruders, heat)
    sensed = ["enabled", "filament_detected"]
    wanted |= dict.fromkeys(machine.filament_sensors, sensed)
    if machine.has_bed:
        wanted["heater_bed"] = heat
    if machine.has_fan:
        wanted["fan"] = ["speed"]
    if machine.chamber is not None:
        wanted[machine.chamber] = heat
    for light in machine.lights:
        wanted[light.key] = ["value"] if light.kind is LightKind.PIN else ["color_data"]
    return wanted | _material_objects(machine)


def features_of(machine: Machine, *, has_light: bool) -> Feature:
    """has_light: of any kind, power devices included."""
    features = Feature.EMERGENCY_STOP | Feature.FIRMWARE_RESTART
    if has_light:
        features |= Feature.LIGHT_CONTROL
    if machine.has_toolhead:
        features |= Feature.AXIS_MOVEMENT | Feature.HOMING | Feature.AXIS_HOMING
        features |= Feature.SPEED_CONTROL | Feature.Z_OFFSET_CONTROL
    if machine.extruders:
        features |= Feature.EXTRUSION | Feature.FLOW_CONTROL
    if machine.has_fan:
        features |= Feature.FAN_CONTROL
    if machine.extruders or machine.has_bed or machine.has_chamber_heater:
        features |= Feature.TEMPERATURE_CONTROL
    if machine.has_files:
        features |= Feature.PRINT_START
    return features


def is_light(name: str) -> bool:
    """Return whether people would call a thing of this name a light."""
    return _LIGHT.search(name) is not None


def short_name(key: str) -> str:
    """`case_light` of `neopixel case_light`."""
    return key.partition(" ")[2] or key


def _material_objects(machine: Machine) -> dict[str, list[str]]:
    wanted: dict[str, list[str]] = {}
    if machine.has_mmu:
        wanted["mmu"] = [
            *("enabled", "num_gates", "gate", "tool", "filament", "action", "ttg_map"),
            *("gate_status", "gate_material", "gate_color", "gate_color_rgb", "gate_temperature"),
            *("gate_filament_name", "gate_spool_id", "has_bypass"),
        ]
        wanted["mmu_machine"] = ["num_units", *(f"unit_{number}" for number in range(8))]
    if machine.has_afc:
        wanted["AFC"] = ["current_load", "current_lane", "current_state", "error_state"]
        lane = [
            *("name", "unit", "lane", "extruder", "map", "load", "prep", "tool_loaded", "status"),
            *("material", "color", "weight", "spool_id", "filament_name"),
        ]
        wanted |= dict.fromkeys(machine.lanes, lane)
    return wanted


def _extruders(names: Sequence[str]) -> tuple[str, ...]:
    numbered = {
        int(match[1] or "0"): name for name in names if (match := _EXTRUDER.fullmatch(name))
    }
    return tuple(numbered[number] for number in sorted(numbered))


def _chamber(names: Sequence[str]) -> str | None:
    """Return the chamber's object; a heater wins over a sensor, since it reports more."""
    for kind in ("heater_generic", "temperature_sensor"):
        for name in names:
            if name.startswith(f"{kind} ") and _CHAMBER.search(short_name(name)):
                return name
    return None


def _lanes(names: Sequence[str]) -> tuple[str, ...]:
    """Return the lanes of both kinds; a repeated name is taken once."""
    lanes: dict[str, str] = {}
    for key in names:
        if key.partition(" ")[0] in _LANE_KINDS:
            lanes.setdefault(short_name(key), key)
    return tuple(lanes.values())


def _lights(names: Sequence[str]) -> list[LightSource]:
    lights: dict[str, LightSource] = {}
    for key in names:
        kind = _LIGHT_KINDS.get(key.partition(" ")[0])
        name = short_name(key)
        if kind is not None and is_light(name) and _NAME.fullmatch(name):
            lights.setdefault(name, LightSource(name=name, kind=kind, key=key))
    return list(lights.values())


def power_lights(answer: object) -> tuple[Light, ...]:
    """Return those devices that are lights."""
    return _named(loose.items(answer, "devices"))


def with_power_change(lights: tuple[Light, ...], params: object) -> tuple[Light, ...]:
    """params: of notify_power_changed, a list of one device."""
    changed = _named(params if isinstance(params, list) else [])
    by_name = {light.name: light for light in changed}
    return tuple(by_name.get(light.name, light) for light in lights)


def _named(devices: Sequence[object]) -> tuple[Light, ...]:
    lights: dict[str, Light] = {}
    for device in devices:
        name = loose.text(device, "device")
        if name is not None and is_light(name):
            lights[name] = Light(name=name, on=loose.text(device, "status") == "on")
    return tuple(lights.values())
