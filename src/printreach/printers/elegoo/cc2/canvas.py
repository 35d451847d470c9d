"""The Canvas of a Centauri Carbon 2, which feeds it several filaments. Pure.

The names of the fields are from public clients; no device was seen.
"""

import re

from msgspec import structs

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
from printreach.rules.prints.materials import within_limits

TOOL = "elegoo-tool-0"
EXTERNAL = "elegoo-external"
MAX_ID = 1000
_COLOR = re.compile(r"#?([0-9A-Fa-f]{6})")


def materials_of(canvas: Json, status: Json) -> MaterialSystem:
    """canvas: canvas_info. Without a Canvas there is one spool, of which nothing is known."""
    numbered = {_number(unit, "canvas_id"): unit for unit in _connected(canvas)}
    units = {number: unit for number, unit in numbered.items() if number is not None}
    sources = [
        source for number, unit in units.items() for source in _sources(number, unit).values()
    ] or [Source(id=EXTERNAL, index=0, name="External spool")]
    return within_limits(
        MaterialSystem(
            capabilities=Capabilities(
                supports_multi_material=bool(units), supports_source_routing=bool(units)
            ),
            sources=[structs.replace(source, index=n) for n, source in enumerate(sources)],
            tools=[_tool(status)],
            units=[
                Unit(id=f"elegoo-canvas-{number}", index=index, name=f"Canvas {number + 1}")
                for index, number in enumerate(units)
            ],
            routes=_routes(canvas, {source.id for source in sources}),
            platform_details=_details(canvas) if units else UNSET,
        )
    )


def _connected(canvas: Json) -> list[Json]:
    units = map(loose.obj, loose.items(canvas, "canvas_list"))
    return [unit for unit in units if loose.flag(unit, "connected") or _is_one(unit, "connected")]


def _is_one(source: Json, key: str) -> bool:
    """Versions differ in how they write true."""
    return loose.number(source, key) == 1


def _number(source: Json, key: str) -> int | None:
    number = loose.count(source, key)
    return number if number is not None and number < MAX_ID else None


def _sources(unit: int, reported: Json) -> dict[str, Source]:
    sources = {}
    for tray in map(loose.obj, loose.items(reported, "tray_list")):
        number = _number(tray, "tray_id")
        if number is None:
            continue
        name = _source_id(unit, number)
        state = loose.whole(tray, "status")
        sources[name] = Source(
            id=name,
            index=0,
            name=f"Canvas {unit + 1} tray {number + 1}",
            unit_id=f"elegoo-canvas-{unit}",
            position=number,
            material=_material(tray),
            # What the numbers mean is not known; empty or not is not read out of them.
            platform_details=UNSET if state is None else {"Status": state},
        )
    return sources


def _material(tray: Json) -> Material | UnsetType:
    kind = loose.text(tray, "filament_type")
    if kind is None:
        return UNSET
    color = _COLOR.match(loose.text(tray, "filament_color") or "")
    return Material(
        type=kind,
        name=loose.text(tray, "filament_name") or UNSET,
        color_hex=color.group(1).upper() if color else UNSET,
        manufacturer=loose.text(tray, "brand") or UNSET,
    )


def _routes(canvas: Json, sources: set[str]) -> list[Route]:
    """Return the route of the tray in use (-1 for none); without a Canvas, of the one spool."""
    if EXTERNAL in sources:
        return [Route(source_id=EXTERNAL, tool_id=TOOL)]
    unit, tray = _number(canvas, "active_canvas_id"), _number(canvas, "active_tray_id")
    if unit is None or tray is None or _source_id(unit, tray) not in sources:
        return []
    return [Route(source_id=_source_id(unit, tray), tool_id=TOOL, state="loaded")]


def _details(canvas: Json) -> PlatformDetails | UnsetType:
    refill = loose.flag(canvas, "auto_refill")
    return UNSET if refill is None else {"AutoRefill": refill}


def _source_id(unit: int, tray: int) -> str:
    return f"elegoo-canvas-{unit}-{tray}"


def _tool(status: Json) -> Tool:
    extruder = loose.obj(status, "extruder")
    actual_c, target_c = loose.number(extruder, "temperature"), loose.number(extruder, "target")
    return Tool(
        id=TOOL,
        index=0,
        name="Nozzle",
        is_active=True,
        actual_celsius=loose.known(actual_c),
        target_celsius=loose.known(target_c),
    )
