"""Klipper's reports in the contract's words: as a real Moonraker sent them, and damaged."""

import json
from dataclasses import replace
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract.codec import encode
from printreach.contract.commands import CommandStatus
from printreach.contract.status import Adjustments, CurrentPrint, Feature, Light, State
from printreach.contract.unset import UNSET
from printreach.printers.moonraker.entries import NOTHING_KNOWN, Metadata
from printreach.printers.moonraker.machine import machine_of, with_power_change
from printreach.printers.moonraker.status import KnownState, state_of, with_changes
from printreach.printers.moonraker.translate import full_value, trouble_of, view_of
from printreach.printers.port import View
from tests.fakes.printer import EVERY_FEATURE_BUT_LEVELS
from tests.printers.damage import damaged
from tests.printers.moonraker.recordings import at_first, pushed, statuses, through

WHERE = "127.0.0.1:7125"


def view(known: KnownState) -> View:
    return view_of(known, "Moonraker 0.11.0")


def print_of(known: KnownState) -> CurrentPrint:
    return view(known).job.current_print


def first(state: State) -> KnownState:
    """The first moment of a state in the recording."""
    return next(known for known in through(at_first()) if state_of(known) is state)


def last(state: State) -> KnownState:
    return [known for known in through(at_first()) if state_of(known) is state][-1]


def printing(**more: Any) -> KnownState:
    """A print under way for 60 s, a quarter of its file read, of which nothing else is known."""
    status = {
        "print_stats": {"state": "printing", "filename": "a/b.gcode", "print_duration": 60.0},
        "virtual_sdcard": {"progress": 0.25, "file_position": 250},
        **more,
    }
    return with_changes(replace(at_first(sliced=False)), status)


# States.


@pytest.mark.parametrize(
    ("word", "printed_s", "state"),
    [
        ("standby", 0.0, State.IDLE),
        ("printing", 0.0, State.WARMING_UP),
        ("printing", 0.000009, State.WARMING_UP),
        ("printing", 0.00001, State.PRINTING),
        ("paused", 5.0, State.PAUSED),
        ("paused", 0.0, State.PAUSED),
        ("complete", 5.0, State.COMPLETE),
        ("cancelled", 5.0, State.CANCELLED),
        ("error", 5.0, State.ERROR),
        ("something new", 5.0, State.IDLE),
    ],
)
def test_a_state_is_klippers_and_warms_up_until_it_extrudes(
    word: str, printed_s: float, state: State
) -> None:
    stats = {"print_stats": {"state": word, "print_duration": printed_s}}

    assert view(with_changes(at_first(), stats)).job.state is state


def test_a_recorded_day_has_the_states_that_were_ordered() -> None:
    seen = [state_of(known) for known in through(at_first())]

    assert [state for state, _ in groupby(seen)] == [
        *(State.IDLE, State.WARMING_UP, State.PRINTING, State.PAUSED, State.PRINTING),
        *(State.CANCELLED, State.WARMING_UP, State.PRINTING, State.COMPLETE),
        *(State.WARMING_UP, State.PRINTING, State.ERROR, State.IDLE),
    ]


def test_a_failed_print_tells_klippers_words() -> None:
    job = view(first(State.ERROR)).job

    assert job.error == "Lost communication with MCU"


def test_a_failure_without_words_still_has_some() -> None:
    assert view(
        with_changes(at_first(), {"print_stats": {"state": "error", "message": ""}})
    ).job.error


def test_what_a_print_shows_on_its_display_is_told_while_it_is_under_way() -> None:
    assert view(first(State.PRINTING)).job.sub_state == "Hello"
    assert view(last(State.IDLE)).job.sub_state is None


@pytest.mark.parametrize(
    ("state", "message", "sentence"),
    [
        ("startup", "Printer is not ready", "Klipper at 127.0.0.1:7125 is starting."),
        ("disconnected", None, "Moonraker at 127.0.0.1:7125 has no connection to Klipper."),
        (
            "shutdown",
            "MCU 'mcu' shutdown: Timer too close\nOnce the underlying issue is corrected…",
            "Klipper at 127.0.0.1:7125 has shut down: MCU 'mcu' shutdown: Timer too close.",
        ),
        (
            "error",
            "Option 'pin' in section 'fan' must be specified.\n",
            "Klipper at 127.0.0.1:7125 reports an error: Option 'pin' in section 'fan' must be"
            " specified.",
        ),
        ("error", None, "Klipper at 127.0.0.1:7125 reports an error."),
        ("sulking", "", "Klipper at 127.0.0.1:7125 is not ready."),
    ],
)
def test_a_klipper_that_is_not_ready_says_why(
    state: str, message: str | None, sentence: str
) -> None:
    trouble = trouble_of(state, message, WHERE)

    assert (trouble.status, trouble.sentence) == (CommandStatus.NOT_CONNECTED, sentence)


# The print.


