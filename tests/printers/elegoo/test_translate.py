"""Elegoo printers' reports in the contract's words: as they are sent, and damaged."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract.codec import encode
from printreach.contract.status import State
from printreach.printers.elegoo import cc2 as cc2_printer
from printreach.printers.elegoo import sdcp as sdcp_printer
from printreach.printers.elegoo.cc2 import translate as cc2
from printreach.printers.elegoo.files import details_of, entry_of
from printreach.printers.elegoo.sdcp import translate as sdcp
from printreach.printers.port import View
from tests.fakes.elegoo_cc2 import CANVAS
from tests.printers.damage import damaged

Json = dict[str, Any]

SDCP_STATUS: Json = {
    "Status": {
        "CurrentStatus": [1],
        "TempOfHotbed": 59.9,
        "TempOfNozzle": 219.8,
        "TempOfBox": 31.2,
        "TempTargetHotbed": 60,
        "TempTargetNozzle": 220,
        "TempTargetBox": 0,
        "LightStatus": {"SecondLight": 1, "RgbLight": [0, 0, 0]},
        "PrintInfo": {
            "Status": 13,
            "CurrentLayer": 33,
            "TotalLayer": 165,
            "CurrentTicks": 2000,
            "TotalTicks": 9749,
            "Filename": "/local/cube.gcode",
            "ErrorNumber": 0,
            "Progress": 20,
        },
    },
    "MainboardID": "000000000001d354",
    "Topic": "sdcp/status/000000000001d354",
}
CC2_STATUS: Json = {
    "id": 7,
    "method": 1002,
    "result": {
        "error_code": 0,
        "machine_status": {
            "status": 2,
            "sub_status": 2075,
            "progress": 20,
            "exception_status": [],
        },
        "print_status": {
            "state": "printing",
            "filename": "cube.gcode",
            "current_layer": 33,
            "total_layer": 165,
            "print_duration": 2000,
            "remaining_time_sec": 7749,
        },
        "extruder": {"temperature": 219.8, "target": 220},
        "heater_bed": {"temperature": 59.9, "target": 60},
        "ztemperature_sensor": {"temperature": 31.2},
        "led": {"status": 1},
    },
}
CC2_CANVAS: Json = {"id": 8, "method": 2005, "result": {"error_code": 0, "canvas_info": CANVAS}}


def sdcp_view(status: int, **info: object) -> View:
    reported = {**SDCP_STATUS["Status"]["PrintInfo"], "Status": status, **info}
    message = {"Status": {**SDCP_STATUS["Status"], "PrintInfo": reported}}
    return sdcp.view_of(sdcp.with_message(sdcp.KnownState(), message))


def cc2_heard(word: str = "", status: int = 2, sub: int = 2075, **more: object) -> cc2.KnownState:
    result = CC2_STATUS["result"]
    machine = {**result["machine_status"], "status": status, "sub_status": sub, **more}
    reported = {**result["print_status"], "state": word}
    message = {
        **CC2_STATUS,
        "result": {**result, "machine_status": machine, "print_status": reported},
    }
    return cc2.with_message(cc2.KnownState(), message)


def cc2_state(word: str = "", status: int = 2, sub: int = 2075, **more: object) -> State:
    return cc2.view_of(cc2_heard(word, status, sub, **more)).job.state


def test_both_tell_the_same_print_alike() -> None:
    first = sdcp.view_of(sdcp.with_message(sdcp.KnownState(), SDCP_STATUS)).job
    second = cc2.view_of(cc2.with_message(cc2.KnownState(), CC2_STATUS)).job

    assert first.state is State.PRINTING
    assert first.current_print.time_left_sec == 7749
    assert first.current_print.file_name == "cube.gcode"
    assert first.lights == second.lights
    assert first.current_print.temps.hotend_target == 220


def test_sdcp_states_are_those_of_the_table() -> None:
    table = {
        State.IDLE: (0,),
        State.WARMING_UP: (1, 15, 16, 18, 19, 20, 21),
        State.PRINTING: (7, 13),
        State.PAUSED: (5, 6),
        State.CANCELLED: (8, 14),
        State.COMPLETE: (9,),
    }
    for state, numbers in table.items():
        assert {sdcp_view(number).job.state for number in numbers} == {state}


def test_a_resin_printer_counts_in_milliseconds_and_has_no_heat() -> None:
    info = {"Status": 3, "CurrentLayer": 5, "TotalLayer": 10, "CurrentTicks": 60_000}
    message = {"Status": {"CurrentStatus": [1], "PrintInfo": {**info, "TotalTicks": 90_000}}}
    view = sdcp.view_of(sdcp.with_message(sdcp.KnownState(), message))

    assert view.job.current_print.duration_sec == 60
    assert view.job.current_print.time_left_sec == 30
    assert view.job.current_print.progress == 50.0
    assert view.materials is None
    assert view.features == 32


def test_a_fault_of_sdcp_counts_when_the_print_has_ended() -> None:
    assert sdcp_view(14, ErrorNumber=2).job.state is State.ERROR
    assert sdcp_view(6, ErrorNumber=2).job.state is State.PAUSED
    assert "2" in (sdcp_view(6, ErrorNumber=2).job.error or "")


def test_codes_of_a_cc2_decide_where_there_is_no_word() -> None:
    assert cc2_state(sub=2502) is State.PAUSED
    assert cc2_state(sub=2401) is State.RESUMING
    assert cc2_state(sub=2077) is State.COMPLETE
    assert cc2_state(sub=2504) is State.CANCELLED
    assert cc2_state(status=3, sub=1152) is State.PRINTING
    assert cc2_state(status=11) is State.IDLE
    assert cc2_state(status=14) is State.ERROR


def test_heating_in_the_middle_of_a_print_is_printing() -> None:
    assert cc2_state("printing", sub=1045) is State.PRINTING


def test_the_number_that_a_normal_end_may_bring_is_no_error() -> None:
    assert cc2_state("complete", status=1, exception_status=[803]) is State.COMPLETE
    assert cc2_state("complete", status=1, exception_status=[804]) is State.ERROR


def test_news_change_what_they_name_and_a_missing_number_is_a_gap() -> None:
    news = {"method": 6000, "id": 4, "result": {"extruder": {"temperature": 200}}}
    first = cc2.with_message(cc2_heard("printing"), news)
    second = cc2.with_message(first, {**news, "id": 5})
    third = cc2.with_message(second, {**news, "id": 7})

    temps = cc2.view_of(first).job.current_print.temps
    assert (temps.hotend_actual, temps.hotend_target) == (200, 220)
    assert [known.has_gap for known in (first, second, third)] == [False, False, True]
    assert not cc2.with_message(third, CC2_STATUS).has_gap


def test_a_single_spool_leads_to_the_single_nozzle_on_both() -> None:
    for view in (
        sdcp.view_of(sdcp.with_message(sdcp.KnownState(), SDCP_STATUS)),
        cc2.view_of(cc2.with_message(cc2.KnownState(), CC2_STATUS)),
    ):
        assert view.materials is not None
        (route,), (source,), (tool,) = (
            view.materials.routes,
            view.materials.sources,
            view.materials.tools,
        )
        assert (route.source_id, route.tool_id) == (source.id, tool.id)


def test_a_canvas_is_a_unit_with_its_trays_and_the_one_in_use() -> None:
    system = cc2.view_of(
        cc2.with_message(cc2.with_message(cc2.KnownState(), CC2_STATUS), CC2_CANVAS)
    ).materials

    assert system is not None
    assert [unit.id for unit in system.units] == ["elegoo-canvas-0"]
    assert [source.index for source in system.sources] == [0, 1, 2]
    assert [route.source_id for route in system.routes] == ["elegoo-canvas-0-1"]
    assert system.capabilities.supports_multi_material


@pytest.mark.slow
@given(st.lists(damaged(SDCP_STATUS), max_size=3))
def test_no_damaged_sdcp_message_does_harm(messages: list[Any]) -> None:
    known = sdcp.KnownState()
    for message in messages:
        known = sdcp.with_message(known, message)
    view = sdcp.view_of(known)

    assert 0.0 <= view.job.current_print.progress <= 100.0
    encode(view.job)


@pytest.mark.slow
@given(st.lists(damaged(CC2_STATUS) | damaged(CC2_CANVAS), max_size=4))
def test_no_damaged_cc2_message_does_harm(messages: list[Any]) -> None:
    known = cc2.with_message(cc2.KnownState(), CC2_STATUS)
    for message in messages:
        known = cc2.with_message(known, message)
        known = cc2.with_message(
            known, {**message, "method": 6000} if isinstance(message, dict) else None
        )
    view = cc2.view_of(known)

    assert 0.0 <= view.job.current_print.progress <= 100.0
    encode(view.job)
    encode(view.materials)


@given(damaged({"FileList": [{"name": "/local/a.gcode", "FileSize": 3, "type": 1}]}))
def test_no_damaged_list_of_sdcp_does_harm(answer: Any) -> None:
    for file in sdcp_printer.listed(answer):
        assert entry_of(file).size_bytes >= 0
        encode(details_of(file))


@given(damaged({"file_list": [{"filename": "a.gcode", "size": 3, "type": "file", "layer": 2}]}))
def test_no_damaged_list_of_a_cc2_does_harm(answer: Any) -> None:
    for file in cc2_printer.listed(answer, ""):
        assert entry_of(file).size_bytes >= 0
        encode(details_of(file))
