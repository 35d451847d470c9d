"""A Bambu printer's report in the words of the contract."""

from copy import deepcopy
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract.status import Feature, JobStatus, State
from printreach.contract.unset import UNSET
from printreach.printers.bambu.known_state import KnownState, with_message
from printreach.printers.bambu.stopwatch import Stopwatch
from printreach.printers.bambu.translate import view_of
from printreach.printers.port import View
from tests.printers.bambu.reports import H2D, known_from, product, whole

NOTHING_MEASURED = Stopwatch()


def view(known: KnownState) -> View:
    return view_of(known, NOTHING_MEASURED, 0.0)


def job(**changes: object) -> JobStatus:
    return view(known_from(**changes)).job


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"gcode_state": "IDLE"}, State.IDLE),
        ({"gcode_state": "INIT"}, State.IDLE),
        ({"gcode_state": "OFFLINE"}, State.IDLE),
        ({"gcode_state": "UNKNOWN"}, State.IDLE),
        ({"gcode_state": "a new word"}, State.IDLE),
        ({"gcode_state": "PREPARE"}, State.WARMING_UP),
        ({"gcode_state": "SLICING"}, State.PRINTING),
        ({"gcode_state": "RUNNING", "stg_cur": 0}, State.PRINTING),
        ({"gcode_state": "RUNNING", "stg_cur": 2}, State.WARMING_UP),
        ({"gcode_state": "RUNNING", "stg_cur": 7}, State.WARMING_UP),
        ({"gcode_state": "PAUSE"}, State.PAUSED),
        ({"gcode_state": "PAUSE", "print_error": 0x07018011}, State.PAUSED),
        ({"gcode_state": "PAUSE", "print_error": 134184967}, State.PAUSED),
        ({"gcode_state": "FINISH", "total_layer_num": 20}, State.COMPLETE),
        ({"gcode_state": "FINISH", "total_layer_num": 0}, State.IDLE),
        ({"gcode_state": "FAILED"}, State.CANCELLED),
        ({"gcode_state": "FAILED", "print_error": 0x0300400C}, State.CANCELLED),
        ({"gcode_state": "FAILED", "print_error": 0x0500400E}, State.CANCELLED),
        ({"gcode_state": "FAILED", "fail_reason": "50348044"}, State.CANCELLED),
        ({"gcode_state": "FAILED", "fail_reason": "0"}, State.CANCELLED),
        ({"gcode_state": "FAILED", "fail_reason": "1"}, State.CANCELLED),
        ({"gcode_state": "FAILED", "fail_reason": "50364426"}, State.ERROR),
        ({"gcode_state": "RUNNING", "fail_reason": "50364426"}, State.PRINTING),
        ({"gcode_state": "RUNNING", "print_error": 0x05008030}, State.PRINTING),
        ({"gcode_state": "FAILED", "print_error": 0x0300800A}, State.ERROR),
        ({"gcode_state": "RUNNING", "print_error": 0x0300800A}, State.ERROR),
    ],
)
def test_states_are_as_the_table_has_them(changes: dict[str, Any], state: State) -> None:
    assert job(**changes).state is state


def test_an_error_is_numbered_as_on_the_printers_screen() -> None:
    error = job(
        gcode_state="FAILED",
        print_error=0x0300800A,
        hms=[{"attr": 0x03000100, "code": 0x00010001}],
    ).error

    assert error == "The printer reports error 0300-800A (HMS 0300-0100-0001-0001)."


def test_the_reason_of_a_failed_print_is_told_after_its_error_was_cleared() -> None:
    error = job(gcode_state="FAILED", print_error=0, fail_reason="50364426").error

    assert error == "The printer reports error 0300-800A."


def test_a_health_notice_alone_is_no_error() -> None:
    reported = job(gcode_state="IDLE", hms=[{"attr": 0x07000100, "code": 0x00030002}])

    assert (reported.state, reported.error) == (State.IDLE, None)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gcode_state": "RUNNING", "stg_cur": 1}, "Levelling the bed"),
        ({"gcode_state": "RUNNING", "stg_cur": 0}, None),
        ({"gcode_state": "RUNNING", "stg_cur": 7}, "Heating the nozzle"),
        ({"gcode_state": "IDLE", "stg_cur": 255}, None),
        ({"gcode_state": "IDLE", "stg_cur": -1}, None),
        ({"gcode_state": "PAUSE", "stg_cur": 16}, "Paused by a person"),
        ({"gcode_state": "PAUSE", "print_error": 0x07008011}, "The filament ran out"),
        (
            {"gcode_state": "PAUSE", "print_error": 0x03008003},
            "The printer's camera saw a failed print",
        ),
    ],
)
def test_a_sub_state_tells_the_stage_or_why_it_rests(
    changes: dict[str, Any], words: str | None
) -> None:
    assert job(**changes).sub_state == words


