"""Contract: the shape of a status, whatever the printer does."""

import msgspec

from printreach.contract.materials import (
    MAX_ROUTES,
    MAX_SOURCES,
    MAX_TOOLS,
    MAX_UNITS,
    MaterialSystem,
)
from printreach.contract.status import State, StatusResult
from tests.printers.asking import Json
from tests.printers.bench import Bench, on_the_bench

JOB_FIELDS = {"State", "SubState", "Error", "Lights", "CurrentPrint"}
PRINT_FIELDS = {
    *("Progress", "DurationSec", "TimeLeftSec", "FileName", "EstTotalFilUsedMm"),
    *("CurrentLayer", "TotalLayers", "Temps"),
}
TEMP_FIELDS = {"BedActual", "BedTarget", "HotendActual", "HotendTarget"}


def assert_is_a_status(status: Json) -> None:
    """Every field there that has to be, of the right type and in its range."""
    msgspec.convert(status, StatusResult, strict=True)
    job = status["JobStatus"]
    now = job["CurrentPrint"]
    assert job.keys() >= JOB_FIELDS
    assert now.keys() >= PRINT_FIELDS
    assert now["Temps"].keys() >= TEMP_FIELDS
    assert 0.0 <= now["Progress"] <= 100.0
    assert now["DurationSec"] >= 0
    assert now["TimeLeftSec"] is None or now["TimeLeftSec"] >= 0
    assert job["SubState"] != ""
    assert job["Error"] != ""


def assert_is_a_material_system(reported: Json) -> None:
    system = msgspec.convert(reported, MaterialSystem, strict=True)
    sources = [source.id for source in system.sources]
    tools = [tool.id for tool in system.tools]
    units = [unit.id for unit in system.units]
    assert len(sources) <= MAX_SOURCES
    assert len(tools) <= MAX_TOOLS
    assert len(units) <= MAX_UNITS
    assert len(system.routes) <= MAX_ROUTES
    for ids in (sources, tools, units):
        assert len(set(ids)) == len(ids)
    assert {route.source_id for route in system.routes} <= set(sources)
    assert {route.tool_id for route in system.routes} <= set(tools)
    assert {source.unit_id for source in system.sources if source.unit_id} - {msgspec.UNSET} <= set(
        units
    )
    assert [source.index for source in system.sources] == list(range(len(sources)))


class StatusContract:
    @on_the_bench
    async def test_an_idle_printer_has_every_field_of_a_status(self, bench: Bench) -> None:
        status = await bench.status()

        assert_is_a_status(status)
        assert status["JobStatus"]["State"] == State.IDLE
        assert status["JobStatus"]["Error"] is None
        assert status["JobStatus"]["CurrentPrint"]["TimeLeftSec"] is None
        assert status["PlatformVersion"] != ""

    @on_the_bench
    async def test_features_tell_what_this_printer_can(self, bench: Bench) -> None:
        assert (await bench.status())["Features"] == int(bench.rig.features)

    @on_the_bench
    async def test_lights_are_null_where_there_are_none(self, bench: Bench) -> None:
        lights = (await bench.job())["Lights"]

        assert (lights is None) == (not bench.rig.can_light)

    @on_the_bench
    async def test_materials_come_only_when_asked_for(self, bench: Bench) -> None:
        assert "MaterialSystem" not in (await bench.status())["JobStatus"]

        asked = await bench.status(IncludeMaterialSystem="true")

        reported = asked["JobStatus"]["MaterialSystem"]
        if reported is not None:
            assert_is_a_material_system(reported)
            assert reported["Tools"]