def test_progress_is_of_the_gcode_without_pictures_and_settings() -> None:
    metadata = Metadata(first_byte=200, last_byte=300)

    assert print_of(with_changes(replace(printing(), metadata=metadata), {})).progress == 50.0


def test_progress_is_of_the_file_where_nothing_is_known_of_it() -> None:
    assert print_of(printing()).progress == 25.0


def test_a_complete_print_is_at_a_hundred_with_nothing_left() -> None:
    now = print_of(first(State.COMPLETE))

    assert (now.progress, now.time_left_sec) == (100.0, 0)


def test_a_cancelled_print_stays_where_it_was_although_klipper_forgets() -> None:
    before = next(
        known
        for known, after in zip(through(at_first()), through(at_first())[1:], strict=False)
        if state_of(after) is State.CANCELLED
    )
    now = print_of(first(State.CANCELLED))

    assert now.progress == print_of(before).progress > 0
    assert now.current_layer == 1
    assert now.time_left_sec is None


def test_time_left_is_what_the_slicer_estimates_at_the_speed_it_is_printed_with() -> None:
    known = with_changes(printing(), {"gcode_move": {"speed_factor": 1.5}})
    known = replace(known, metadata=Metadata(estimated_s=400.0))

    assert print_of(known).time_left_sec == 400 * 0.75 / 1.5


def test_time_left_is_reckoned_from_the_time_so_far_without_an_estimate() -> None:
    assert print_of(printing()).time_left_sec == 180


def test_time_left_is_unknown_before_anything_was_printed() -> None:
    start = {"print_stats": {"print_duration": 0.0}, "virtual_sdcard": {"progress": 0.0}}

    assert print_of(with_changes(printing(), start)).time_left_sec is None


def test_time_left_is_the_estimate_while_it_warms_up() -> None:
    assert print_of(first(State.WARMING_UP)).time_left_sec in range(95, 101)


def test_no_time_is_left_too_long_to_be_said() -> None:
    endless = {"virtual_sdcard": {"progress": 1e-12}}

    assert print_of(with_changes(printing(), endless)).time_left_sec == 2**31 - 1


def test_layers_are_those_that_the_print_tells() -> None:
    info = {"print_stats": {"info": {"total_layer": 120, "current_layer": 7}}}
    now = print_of(with_changes(printing(), info))

    assert (now.current_layer, now.total_layers) == (7, 120)


@pytest.mark.parametrize(
    ("height_mm", "layer"),
    [(0.3, 1), (0.45, 2), (0.5, 2), (0.7, 3), (20.0, 3), (9e15, 3), (-9e15, 0)],
)
def test_layers_are_reckoned_from_the_height_where_it_tells_none(
    height_mm: float, layer: int
) -> None:
    position = {"gcode_move": {"gcode_position": [10.0, 10.0, height_mm, 3.0]}}
    now = print_of(with_changes(replace(printing(), metadata=at_first().metadata), position))

    assert (now.current_layer, now.total_layers) == (layer, 3)


def test_a_nozzle_that_is_lifted_in_a_pause_changes_no_layer() -> None:
    known = replace(printing(), metadata=at_first().metadata)
    known = with_changes(known, {"gcode_move": {"gcode_position": [0, 0, 0.5, 0]}})
    paused = {"print_stats": {"state": "paused"}, "gcode_move": {"gcode_position": [0, 0, 50, 0]}}

    assert print_of(with_changes(known, paused)).current_layer == 2


def test_layers_are_unknown_without_a_word_of_them() -> None:
    now = print_of(printing())

    assert (now.current_layer, now.total_layers) == (None, None)


def test_the_duration_is_of_printing_and_stands_still_in_a_pause() -> None:
    paused = [k for k in through(at_first()) if state_of(k) is State.PAUSED]

    assert len({print_of(known).duration_sec for known in paused}) == 1
    assert print_of(last(State.PRINTING)).duration_sec == 1


def test_a_print_without_extrusion_lasted_as_long_as_it_did() -> None:
    stats = {"state": "complete", "print_duration": 0.0, "total_duration": 12.0}

    assert print_of(with_changes(printing(), {"print_stats": stats})).duration_sec == 12


def test_the_file_of_the_latest_print_is_still_named_when_klipper_has_put_it_away() -> None:
    now = print_of(last(State.IDLE))

    assert now.file_name == "sliced part.gcode"
    assert (now.progress, now.duration_sec, now.current_layer) == (0.0, 0, None)


def test_a_new_print_begins_anew() -> None:
    known = with_changes(printing(), {"print_stats": {"info": {"current_layer": 9}}})
    ended = with_changes(
        known, {"print_stats": {"state": "complete", "info": {"current_layer": None}}}
    )
    again = {
        "print_stats": {"state": "printing", "print_duration": 0.0, "filename": "a/b.gcode"},
        "virtual_sdcard": {"progress": 0.0},
    }
    now = print_of(with_changes(ended, again))

    assert (now.progress, now.current_layer) == (0.0, None)


