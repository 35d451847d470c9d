"""Tools of a Duet, each with the spool that feeds it. Pure."""

from printreach.contract.materials import (
    MAX_TOOLS,
    Capabilities,
    Material,
    MaterialSystem,
    Route,
    Source,
)
from printreach.contract.materials import Tool as ContractTool
from printreach.contract.unset import UNSET, UnsetType
from printreach.printers import loose
from printreach.printers.loose import Json

from . import model as duet
from .model import Tool

HAS_FILAMENT = {"ok": False, "noFilament": True}
"""Words of a filament monitor, and whether the source is empty then."""


def materials_of(model: Json) -> MaterialSystem | None:
    """Return the materials; None before tools were reported, and for a machine without any."""
    tools = [tool for tool in duet.tools(model) if tool.extruders or tool.heater.state][:MAX_TOOLS]
    if not tools:
        return None
    has_several = len(tools) > 1
    return MaterialSystem(
        capabilities=Capabilities(
            supports_multi_material=has_several, supports_multi_tool=has_several
        ),
        sources=[_source(model, index, tool) for index, tool in enumerate(tools)],
        tools=[_tool(model, tool) for tool in tools],
        units=[],
        routes=[_route(model, tool) for tool in tools],
    )


def _source(model: Json, index: int, tool: Tool) -> Source:
    filament = _filament(model, tool)
    return Source(
        id=f"spool{tool.number}",
        index=index,
        name=f"Spool {tool.number}",
        position=tool.number,
        is_empty=_is_empty(model, tool),
        material=UNSET if filament is None else Material(name=filament),
    )


def _tool(model: Json, tool: Tool) -> ContractTool:
    current = duet.current_tool(model)
    actual_c = tool.heater.actual_c
    is_known = loose.number(loose.obj(model, "state"), "currentTool") is not None
    return ContractTool(
        id=f"tool{tool.number}",
        index=tool.number,
        name=tool.name or f"Tool {tool.number}",
        is_active=current == tool.number if is_known else UNSET,
        actual_celsius=loose.known(actual_c),
        target_celsius=tool.heater.target_c if tool.heater.state else UNSET,
    )


def _route(model: Json, tool: Tool) -> Route:
    state = UNSET if _filament(model, tool) is None else "loaded"
    return Route(source_id=f"spool{tool.number}", tool_id=f"tool{tool.number}", state=state)


def _filament(model: Json, tool: Tool) -> str | None:
    """Return what was loaded with M701: the name that the owner gave it."""
    return loose.text(_of_drive(loose.obj(model, "move"), "extruders", tool), "filament")


def _is_empty(model: Json, tool: Tool) -> bool | UnsetType:
    monitor = _of_drive(loose.obj(model, "sensors"), "filamentMonitors", tool)
    return HAS_FILAMENT.get(loose.text(monitor, "status") or "", UNSET)


def _of_drive(reported: Json, key: str, tool: Tool) -> Json:
    """Return the entry of the tool's first extruder drive."""
    entries = loose.items(reported, key)
    drive = tool.extruders[0] if tool.extruders else len(entries)
    return loose.obj(entries[drive]) if drive < len(entries) else loose.EMPTY
