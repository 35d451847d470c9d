"""AMS units, spools and nozzles of Bambu printers."""

from copy import deepcopy
from typing import Any

import pytest

from printreach.contract.materials import MaterialSystem, Source
from printreach.contract.unset import UNSET
from printreach.printers.bambu.materials import materials_of
from tests.fakes.bambu.machine import AMS, MODULES, TRAY
from tests.printers.bambu.reports import H2D, known_from


def materials(**changes: object) -> MaterialSystem:
    return materials_of(known_from(**changes).report)


def with_module(name: str, **changes: object) -> MaterialSystem:
    return materials_of(known_from(**changes).report, [*MODULES, {"name": name}])


def ams(**changes: object) -> dict[str, Any]:
    return {**deepcopy(AMS), **changes}


def by_id(system: MaterialSystem) -> dict[str, Source]:
    return {source.id: source for source in system.sources}


def test_each_tray_is_a_source_of_its_unit() -> None:
    system = materials()
    slots = [source for source in system.sources if source.unit_id == "bambu-ams-0"]

    assert [source.position for source in slots] == [0, 1, 2, 3]
    assert [source.print_mapping_value for source in slots] == [0, 1, 2, 3]
    assert [source.is_empty for source in slots] == [False, False, True, False]


def test_the_second_unit_goes_on_counting_slots() -> None:
    unit = {"id": "1", "tray": [{**TRAY, "id": "2"}]}
    source = by_id(materials(ams=ams(ams=[unit])))["bambu-ams-1-2"]

    assert source.print_mapping_value == 6


def test_a_spool_with_a_tag_tells_what_remains_and_one_without_does_not() -> None:
    sources = by_id(materials())
    tagged, untagged = sources["bambu-ams-0-0"].material, sources["bambu-ams-0-1"].material

    assert tagged is not UNSET
    assert untagged is not UNSET
    assert (tagged.type, tagged.color_hex, tagged.remaining_percent) == ("PLA", "00AE42", 64.0)
    assert (untagged.type, untagged.remaining_percent) == ("PETG", UNSET)


def test_an_empty_slot_has_no_material_and_says_that_it_is_empty() -> None:
    empty = by_id(materials())["bambu-ams-0-2"]

    assert (empty.is_empty, empty.material) == (True, UNSET)


def test_without_the_bits_it_is_unknown_whether_a_slot_is_empty() -> None:
    slot = by_id(materials(ams=ams(tray_exist_bits=None)))["bambu-ams-0-2"]

    assert slot.is_empty is UNSET


def test_humidity_is_a_percentage_only_where_it_is_measured() -> None:
    measured = materials().units[0]
    unit = {"id": "0", "humidity": "3", "tray": []}
    level = materials(ams=ams(ams=[unit])).units[0]

    assert (measured.id, measured.humidity_percent) == ("bambu-ams-0", 38.0)
    assert measured.temperature_celsius == 24.5
    assert (level.humidity_percent, level.platform_details) == (UNSET, {"HumidityLevel": 3})


def test_a_unit_that_dries_says_so() -> None:
    system = materials(ams=ams(ams=[{"id": "0", "dry_time": 90, "tray": []}]))

    assert system.units[0].is_drying is True
    assert system.capabilities.supports_drying


@pytest.mark.parametrize(
    ("module", "can_dry"),
    [("ams/0", False), ("ams_f1/0", False), ("n3f/0", True), ("n3s/128", True)],
)
def test_a_unit_that_can_dry_says_so_while_it_does_not(module: str, can_dry: bool) -> None:
    system = with_module(module, ams=ams(ams=[{"id": "0", "dry_time": 0, "tray": []}]))

    assert system.units[0].is_drying is False
    assert system.capabilities.supports_drying is can_dry


@pytest.mark.parametrize(
    ("now", "target", "routes"),
    [
        ("255", "255", []),
        ("1", "1", [("bambu-ams-0-1", "loaded")]),
        ("1", "3", [("bambu-ams-0-1", "loaded"), ("bambu-ams-0-3", "loading")]),
        ("254", "254", [("bambu-external", "loaded")]),
        ("77", "77", []),
    ],
)
def test_routes_are_what_is_in_the_nozzle_and_what_is_on_its_way(
    now: str, target: str, routes: list[tuple[str, str]]
) -> None:
    system = materials(ams=ams(tray_now=now, tray_tar=target))

    assert [(route.source_id, route.state) for route in system.routes] == routes


def test_the_external_spool_is_number_minus_one() -> None:
    assert by_id(materials())["bambu-external"].print_mapping_value == -1


def test_a_printer_without_an_ams_has_its_external_spool_alone() -> None:
    system = materials(ams={"ams": []})

    assert [source.id for source in system.sources] == ["bambu-external"]
    assert not system.capabilities.supports_multi_material


def test_two_nozzles_are_two_tools_with_an_external_spool_each_and_no_routes() -> None:
    system = materials(**H2D, ams=ams(tray_now="1"))

    assert [(tool.actual_celsius, tool.target_celsius) for tool in system.tools] == [
        (218.0, 220.0),
        (31.0, 0.0),
    ]
    assert [source.id for source in system.sources][-2:] == [
        "bambu-external-0",
        "bambu-external-1",
    ]
    assert system.routes == []
    assert system.capabilities.supports_multi_tool
