"""The sources of filament: spools, Happy Hare, AFC; and the limits of their reports.

What these units report is written down from their sources (get_status() of Happy Hare 3 and AFC 1),
not recorded.
"""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract.codec import encode
from printreach.contract.materials import Material, MaterialSystem, Source
from printreach.contract.unset import UNSET
from printreach.printers.moonraker.machine import machine_of
from printreach.printers.moonraker.materials import materials_of
from printreach.printers.moonraker.spools import Spool, color_hex, spool_of
from printreach.printers.moonraker.status import KnownState, with_changes
from tests.printers.contract_status import assert_is_a_material_system
from tests.printers.damage import damaged

EXTRUDERS = {
    "toolhead": {"extruder": "extruder1"},
    "extruder": {"temperature": 30.0, "target": 0.0},
    "extruder1": {"temperature": 199.5, "target": 200.0},
}
MMU: dict[str, Any] = {
    "extruder": {"temperature": 210.0, "target": 210.0},
    "mmu": {
        "enabled": True,
        "num_gates": 4,
        "gate": 2,
        "tool": 1,
        "filament": "Loaded",
        "action": "Idle",
        "ttg_map": [0, 2, 1, 3],
        "gate_status": [1, 0, 2, -1],
        "gate_material": ["PLA", "", "PETG", "unknown"],
        "gate_color": ["ff8000", "", "red", "#00FF00AA"],
        "gate_color_rgb": [[1.0, 0.5, 0.0], [0, 0, 0], [1.0, 0.0, 0.0], [0, 1.0, 0]],
        "gate_temperature": [200, -1, 230, 0],
        "gate_filament_name": ["Galaxy Orange", "", "", ""],
        "gate_spool_id": [7, -1, -1, -1],
        "has_bypass": True,
    },
    "mmu_machine": {
        "num_units": 2,
        "unit_0": {"name": "Left box", "vendor": "ERCF", "num_gates": 2, "first_gate": 0},
        "unit_1": {"vendor": "Tradrack", "num_gates": 2, "first_gate": 2},
    },
}
AFC: dict[str, Any] = {
    "extruder": {"temperature": 210.0, "target": 210.0},
    "AFC": {"current_load": "lane2", "current_lane": None, "current_state": "Idle"},
    "AFC_stepper lane1": {
        "name": "lane1",
        "unit": "Turtle_1",
        "lane": 1,
        "map": "T0",
        "load": True,
        "prep": True,
        "tool_loaded": False,
        "material": "ABS",
        "color": "#1a2b3c",
        "weight": 750.5,
        "spool_id": 12,
        "filament_name": "Black ABS",
        "status": "Loaded",
        "extruder": "extruder",
    },
    "AFC_lane lane2": {
        "unit": "Turtle_1",
        "lane": 2,
        "map": "T1",
        "load": True,
        "prep": True,
        "tool_loaded": True,
        "material": "NONE",
        "extruder": "extruder",
    },
    "AFC_lane lane3": {"unit": "Turtle_2", "map": "", "load": False, "prep": False},
}
SPOOL = {
    "id": 3,
    "remaining_weight": 400.0,
    "initial_weight": 1000.0,
    "filament": {
        "name": "Silk Blue",
        "material": "PLA",
        "color_hex": "0000ff",
        "weight": 1000.0,
        "vendor": {"name": "Acme"},
    },
}


def known_of(objects: dict[str, Any]) -> KnownState:
    return with_changes(KnownState(machine=machine_of(objects)), objects)


def system_of(objects: dict[str, Any]) -> MaterialSystem:
    system = materials_of(known_of(objects))
    assert system is not None
    return system


def changed(objects: dict[str, Any], name: str, **fields: Any) -> dict[str, Any]:
    return {**objects, name: {**objects[name], **fields}}


def source(objects: dict[str, Any], source_id: str) -> Source:
    return next(found for found in system_of(objects).sources if found.id == source_id)


def route_states(objects: dict[str, Any]) -> dict[str, object]:
    return {
        route.source_id: route.state
        for route in system_of(objects).routes
        if route.state is not UNSET
    }


# Extruders alone.


