"""Material systems within the limits that apps count on."""

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
    Unit,
)
from printreach.contract.unset import UNSET, UnsetType
from printreach.rules.prints.materials import within_limits


def source(number: int, unit: str | UnsetType = UNSET) -> Source:
    return Source(id=f"s{number}", index=number, name=f"Source {number}", unit_id=unit)


def system(
    *, units: int = 0, sources: list[Source] | None = None, tools: int = 1, routes: int = 0
) -> MaterialSystem:
    sources = [source(0)] if sources is None else sources
    return MaterialSystem(
        capabilities=Capabilities(),
        sources=sources,
        tools=[Tool(id=f"t{n}", index=n, name=f"Tool {n}") for n in range(tools)],
        units=[Unit(id=f"u{n}", index=n, name=f"Unit {n}") for n in range(units)],
        routes=[
            Route(source_id=f"s{n % len(sources)}", tool_id=f"t{n % tools}") for n in range(routes)
        ],
    )


def test_what_is_within_the_limits_stays_as_it_is() -> None:
    small = system(units=2, sources=[source(0, "u0"), source(1)], tools=2, routes=2)

    assert within_limits(small) == small


def test_what_is_too_much_is_cut_from_the_ends() -> None:
    large = system(units=20, sources=[source(n) for n in range(100)], tools=30, routes=90)

    cut = within_limits(large)

    assert cut.units == large.units[:MAX_UNITS]
    assert cut.sources == large.sources[:MAX_SOURCES]
    assert cut.tools == large.tools[:MAX_TOOLS]
    assert len(cut.routes) <= MAX_ROUTES


def test_no_route_leads_to_what_was_cut() -> None:
    cut = within_limits(system(sources=[source(n) for n in range(100)], tools=30, routes=300))

    sources, tools = {one.id for one in cut.sources}, {one.id for one in cut.tools}
    assert cut.routes
    assert all(route.source_id in sources for route in cut.routes)
    assert all(route.tool_id in tools for route in cut.routes)


def test_routes_that_stay_are_not_crowded_out_by_those_that_go() -> None:
    sources = [source(n) for n in range(70)]
    routes = [Route(source_id=f"s{n}", tool_id="t0") for n in reversed(range(70))]
    large = MaterialSystem(
        capabilities=Capabilities(),
        sources=sources,
        tools=[Tool(id="t0", index=0, name="Tool")],
        units=[],
        routes=routes,
    )

    assert {route.source_id for route in within_limits(large).routes} == {
        one.id for one in sources[:MAX_SOURCES]
    }


def test_the_sources_of_a_unit_go_with_it_and_the_rest_is_counted_anew() -> None:
    sources = [source(0, "u8"), source(1, "u0"), source(2)]

    cut = within_limits(system(units=9, sources=sources))

    assert [(one.id, one.index) for one in cut.sources] == [("s1", 0), ("s2", 1)]
