"""RepRapFirmware's object model, which is all that is known of a board. Pure."""

from collections.abc import Mapping
from typing import NamedTuple

from printreach.printers import loose
from printreach.printers.loose import Json

KEYS = ("boards", "fans", "heat", "job", "move", "sensors", "state", "tools")
"""The keys that translate reads."""

COLDEST_C, HOTTEST_C = -100.0, 1000.0
"""The bounds of a reading; a disconnected sensor reads -273 or 2000."""


class Heater(NamedTuple):
    """A heater. actual_c: None where its sensor reads nothing. target_c: 0.0 while it is off."""

    actual_c: float | None
    target_c: float
    state: str


NO_HEATER = Heater(None, 0.0, "")


class Tool(NamedTuple):
    """A tool. heater: NO_HEATER for a tool without one. extruders: numbers of drives."""

    number: int
    name: str
    state: str
    heater: Heater
    extruders: tuple[int, ...]


def merged(before: object, changes: object) -> object:
    """Merge changes into the model; lists are reported as a whole, with changed entries."""
    if isinstance(before, Mapping) and isinstance(changes, Mapping):
        return {**before, **{key: merged(before.get(key), value) for key, value in changes.items()}}
    if isinstance(before, list) and isinstance(changes, list):
        kept = [*before[: len(changes)], *([None] * (len(changes) - len(before)))]
        return [merged(old, new) for old, new in zip(kept, changes, strict=True)]
    return changes


def status(model: Json) -> str:
    """ "" while it isn't told."""
    return loose.text(loose.obj(model, "state"), "status") or ""


def job(model: Json) -> Json:
    return loose.obj(model, "job")


def bed(model: Json) -> Heater | None:
    return _heater_of(model, "bed")


def chamber(model: Json) -> Heater | None:
    return _heater_of(model, "chamber")


def tools(model: Json) -> list[Tool]:
    """Return the tools by number. A removed tool leaves a null in the list."""
    reported_tools = {}
    for place, entry in enumerate(loose.items(model, "tools")):
        reported = loose.obj(entry)
        number = loose.count(reported, "number")
        if reported:
            reported_tools[place if number is None else number] = reported
    return [_tool(model, number, reported_tools[number]) for number in sorted(reported_tools)]


def set_target_c(model: Json, number: int, state: str) -> float:
    """Return a tool's set temperature in a state (active, standby), on or off; 0.0 for none."""
    for place, entry in enumerate(loose.items(model, "tools")):
        reported = loose.obj(entry)
        own = loose.count(reported, "number")
        if reported and (place if own is None else own) == number:
            heaters = loose.items(loose.obj(model, "heat"), "heaters")
            indexes = _numbers(reported, "heaters")
            own_heaters = [loose.obj(heaters[index]) for index in indexes if index < len(heaters)]
            targets = [loose.number(heater, state) or 0.0 for heater in own_heaters]
            return max(targets, default=0.0)
    return 0.0


def current_tool(model: Json) -> int | None:
    return loose.count(loose.obj(model, "state"), "currentTool")


def faults(model: Json) -> list[int]:
    """Return the numbers of the heaters that firmware has stopped because something is wrong."""
    heaters = loose.items(loose.obj(model, "heat"), "heaters")
    return [
        number
        for number, reported in enumerate(heaters)
        if loose.text(reported, "state") == "fault"
    ]


def is_too_cold(model: Json, number: int) -> bool:
    """Return whether the tool is too cold to extrude; the board would refuse unclearly."""
    lowest_c = loose.number(loose.obj(model, "heat"), "coldExtrudeTemperature")
    actual_c = next((tool.heater.actual_c for tool in tools(model) if tool.number == number), None)
    return lowest_c is not None and actual_c is not None and actual_c < lowest_c


def has_axes(model: Json) -> bool:
    return bool(loose.items(loose.obj(model, "move"), "axes"))


def speed_percent(model: Json) -> int | None:
    return loose.percent_of(loose.obj(model, "move"), "speedFactor")


def flow_percent(model: Json) -> int | None:
    """Return the flow of the first extruder; an order sets all of them."""
    extruders = loose.items(loose.obj(model, "move"), "extruders")
    return loose.percent_of(extruders[0], "factor") if extruders else None


def fan_percent(model: Json) -> int | None:
    """Return what the first fan was told; it is the one that M106 without a number sets."""
    fans = loose.items(model, "fans")
    return loose.percent_of(fans[0], "requestedValue") if fans else None


def has_fan(model: Json) -> bool:
    fans = loose.items(model, "fans")
    return bool(fans and loose.obj(fans[0]))


def z_offset_mm(model: Json) -> float | None:
    """Return the baby steps of the Z axis."""
    axes = loose.items(loose.obj(model, "move"), "axes")
    z = next((axis for axis in axes if loose.text(axis, "letter") == "Z"), None)
    return loose.number(z, "babystep")


def _heater_of(model: Json, part: str) -> Heater | None:
    """Return the first heater of the bed or the chamber.

    3.7 tells several for each, in lists of lists.
    """
    heat = loose.obj(model, "heat")
    reported: list[object] = [*loose.items(heat, f"{part}Heaters")]
    for several in loose.items(heat, f"{part}HeaterMapping"):
        reported.extend(several if isinstance(several, list) else [])
    numbers = [number for number in reported if isinstance(number, int) and number >= 0]
    return _heater(model, numbers[0]) if numbers else None


def _heater(model: Json, number: int) -> Heater | None:
    heaters = loose.items(loose.obj(model, "heat"), "heaters")
    reported = loose.obj(heaters[number]) if number < len(heaters) else loose.EMPTY
    if not reported:
        return None
    state = loose.text(reported, "state") or ""
    target_c = {
        "active": loose.number(reported, "active"),
        "standby": loose.number(reported, "standby"),
    }
    actual_c = loose.number(reported, "current")
    is_real = actual_c is not None and COLDEST_C < actual_c < HOTTEST_C
    return Heater(actual_c if is_real else None, max(0.0, target_c.get(state) or 0.0), state)


def _tool(model: Json, number: int, reported: Json) -> Tool:
    numbers = _numbers(reported, "heaters")
    return Tool(
        number=number,
        name=loose.text(reported, "name") or "",
        state=loose.text(reported, "state") or "",
        heater=(_heater(model, numbers[0]) if numbers else None) or NO_HEATER,
        extruders=_numbers(reported, "extruders"),
    )


def _numbers(reported: Json, key: str) -> tuple[int, ...]:
    return tuple(
        number
        for number in loose.items(reported, key)
        if isinstance(number, int) and not isinstance(number, bool) and number >= 0
    )
