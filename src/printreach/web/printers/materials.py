"""The material system, as templates draw it."""

import re
from collections.abc import Sequence
from typing import Final, TypedDict

from printreach.contract.materials import MaterialSystem, Source, Tool, Unit
from printreach.contract.unset import UnsetType
from printreach.languages import _

_HEX: Final = frozenset("0123456789abcdefABCDEF")
_NUMBERED: Final = re.compile(r"(Nozzle|Tool|Extruder) ([0-9]+)")


class Slot(TypedDict):
    id: str
    number: str
    name: str
    colour: str
    left: float | None
    is_empty: bool | None


class UnitRow(TypedDict):
    name: str
    about: list[str]
    slots: list[Slot]


class Way(TypedDict):
    slot: str
    loaded: bool


class ToolRow(TypedDict):
    name: str
    about: str
    routes: list[Way]


def units_of(system: MaterialSystem) -> list[UnitRow]:
    """Return the units with their spools; spools in no unit get a row of their own."""
    rows = [_unit(unit, system.sources) for unit in system.units]
    known = {unit.id for unit in system.units}
    loose = [source for source in system.sources if source.unit_id not in known]
    if loose:
        rows.append(UnitRow(name="" if not rows else _("Others"), about=[], slots=_slots(loose)))
    return rows


def tools_of(system: MaterialSystem) -> list[ToolRow]:
    """Return the tools, joined to the spools by id."""
    return [
        ToolRow(
            name=_tool_name(tool.name),
            about=_about_tool(tool),
            routes=[
                Way(slot=route.source_id, loaded=route.state == "loaded")
                for route in system.routes
                if route.tool_id == tool.id
            ],
        )
        for tool in system.tools
    ]


def tells_anything(system: MaterialSystem) -> bool:
    """Whether there is more to draw than one spool of which nothing is known, at one tool."""
    if system.units or len(system.sources) > 1 or len(system.tools) > 1:
        return True
    return any(
        not isinstance(source.material, UnsetType) or not isinstance(source.is_empty, UnsetType)
        for source in system.sources
    ) or any(_about_tool(tool) for tool in system.tools)


def _tool_name(name: str) -> str:
    """Return a name in the reader's language, where an agent has made it; others are people's."""
    if name == "Hotend":
        return _("Hotend")
    if name == "Nozzle":
        return _("Nozzle")
    numbered = _NUMBERED.fullmatch(name)
    match numbered.groups() if numbered is not None else None:
        case ("Nozzle", number):
            return _("Nozzle %(number)s", number=number)
        case ("Tool", number):
            return _("Tool %(number)s", number=number)
        case ("Extruder", number):
            return _("Extruder %(number)s", number=number)
        case _:
            return name


def _unit(unit: Unit, sources: Sequence[Source]) -> UnitRow:
    about = []
    if not isinstance(unit.humidity_percent, UnsetType):
        about.append(_("%(percent)s%% humidity", percent=f"{unit.humidity_percent:.0f}"))
    if not isinstance(unit.temperature_celsius, UnsetType):
        about.append(f"{unit.temperature_celsius:.0f}°")
    if unit.is_drying is True:
        about.append(_("drying"))
    mine = [source for source in sources if source.unit_id == unit.id]
    return UnitRow(name=unit.name, about=about, slots=_slots(mine))


def _slots(sources: Sequence[Source]) -> list[Slot]:
    return [_slot(number, source) for number, source in enumerate(sources, 1)]


def _slot(number: int, source: Source) -> Slot:
    name, colour, left = "", "", None
    material = source.material
    if not isinstance(material, UnsetType):
        label = material.type if isinstance(material.name, UnsetType) else material.name
        name = "" if isinstance(label, UnsetType) else label
        colour = "" if isinstance(material.color_hex, UnsetType) else material.color_hex
        left = material.remaining_percent
    return Slot(
        id=source.id,
        number=str(number),
        name=name,
        # It becomes part of an SVG, so only six hexadecimal digits are accepted.
        colour=colour if len(colour) == 6 and set(colour) <= _HEX else "",
        left=None if left is None or isinstance(left, UnsetType) else max(0.0, min(100.0, left)),
        is_empty=None if isinstance(source.is_empty, UnsetType) else source.is_empty,
    )


def _about_tool(tool: Tool) -> str:
    if isinstance(tool.nozzle_diameter_mm, UnsetType):
        return ""
    return f"{tool.nozzle_diameter_mm:g} mm"
