"""Happy Hare: one extruder that is fed from many gates. Pure.

Source: the objects `mmu` and `mmu_machine` of Happy Hare 2 and 3, as its get_status() has them. A
gate or tool of -1 is none, of -2 the bypass, where filament is led past the gates by hand.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from printreach.contract.materials import (
    MAX_SOURCES,
    MAX_UNITS,
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

from .spools import color_hex, material_word
from .status import KnownState, active_extruder, obj

BYPASS = -2
_EMPTY_GATES = {0: True, 1: False, 2: False}
_DOING = {"Loading": "loading", "Unloading": "unloading"}


def mmu_materials(known: KnownState, tools: list[Tool]) -> MaterialSystem | None:
    """Return the unit's materials; None where there is no such unit, or it is switched off."""
    mmu = obj(known, "mmu")
    gates = loose.count(mmu, "num_gates")
    if not known.machine.has_mmu or not gates or loose.flag(mmu, "enabled") is False:
        return None
    gates = min(gates, MAX_SOURCES)
    units = _units(obj(known, "mmu_machine"))
    sources = [_gate(mmu, gate, units) for gate in range(gates)]
    if loose.flag(mmu, "has_bypass"):
        sources.append(Source(id="bypass", index=gates, name="Bypass", position=BYPASS))
    tool_id = active_extruder(known) or tools[0].id
    return MaterialSystem(
        capabilities=Capabilities(
            supports_multi_material=gates > 1,
            supports_multi_tool=len(tools) > 1,
            supports_source_routing=True,
        ),
        sources=sources,
        tools=tools,
        units=[unit for unit, _ in units],
        routes=[_route(mmu, source, tool_id) for source in sources],
        platform_details=_details(mmu),
    )


def _gate(mmu: Json, gate: int, units: Sequence[tuple[Unit, range]]) -> Source:
    is_empty = _EMPTY_GATES.get(_whole_at(mmu, "gate_status", gate, -1))
    return Source(
        id=f"gate{gate}",
        index=gate,
        name=f"Gate {gate}",
        unit_id=next((unit.id for unit, gates in units if gate in gates), UNSET),
        position=next((gate - gates.start for _, gates in units if gate in gates), gate),
        print_mapping_value=_tool_number(mmu, gate),
        is_empty=loose.known(is_empty),
        material=_material(mmu, gate),
        platform_details=_gate_details(mmu, gate),
    )


def _tool_number(mmu: Json, gate: int) -> int | UnsetType:
    """Return the first of the print's tools that is mapped to the gate."""
    tools = (tool for tool, at in enumerate(loose.items(mmu, "ttg_map")) if at == gate)
    return next(tools, UNSET)


def _material(mmu: Json, gate: int) -> Material | UnsetType:
    color = color_hex(_text_at(mmu, "gate_color", gate))
    if color is UNSET and _text_at(mmu, "gate_color", gate):
        color = _hex_of_shares(_at(mmu, "gate_color_rgb", gate))  # it has a name
    material = Material(
        type=material_word(_text_at(mmu, "gate_material", gate)),
        name=_text_at(mmu, "gate_filament_name", gate) or UNSET,
        color_hex=color,
    )
    return UNSET if material == Material() else material


def _hex_of_shares(parts: object) -> str | UnsetType:
    """RRGGBB of three shares from 0 to 1."""
    if not isinstance(parts, list):
        return UNSET
    numbers = [loose.as_number(part) for part in parts]
    if len(numbers) != 3 or not all(part is not None and 0 <= part <= 1 for part in numbers):
        return UNSET
    return "".join(f"{round((part or 0.0) * 255):02X}" for part in numbers)


def _gate_details(mmu: Json, gate: int) -> PlatformDetails | UnsetType:
    details: PlatformDetails = {}
    spool = _whole_at(mmu, "gate_spool_id", gate, -1)
    hotend_c = _whole_at(mmu, "gate_temperature", gate, 0)
    if spool >= 0:
        details["SpoolId"] = spool
    if hotend_c > 0:
        details["HotendTempC"] = hotend_c
    if _whole_at(mmu, "gate_status", gate, -1) == 2:
        details["IsBuffered"] = True
    return details or UNSET


def _route(mmu: Json, source: Source, tool_id: str) -> Route:
    selected = loose.whole(mmu, "gate")
    selected_id = "bypass" if selected == BYPASS else f"gate{selected}"
    state: str | UnsetType = UNSET
    if source.id == selected_id:
        doing = (loose.text(mmu, "action") or "").partition(" ")[0]
        is_loaded = loose.text(mmu, "filament") == "Loaded"
        state = _DOING.get(doing, "loaded" if is_loaded else UNSET)
    return Route(source_id=source.id, tool_id=tool_id, state=state)


def _units(machine: Json) -> list[tuple[Unit, range]]:
    """Return the units, each with its gates."""
    count = min(loose.count(machine, "num_units") or 0, MAX_UNITS)
    reported = [loose.obj(machine, f"unit_{number}") for number in range(count)]
    sizes = [loose.count(unit, "num_gates") or 0 for unit in reported]
    usual_starts = accumulate(sizes[:-1], initial=0)
    units = []
    for number, (unit, size, usual) in enumerate(zip(reported, sizes, usual_starts, strict=False)):
        start = loose.count(unit, "first_gate")
        name = loose.text(unit, "name") or loose.text(unit, "vendor") or f"Unit {number + 1}"
        first = usual if start is None else start
        units.append((_unit(number, name, unit), range(first, first + size)))
    return units


def _unit(number: int, name: str, reported: Json) -> Unit:
    vendor = loose.text(reported, "vendor")
    return Unit(
        id=f"mmu{number}",
        index=number,
        name=name,
        platform_details=UNSET if vendor is None else {"Vendor": vendor},
    )


def _details(mmu: Json) -> PlatformDetails:
    details: PlatformDetails = {"System": "Happy Hare"}
    action, filament = loose.text(mmu, "action"), loose.text(mmu, "filament")
    tool, gate = loose.whole(mmu, "tool"), loose.whole(mmu, "gate")
    if action is not None:
        details["Action"] = action
    if filament is not None:
        details["Filament"] = filament
    if tool is not None:
        details["SelectedTool"] = tool
    if gate is not None:
        details["SelectedGate"] = gate
    return details


def _at(mmu: Json, key: str, gate: int) -> Any:
    values = loose.items(mmu, key)
    return values[gate] if gate < len(values) else None


def _text_at(mmu: Json, key: str, gate: int) -> str | None:
    return loose.text({"it": _at(mmu, key, gate)}, "it")


def _whole_at(mmu: Json, key: str, gate: int, default: int) -> int:
    value = loose.whole({"it": _at(mmu, key, gate)}, "it")
    return default if value is None else value