def test_each_extruder_has_a_spool_of_its_own() -> None:
    system = system_of(EXTRUDERS)

    assert [tool.id for tool in system.tools] == ["extruder", "extruder1"]
    assert [tool.is_active for tool in system.tools] == [False, True]
    assert [(route.source_id, route.tool_id) for route in system.routes] == [
        ("spool-extruder", "extruder"),
        ("spool-extruder1", "extruder1"),
    ]
    assert system.capabilities.supports_multi_tool
    assert all(source.material is UNSET for source in system.sources)


def test_which_extruder_is_in_use_is_left_out_until_klipper_tells() -> None:
    spool = spool_of({"response": SPOOL, "error": None})
    untold = changed(EXTRUDERS, "toolhead", extruder=None)
    system = materials_of(replace(known_of(untold), spool=spool))

    assert system is not None
    assert [tool.is_active for tool in system.tools] == [UNSET, UNSET]
    assert [source.material for source in system.sources] == [UNSET, UNSET]


def test_a_printer_without_extruders_reports_no_materials() -> None:
    assert materials_of(known_of({"heater_bed": {"temperature": 20.0}})) is None


def test_the_nozzle_is_as_klippers_configuration_has_it() -> None:
    settings = {"extruder1": {"nozzle_diameter": 0.6}, "extruder": {"nozzle_diameter": "wide"}}
    system = materials_of(replace(known_of(EXTRUDERS), settings=settings))

    assert system is not None
    assert [tool.nozzle_diameter_mm for tool in system.tools] == [UNSET, 0.6]


# Spoolman.


def test_the_spool_in_use_is_the_active_extruders() -> None:
    spool = spool_of({"response": SPOOL, "error": None})
    system = materials_of(replace(known_of(EXTRUDERS), spool=spool))

    assert system is not None
    assert system.sources[0].material is UNSET
    assert system.sources[1].material == Material(
        type="PLA",
        name="Silk Blue",
        color_hex="0000FF",
        remaining_percent=40.0,
        manufacturer="Acme",
    )


@pytest.mark.parametrize("left_g", [-1.0, 1000.5, None])
def test_a_spool_with_an_impossible_rest_tells_none(left_g: float | None) -> None:
    spool = spool_of({**SPOOL, "remaining_weight": left_g})

    assert spool is not None
    assert spool.material.remaining_percent is UNSET


def test_a_spool_that_spoolman_does_not_know_is_none() -> None:
    assert spool_of({"response": None, "error": {"status_code": 404}}) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#1a2b3c", "1A2B3C"),
        ("1A2B3CFF", "1A2B3C"),
        ("", UNSET),
        ("red", UNSET),
        ("12345", UNSET),
        (None, UNSET),
    ],
)
def test_colours_are_six_digits_in_capitals(text: str | None, expected: object) -> None:
    assert color_hex(text) == expected


# Happy Hare.


def test_each_gate_of_happy_hare_is_a_source_in_its_unit() -> None:
    system = system_of(MMU)

    assert [source.id for source in system.sources] == [
        *("gate0", "gate1", "gate2", "gate3"),
        "bypass",
    ]
    assert [(unit.id, unit.name) for unit in system.units] == [
        ("mmu0", "Left box"),
        ("mmu1", "Tradrack"),
    ]
    assert [source.unit_id for source in system.sources] == [*["mmu0"] * 2, *["mmu1"] * 2, UNSET]
    assert [source.position for source in system.sources] == [0, 1, 0, 1, -2]
    assert [tool.id for tool in system.tools] == ["extruder"]


def test_a_gate_tells_what_is_in_it_as_far_as_it_knows() -> None:
    full, empty, buffered, unknown = (source(MMU, f"gate{number}") for number in range(4))

    assert full.material == Material(type="PLA", name="Galaxy Orange", color_hex="FF8000")
    assert full.platform_details == {"SpoolId": 7, "HotendTempC": 200}
    assert (full.is_empty, empty.is_empty, buffered.is_empty) == (False, True, False)
    assert empty.material is UNSET
    assert buffered.material == Material(type="PETG", color_hex="FF0000")
    assert (unknown.is_empty, unknown.material) == (UNSET, Material(color_hex="00FF00"))


def test_a_gate_is_selected_by_the_tool_that_is_mapped_to_it() -> None:
    numbers = [found.print_mapping_value for found in system_of(MMU).sources]

    assert numbers == [0, 2, 1, 3, UNSET]


