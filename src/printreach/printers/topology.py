"""A material system within the contract's limits. Pure."""

from msgspec import structs

from printreach.contract.materials import (
    MAX_ROUTES,
    MAX_SOURCES,
    MAX_TOOLS,
    MAX_UNITS,
    MaterialSystem,
)
from printreach.contract.unset import UNSET


def within_limits(system: MaterialSystem) -> MaterialSystem:
    """Whole objects are left out, and what speaks of them with them: no route is left dangling."""
    tools, units = system.tools[:MAX_TOOLS], system.units[:MAX_UNITS]
    unit_ids = {unit.id for unit in units}
    sources = [
        source
        if source.unit_id is UNSET or source.unit_id in unit_ids
        else structs.replace(source, unit_id=UNSET)
        for source in system.sources[:MAX_SOURCES]
    ]
    source_ids, tool_ids = {source.id for source in sources}, {tool.id for tool in tools}
    routes = [
        route
        for route in system.routes
        if route.source_id in source_ids and route.tool_id in tool_ids
    ]
    return structs.replace(
        system, sources=sources, tools=tools, units=units, routes=routes[:MAX_ROUTES]
    )