# Heat, light, features.


def test_the_chambers_heater_is_told_rather_than_a_sensor() -> None:
    temps = print_of(at_first()).temps

    assert (temps.chamber_actual, temps.chamber_target) == (22.0, 0.0)


def test_a_chamber_with_a_sensor_alone_has_no_target() -> None:
    machine = machine_of(["extruder", "temperature_sensor Enclosure_Temp"])
    status = {"temperature_sensor Enclosure_Temp": {"temperature": 31.5}}
    temps = print_of(with_changes(KnownState(machine=machine), status)).temps

    assert (temps.chamber_actual, temps.chamber_target) == (31.5, UNSET)


def test_the_hotend_is_the_extruder_in_use() -> None:
    machine = machine_of(["toolhead", "extruder1", "extruder"])
    status = {
        "toolhead": {"extruder": "extruder1"},
        "extruder": {"temperature": 30.0, "target": 0.0},
        "extruder1": {"temperature": 199.5, "target": 200.0},
    }
    temps = print_of(with_changes(KnownState(machine=machine), status)).temps

    assert (temps.hotend_actual, temps.hotend_target) == (199.5, 200.0)


def test_pins_leds_and_sockets_are_lights_by_their_names() -> None:
    known = at_first()

    assert view(known).job.lights == [
        Light(name="case_light", on=False),
        Light(name="case_leds", on=False),
        Light(name="cabinet_light", on=False),
    ]


def test_a_light_is_on_with_any_value_or_colour_above_zero() -> None:
    known = with_changes(
        at_first(),
        {
            "output_pin case_light": {"value": 0.1},
            "neopixel case_leds": {"color_data": [[0, 0, 0, 0], [0, 0, 0.2, 0]]},
        },
    )
    change = next(reported for reported in pushed() if reported["method"] == "notify_power_changed")
    known = replace(known, power=with_power_change(known.power, change["params"]))

    assert all(light.on for light in view(known).job.lights or [])


def test_a_pin_is_turned_fully_on_by_its_own_scale() -> None:
    known = replace(at_first(), settings={"output_pin case_light": {"scale": 255.0}})
    light = known.machine.lights[0]

    assert (full_value(known, light), full_value(at_first(), light)) == (255.0, 1.0)


def test_a_printer_without_lights_says_so_by_null() -> None:
    assert view(KnownState(machine=machine_of(["extruder"]))).job.lights is None


def test_features_are_those_of_what_is_there() -> None:
    assert view(at_first()).features == EVERY_FEATURE_BUT_LEVELS & ~Feature.FAN_CONTROL
    always = Feature.EMERGENCY_STOP | Feature.FIRMWARE_RESTART
    assert view(replace(at_first(), machine=machine_of([]), power=())).features == always
    bed = machine_of(["heater_bed", "toolhead"])
    expected = Feature.AXIS_MOVEMENT | Feature.HOMING | Feature.TEMPERATURE_CONTROL
    expected |= Feature.AXIS_HOMING | Feature.SPEED_CONTROL | Feature.Z_OFFSET_CONTROL
    assert view(KnownState(machine=bed)).features == expected | always


def test_adjustments_are_those_that_klipper_reports() -> None:
    told = {
        "gcode_move": {
            "speed_factor": 1.5,
            "extrude_factor": 0.955,
            "homing_origin": [0.0, 0.0, -0.075, 0.0],
        },
        "fan": {"speed": 0.4},
    }
    known = with_changes(KnownState(machine=machine_of(["fan"])), told)

    assert view(known).job.adjustments == Adjustments(
        speed_percent=150, flow_percent=96, fan_percent=40, z_offset_mm=-0.075
    )
    assert view(KnownState()).job.adjustments == Adjustments()


# Whatever is said.


@pytest.mark.slow
@given(st.data())
def test_no_damage_to_what_is_said_harms_the_view(data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(statuses()) - 1))
    known = through(at_first())[position]
    for _ in range(2):
        known = with_changes(known, data.draw(damaged(statuses()[position])))

    assert_is_in_the_contract(view(known))


@given(st.data())
def test_no_damage_to_the_first_answer_harms_the_view(data: st.DataObject) -> None:
    known = replace(at_first(), objects={}, metadata=NOTHING_KNOWN)
    known = with_changes(
        known, data.draw(damaged({name: dict(at) for name, at in at_first().objects.items()}))
    )

    assert_is_in_the_contract(view(known))


def assert_is_in_the_contract(seen: View) -> None:
    now = seen.job.current_print
    assert 0.0 <= now.progress <= 100.0
    assert now.duration_sec >= 0
    assert now.time_left_sec is None or now.time_left_sec >= 0
    assert now.est_total_fil_used_mm >= 0
    assert now.current_layer is None or now.current_layer >= 0
    assert json.loads(encode(seen.job)).keys() >= {"State", "SubState", "Error", "Lights"}
    assert encode(seen.materials)
