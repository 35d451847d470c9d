"""Material systems: one without a unit that feeds several filaments, and the limits of all."""

from printreach.contract.materials import (
    MAX_ROUTES,
    MAX_SOURCES,
    MAX_TOOLS,
    MAX_UNITS,
    Capabilities,
    MaterialSystem,
    Route,
    Source,
    Tool,
)


def within_limits(system: MaterialSystem) -> MaterialSystem:
    """Return the system with whole objects cut from the ends of its lists.

    Objects that belong to a cut object are cut, too: the sources of a unit, the routes of a source
    or tool. Sources are renumbered, since their index is their position in the list.
    """
    units, tools = system.units[:MAX_UNITS], system.tools[:MAX_TOOLS]
    cut = {unit.id for unit in system.units[MAX_UNITS:]} - {unit.id for unit in units}
    left = [source for source in system.sources if source.unit_id not in cut]
    sources = [_at(index, source) for index, source in enumerate(left[:MAX_SOURCES])]
    ends = {source.id for source in sources}, {tool.id for tool in tools}
    return MaterialSystem(
        capabilities=system.capabilities,
        sources=sources,
        tools=tools,
        units=units,
        routes=[route for route in system.routes if _joins(route, *ends)][:MAX_ROUTES],
        platform_details=system.platform_details,
    )


def _joins(route: Route, sources: set[str], tools: set[str]) -> bool:
    return route.source_id in sources and route.tool_id in tools


def _at(index: int, source: Source) -> Source:
    if source.index == index:
        return source
    fields = {name: getattr(source, name) for name in source.__struct_fields__}
    return Source(**{**fields, "index": index})


def spool_at_each_tool(sources: list[Source], tools: list[Tool]) -> MaterialSystem:
    """sources: the tools' spools, in the order of the tools."""
    has_several = len(tools) > 1
    return MaterialSystem(
        capabilities=Capabilities(
            supports_multi_material=has_several, supports_multi_tool=has_several
        ),
        sources=sources,
        tools=tools,
        units=[],
        routes=[
            Route(source_id=source.id, tool_id=tool.id)
            for source, tool in zip(sources, tools, strict=True)
        ],
    )
