"""The material system of a printer without a unit that feeds it several filaments. Pure."""

from printreach.contract.materials import Capabilities, MaterialSystem, Route, Source, Tool


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
