"""The parts of a Klipper printer, found by the names of its objects."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.printers.moonraker.machine import (
    LightKind,
    Machine,
    is_light,
    machine_of,
    power_lights,
    subscription,
)
from tests.printers.damage import JUNK
from tests.printers.moonraker.recordings import answers


def test_the_recorded_printer_has_what_it_was_given() -> None:
    machine = machine_of(answers()["printer.objects.list"]["objects"])

    assert machine.extruders == ("extruder",)
    assert machine.has_bed
    assert machine.chamber == "heater_generic chamber"
    assert machine.has_chamber_heater
    assert [(light.name, light.kind) for light in machine.lights] == [
        ("case_light", LightKind.PIN),
        ("case_leds", LightKind.LED),
    ]


def test_extruders_are_in_the_order_of_their_numbers() -> None:
    names = ["extruder10", "extruder2", "extruder", "extruder_stepper belted", "extruders"]

    assert machine_of(names).extruders == ("extruder", "extruder2", "extruder10")


@pytest.mark.parametrize(
    ("names", "chamber"),
    [
        (["temperature_sensor chamber"], "temperature_sensor chamber"),
        (["temperature_sensor Enclosure"], "temperature_sensor Enclosure"),
        (
            ["temperature_sensor a", "temperature_sensor cavity_top"],
            "temperature_sensor cavity_top",
        ),
        (
            ["temperature_sensor chamber", "heater_generic chamber_heater"],
            "heater_generic chamber_heater",
        ),
        (["temperature_sensor raspberry_pi", "heater_generic dryer"], None),
        (["gcode_macro HEAT_CHAMBER", "output_pin chamber"], None),
    ],
)
def test_the_chamber_is_found_by_its_name_and_a_heater_wins(
    names: list[str], chamber: str | None
) -> None:
    machine = machine_of(names)

    assert machine.chamber == chamber
    assert machine.has_chamber_heater == ("heater_generic" in (chamber or ""))


@pytest.mark.parametrize(
    "name",
    [
        *("light", "Lights", "caselight", "chamber_light", "led_light", "cavity_led", "lamp"),
        *("case_leds", "LED_strip", "led_bar", "enclosure_led"),
    ],
)
def test_names_of_lights(name: str) -> None:
    assert is_light(name)


@pytest.mark.parametrize(
    "name", ["fan", "led_enable", "bled", "status", "printer", "heater", "psu"]
)
def test_names_of_what_is_no_light(name: str) -> None:
    assert not is_light(name)


def test_what_can_not_be_named_in_gcode_is_no_light_to_be_switched() -> None:
    assert machine_of(["output_pin case light", "led light;M112", "led ok_light"]).lights == (
        machine_of(["led ok_light"]).lights
    )


def test_a_light_is_taken_once() -> None:
    assert len(machine_of(["led light", "output_pin light"]).lights) == 1


def test_a_lane_is_taken_once() -> None:
    assert machine_of(["AFC_stepper lane1", "AFC_lane lane1"]).lanes == ("AFC_stepper lane1",)


def test_sockets_are_lights_only_by_their_names() -> None:
    devices = [{"device": "printer", "status": "on"}, {"device": "room lamp", "status": "off"}]

    assert [light.name for light in power_lights({"devices": devices})] == ["room lamp"]


def test_klipper_is_asked_for_what_is_there_and_no_more() -> None:
    wanted = subscription(machine_of(["extruder", "gcode_macro M106", "output_pin case_light"]))

    assert wanted["extruder"] == ["temperature", "target"]
    assert wanted["output_pin case_light"] == ["value"]
    assert wanted.keys().isdisjoint({"fan", "heater_bed", "mmu", "AFC", "configfile"})


def test_multi_material_units_are_asked_for_where_there_are_any() -> None:
    names = ["mmu", "mmu_machine", "AFC", "AFC_stepper lane1", "AFC_lane lane2", "AFC_hub hub"]
    wanted = subscription(machine_of(names))

    assert wanted.keys() >= {"mmu", "mmu_machine", "AFC", "AFC_stepper lane1", "AFC_lane lane2"}
    assert "AFC_hub hub" not in wanted


@given(st.lists(JUNK | st.text(max_size=30)))
def test_no_answer_is_too_strange(names: list[object]) -> None:
    assert isinstance(machine_of(names), Machine)
