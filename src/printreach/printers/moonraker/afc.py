"""AFC (Armored Turtle's Automated Filament Changer): lanes that lead to extruders. Pure.

Source: the objects `AFC` and `AFC_stepper NAME` or `AFC_lane NAME`, as their get_status() have
them. `map` is the print's tool that the lane serves (`T0`).
"""

import re

from printreach.contract.materials import (
    Capabilities,
    Material,
    MaterialSystem,
    PlatformDetails,
    Route,
    Source,
    Tool,
    Unit,
)
from printreach.contract.unset import UNSET, UnsetType
from printreach.printers import loose
from printreach.printers.loose import Json

from .machine import short_name
from .spools import color_hex, material_word
from .status import KnownState, obj

_TOOL = re.compile(r"T([0-9]{1,3})", re.ASCII)
_DOING = {"Loading": "loading", "Unloading": "unloading"}


def afc_materials(known: KnownState, tools: list[Tool]) -> MaterialSystem | None:
    """Return the unit's materials; None where there is no such unit."""
    lanes = [(short_name(key), obj(known, key)) for key in known.machine.lanes]
    if not known.machine.has_afc or not lanes:
        return None
    afc = obj(known, "AFC")
    units = _units(lanes)
    unit_ids = {unit.name: unit.id for unit in units}
    return MaterialSystem(
        capabilities=Capabilities(
            supports_multi_material=len(lanes) > 1,
            supports_multi_tool=len(tools) > 1,
            supports_source_routing=True,
        ),
        sources=[
            _source(index, name, lane, unit_ids.get(loose.text(lane, "unit") or ""))
            for index, (name, lane) in enumerate(lanes)
        ],
        tools=tools,
        units=units,
        routes=[
            Route(source_id=_id(name), tool_id=tool_id, state=_route_state(afc, name, lane))
            for name, lane in lanes
            if (tool_id := _tool_id(lane, tools)) is not None
        ],
        platform_details=_details(afc),
    )


def _source(index: int, name: str, lane: Json, unit_id: str | None) -> Source:
    load, prep = loose.flag(lane, "load"), loose.flag(lane, "prep")
    position = loose.count(lane, "lane")
    return Source(
        id=_id(name),
        index=index,
        name=name,
        unit_id=loose.known(unit_id),
        position=loose.known(position),
        print_mapping_value=_tool_number(lane),
        is_empty=UNSET if load is None and prep is None else not (load or prep),
        material=_material(lane),
        platform_details=_lane_details(lane),
    )


def _tool_number(lane: Json) -> int | UnsetType:
    tool = _TOOL.fullmatch(loose.text(lane, "map") or "")
    return int(tool[1]) if tool else UNSET


def _material(lane: Json) -> Material | UnsetType:
    material = Material(
        type=material_word(loose.text(lane, "material")),
        name=loose.text(lane, "filament_name") or UNSET,
        color_hex=color_hex(loose.text(lane, "color")),
    )
    return UNSET if material == Material() else material


def _lane_details(lane: Json) -> PlatformDetails | UnsetType:
    details: PlatformDetails = {}
    spool, weight_g = loose.count(lane, "spool_id"), loose.number(lane, "weight")
    status = loose.text(lane, "status")
    if spool:
        details["SpoolId"] = spool
    if weight_g is not None and weight_g > 0:
        details["WeightG"] = weight_g
    if status is not None:
        details["Status"] = status
    return details or UNSET


def _tool_id(lane: Json, tools: list[Tool]) -> str | None:
    """Return the extruder that the lane names; the only one, whatever it is called."""
    if len(tools) == 1:
        return tools[0].id
    named = loose.text(lane, "extruder")
    return next((tool.id for tool in tools if tool.id == named), None)


def _route_state(afc: Json, name: str, lane: Json) -> str | UnsetType:
    if loose.text(afc, "current_lane") == name:
        doing = _DOING.get(loose.text(afc, "current_state") or "")
        if doing is not None:
            return doing
    is_loaded = loose.flag(lane, "tool_loaded") or loose.text(afc, "current_load") == name
    return "loaded" if is_loaded else UNSET


def _units(lanes: list[tuple[str, Json]]) -> list[Unit]:
    names = dict.fromkeys(unit for _, lane in lanes if (unit := loose.text(lane, "unit")))
    return [Unit(id=f"unit-{name}", index=index, name=name) for index, name in enumerate(names)]


def _details(afc: Json) -> PlatformDetails:
    details: PlatformDetails = {"System": "AFC"}
    state, is_wrong = loose.text(afc, "current_state"), loose.flag(afc, "error_state")
    if state is not None:
        details["State"] = state
    if is_wrong is not None:
        details["HasError"] = is_wrong
    return details


def _id(lane: str) -> str:
    return f"lane-{lane}"