@pytest.mark.parametrize(
    ("fields", "states"),
    [
        ({}, {"gate2": "loaded"}),
        ({"filament": "Unloaded"}, {}),
        ({"filament": "Unknown", "action": "Loading Ext"}, {"gate2": "loading"}),
        ({"filament": "Loaded", "action": "Unloading"}, {"gate2": "unloading"}),
        ({"gate": -2}, {"bypass": "loaded"}),
        ({"gate": -1}, {}),
    ],
)
def test_the_selected_gate_is_loaded_or_on_its_way(
    fields: dict[str, Any], states: dict[str, str]
) -> None:
    assert route_states(changed(MMU, "mmu", **fields)) == states


def test_every_gate_leads_to_the_extruder() -> None:
    assert {route.tool_id for route in system_of(MMU).routes} == {"extruder"}
    assert len(system_of(MMU).routes) == 5


def test_a_unit_that_is_switched_off_is_as_none() -> None:
    system = system_of(changed(MMU, "mmu", enabled=False))

    assert [source.id for source in system.sources] == ["spool-extruder"]


def test_units_without_first_gates_follow_one_another() -> None:
    units = {f"unit_{number}": {"num_gates": 2} for number in range(2)}
    system = system_of({**MMU, "mmu_machine": {"num_units": 2, **units}})

    assert [source.unit_id for source in system.sources[:4]] == ["mmu0", "mmu0", "mmu1", "mmu1"]


def test_gates_of_no_unit_name_none() -> None:
    system = system_of({**MMU, "mmu_machine": {"num_units": 1, "unit_0": {"num_gates": 2}}})

    assert [source.unit_id for source in system.sources[:4]] == ["mmu0", "mmu0", UNSET, UNSET]
    assert [source.position for source in system.sources[:4]] == [0, 1, 2, 3]


def test_more_gates_than_can_be_told_leave_no_route_dangling() -> None:
    many = changed(MMU, "mmu", num_gates=500, gate_status=[1] * 500)
    units = {f"unit_{number}": {"num_gates": 25} for number in range(20)}
    system = system_of({**many, "mmu_machine": {"num_units": 20, **units}})

    assert (len(system.sources), len(system.units), len(system.routes)) == (64, 8, 64)
    assert_is_a_material_system(json.loads(encode(system)))


# AFC.


def test_each_lane_of_afc_is_a_source_in_its_unit() -> None:
    system = system_of(AFC)

    assert [source.id for source in system.sources] == ["lane-lane1", "lane-lane2", "lane-lane3"]
    assert [unit.name for unit in system.units] == ["Turtle_1", "Turtle_2"]
    assert [source.print_mapping_value for source in system.sources] == [0, 1, UNSET]
    assert [source.is_empty for source in system.sources] == [False, False, True]
    assert system.sources[0].material == Material(type="ABS", name="Black ABS", color_hex="1A2B3C")
    assert system.sources[0].platform_details == {
        "SpoolId": 12,
        "WeightG": 750.5,
        "Status": "Loaded",
    }
    assert system.sources[1].material is UNSET


def test_the_lane_in_the_toolhead_is_loaded() -> None:
    assert route_states(AFC) == {"lane-lane2": "loaded"}


def test_a_lane_on_its_way_is_loading() -> None:
    doing = {"current_load": None, "current_lane": "lane1", "current_state": "Loading"}
    objects = changed(changed(AFC, "AFC", **doing), "AFC_lane lane2", tool_loaded=False)

    assert route_states(objects) == {"lane-lane1": "loading"}


def test_lanes_lead_to_the_extruder_that_they_name() -> None:
    two = {**AFC, "extruder1": {"temperature": 20.0}}
    two = changed(two, "AFC_lane lane2", extruder="extruder1")

    assert [(route.source_id, route.tool_id) for route in system_of(two).routes] == [
        ("lane-lane1", "extruder"),
        ("lane-lane2", "extruder1"),
    ]


# Limits, and whatever is said.


@pytest.mark.parametrize("objects", [EXTRUDERS, MMU, AFC])
@given(data=st.data())
def test_no_damage_harms_the_system(objects: dict[str, Any], data: st.DataObject) -> None:
    known = with_changes(KnownState(machine=machine_of(objects)), data.draw(damaged(objects)))
    system = materials_of(known)

    assert system is not None
    assert_is_a_material_system(json.loads(encode(system)))


@given(st.data())
def test_no_damage_to_a_spool_harms(data: st.DataObject) -> None:
    spool = spool_of(data.draw(damaged(SPOOL)))

    assert spool is None or isinstance(spool, Spool)