def test_what_is_left_of_the_print_before_is_not_told_of_the_next() -> None:
    stale = {"mc_percent": 100, "layer_num": 20, "total_layer_num": 20}
    now = job(gcode_state="PREPARE", **stale).current_print

    assert (now.progress, now.current_layer, now.total_layers) == (0.0, None, None)


def test_a_running_print_tells_progress_and_layers() -> None:
    now = job(gcode_state="RUNNING", mc_percent=42, layer_num=3, total_layer_num=20).current_print

    assert (now.progress, now.current_layer, now.total_layers) == (42.0, 3, 20)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"subtask_name": "part.gcode.3mf"}, "part.gcode.3mf"),
        ({"subtask_name": "", "gcode_file": "folder/part.gcode"}, "part.gcode"),
        ({}, ""),
    ],
)
def test_the_name_is_the_tasks_else_the_files(changes: dict[str, Any], name: str) -> None:
    assert job(**changes).current_print.file_name == name


@pytest.mark.parametrize(
    ("name", "chamber"),
    [("Bambu Lab X1 Carbon", 33.5), ("Bambu Lab P1S", UNSET), ("Bambu Lab unheard-of", UNSET)],
)
def test_a_chamber_is_told_only_where_it_is_measured(name: str, chamber: object) -> None:
    known = with_message(known_from(chamber_temper=33.5), product(name))

    assert view(known).job.current_print.temps.chamber_actual == chamber


def test_the_light_is_on_when_it_flashes() -> None:
    lights = job(lights_report=[{"node": "chamber_light", "mode": "flashing"}]).lights

    assert lights is not None
    assert [(light.name, light.on) for light in lights] == [("chamber_light", True)]


def test_a_printer_without_a_light_has_none_and_can_switch_none() -> None:
    reported = view(known_from(lights_report=[]))

    assert reported.job.lights is None
    assert Feature.LIGHT_CONTROL not in reported.features


def test_a_printer_with_two_nozzles_extrudes_nothing_by_hand() -> None:
    assert Feature.EXTRUSION in view(known_from()).features
    assert Feature.EXTRUSION not in view(known_from(**H2D)).features


def test_the_version_names_the_product_and_its_firmware() -> None:
    assert view(known_from()).platform_version == "Bambu Lab P1S 01.07.00.00"


# --- what no printer should say -------------------------------------------------------------------

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.sampled_from(["", "RUNNING", "PAUSE", "-1", "1e999", "zz", "\ud800", "255"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "tray", "temp", "info", "node"]), inner)
    ),
    max_leaves=6,
)
FIELDS = sorted(whole()["print"])


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from([*FIELDS, "extruder", "vir_slot"]), JSON, max_size=6))
def test_any_field_may_be_of_any_kind(changes: dict[str, Any]) -> None:
    reported = view(known_from(**{**changes, "command": "push_status"}))

    _assert_can_be_told(reported)


@given(st.sets(st.sampled_from(FIELDS)))
def test_any_field_may_be_missing(missing: set[str]) -> None:
    report = {key: value for key, value in whole()["print"].items() if key not in missing}

    _assert_can_be_told(view(KnownState(report=report)))


@pytest.mark.slow
@given(JSON, st.integers(0, 3))
def test_any_part_of_a_tray_may_be_of_any_kind(value: Any, position: int) -> None:
    ams = deepcopy(whole()["print"]["ams"])
    tray = ams["ams"][0]["tray"][position]
    for key in tray:
        unit = {"id": "0", "tray": [{**tray, key: value}]}
        _assert_can_be_told(view(known_from(ams={**ams, "ams": [unit]})))


@given(JSON)
def test_any_message_at_all_is_survived(message: Any) -> None:
    before = known_from()

    for reported in (message, {"print": message}, {"info": message}):
        _assert_can_be_told(view(with_message(before, reported)))


def _assert_can_be_told(reported: View) -> None:
    msgspec.json.encode(reported.job)
    msgspec.json.encode(reported.materials)
    assert 0.0 <= reported.job.current_print.progress <= 100.0
