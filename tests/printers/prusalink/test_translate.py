"""PrusaLink's words in the contract's: over what a real one said, whole and damaged."""

import json
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract.codec import encode
from printreach.contract.commands import CommandStatus
from printreach.contract.status import CurrentPrint, Feature, State
from printreach.contract.unset import UNSET
from printreach.printers import loose
from printreach.printers.port import View
from printreach.printers.prusalink.translate import (
    KnownState,
    Machine,
    is_introduction,
    is_status,
    machine_of,
    view_of,
    wants_job,
    with_status,
)
from tests.printers.damage import damaged
from tests.printers.prusalink.recordings import MOMENTS, buddy, recorded

WHERE = "PrusaLink at mk3.local:80"
PI = Machine(version="0.8.1", nozzle_mm=0.4)
STEP_S = 5.0


def status(moment: str) -> dict[str, Any]:
    found: dict[str, Any] = recorded()[f"{moment}: v1/status"]
    return found


def with_state(word: str, **printer: object) -> dict[str, Any]:
    idle = status("idle")
    return {**idle, "printer": {**idle["printer"], "state": word, **printer}}


def until(moment: str) -> KnownState:
    """The known state at a moment, after everything before it."""
    known = KnownState()
    for count, each in enumerate(MOMENTS[: MOMENTS.index(moment) + 1]):
        job = recorded()[f"{each}: v1/job"] if wants_job(known, status(each)) else None
        known = with_status(known, status(each), loose.obj(job), count * STEP_S)
    return known


def view(known: KnownState) -> View:
    return view_of(known, PI, WHERE)


def print_of(known: KnownState) -> CurrentPrint:
    return view(known).job.current_print


def test_a_whole_recording_passes_through_the_states_in_their_order() -> None:
    assert [state for state, _ in groupby(until(moment).state for moment in MOMENTS)] == [
        *(State.IDLE, State.PRINTING, State.PAUSED, State.PRINTING, State.CANCELLED, State.IDLE),
        *(State.PRINTING, State.COMPLETE, State.IDLE, State.PRINTING, State.ERROR),
    ]


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("IDLE", State.IDLE),
        ("READY", State.IDLE),
        ("BUSY", State.WARMING_UP),
        ("PRINTING", State.PRINTING),
        ("PAUSED", State.PAUSED),
        ("FINISHED", State.COMPLETE),
        ("STOPPED", State.CANCELLED),
        ("ERROR", State.ERROR),
        ("ATTENTION", State.ERROR),
        ("SOMETHING NEW", State.IDLE),
    ],
)
def test_each_word_for_a_state_has_one_in_the_contract(word: str, state: State) -> None:
    assert with_status(KnownState(), with_state(word), {}, 0.0).state is state


def test_an_unknown_word_with_a_job_is_taken_for_printing() -> None:
    assert (
        with_status(KnownState(), {**with_state("NEW"), "job": {"id": 1}}, {}, 0.0).state
        is State.PRINTING
    )


def test_a_running_print_has_its_figures() -> None:
    now = print_of(until("printing"))

    assert now.file_name == "plain.gcode"
    assert now.progress == status("printing")["job"]["progress"]
    assert now.duration_sec >= status("printing")["job"]["time_printing"] > 0
    assert (now.temps.hotend_target, now.temps.bed_target) == (60.0, 40.0)
    assert (now.current_layer, now.total_layers) == (None, None)


def test_a_print_that_was_sliced_has_what_the_slicer_wrote() -> None:
    now = print_of(until("printing what was sliced"))

    assert now.file_name == "sliced part.gcode"
    assert now.est_total_fil_used_mm == 1234
    assert now.est_total_fil_weight_mg == 3680
    assert now.time_left_sec is not None
    assert 0 < now.time_left_sec <= 100


def test_a_job_is_asked_for_once_for_each_print() -> None:
    assert wants_job(KnownState(), status("printing"))
    assert not wants_job(until("printing"), status("paused"))
    assert wants_job(until("idle again"), status("printing what was sliced"))
    assert not wants_job(KnownState(), status("idle"))


def test_a_cancelled_print_keeps_its_name_and_how_far_it_came() -> None:
    before, now = print_of(until("resumed")), print_of(until("stopped"))

    assert now.file_name == "plain.gcode"
    assert now.progress == before.progress > 0.0
    assert now.duration_sec >= before.duration_sec
    assert now.time_left_sec is None


def test_a_complete_print_is_all_done() -> None:
    now = print_of(until("finished"))

    assert (now.progress, now.time_left_sec, now.file_name) == (100.0, 0, "sliced part.gcode")


def test_the_progress_of_the_print_before_is_not_that_of_a_new_one() -> None:
    assert status("printing once more")["job"]["progress"] > 90.0
    assert print_of(until("printing once more")).progress == 0.0


def test_a_duration_grows_between_what_is_told_and_never_shrinks() -> None:
    job = {"id": 9, "time_printing": 10}
    known = with_status(KnownState(), {**with_state("PRINTING"), "job": job}, {}, 0.0)
    later = with_status(known, {**with_state("PRINTING"), "job": job}, {}, 4.0)
    told_13 = {**with_state("PRINTING"), "job": {**job, "time_printing": 13}}
    latest = with_status(later, told_13, {}, 4.5)

    assert [print_of(one).duration_sec for one in (known, later, latest)] == [10, 14, 14]


def test_a_pause_and_a_long_silence_are_no_printing_time() -> None:
    job = {"id": 9, "time_printing": 10}
    paused = with_status(KnownState(), {**with_state("PAUSED"), "job": job}, {}, 0.0)
    known = with_status(paused, {**with_state("PRINTING"), "job": job}, {}, 300.0)
    late = with_status(known, {**with_state("PRINTING"), "job": job}, {}, 5000.0)

    assert print_of(known).duration_sec == 10
    assert print_of(late).duration_sec == 20


def test_a_time_left_of_nothing_in_mid_print_is_not_known() -> None:
    job = {"id": 9, "time_printing": 10, "time_remaining": 0, "progress": 40}
    early = with_status(KnownState(), {**with_state("PRINTING"), "job": job}, {}, 0.0)
    late = with_status(
        KnownState(), {**with_state("PRINTING"), "job": {**job, "progress": 99}}, {}, 0.0
    )

    assert print_of(early).time_left_sec is None
    assert print_of(late).time_left_sec == 0


def test_a_printer_that_is_busy_without_a_print_shows_no_figures_and_forgets_none() -> None:
    busy = with_status(until("finished"), with_state("BUSY"), {}, 100.0)
    after = with_status(busy, with_state("FINISHED"), {}, 101.0)

    assert view(busy).job.sub_state == "Busy"
    assert print_of(busy).file_name == ""
    assert print_of(busy).progress == 0.0
    assert print_of(after).file_name == "sliced part.gcode"


def test_a_call_for_attention_in_mid_print_does_not_begin_it_anew() -> None:
    known = until("printing")
    job = status("printing")["job"]
    called = with_status(known, {**with_state("ATTENTION"), "job": job}, {}, 20.0)
    resumed = with_status(called, {**with_state("PRINTING"), "job": job}, {}, 30.0)

    assert view(called).job.state is State.PAUSED
    assert view(called).job.sub_state == "The printer wants attention: see its display."
    assert view(called).job.error is None
    assert print_of(resumed).file_name == "plain.gcode"


def test_a_print_waits_for_a_person_also_where_its_job_is_not_told_meanwhile() -> None:
    called = with_status(until("printing"), with_state("ATTENTION"), {}, 20.0)
    still = with_status(called, with_state("ATTENTION"), {}, 30.0)

    assert [view(known).job.state for known in (called, still)] == [State.PAUSED] * 2


def test_a_call_for_attention_without_a_print_is_an_error() -> None:
    called = with_status(until("idle"), with_state("ATTENTION"), {}, 20.0)

    assert view(called).job.state is State.ERROR
    assert view(called).job.error == "The printer wants attention: see its display."


def test_a_fault_is_told_in_prusalinks_words() -> None:
    assert view(until("fault")).job.error == "Firmware detected a hardware issue"


def test_a_cable_that_is_out_is_a_trouble_with_an_address() -> None:
    broken = {"ok": False, "message": "Serial device does not exist"}
    trouble = view(
        with_status(KnownState(), with_state("ERROR", status_printer=broken), {}, 0.0)
    ).trouble

    assert trouble is not None
    assert trouble.status is CommandStatus.NOT_CONNECTED
    sentence = f"{WHERE} is not connected to its printer (Serial device does not exist)."
    assert trouble.sentence == sentence


def test_one_tool_has_one_spool() -> None:
    system = view(until("printing")).materials

    assert system is not None
    assert [tool.target_celsius for tool in system.tools] == [60.0]
    assert system.tools[0].nozzle_diameter_mm == 0.4
    assert [(route.source_id, route.tool_id) for route in system.routes] == [("spool0", "tool0")]


def test_temperatures_are_unknown_before_the_first_report() -> None:
    blank = {"storage": [], "printer": {"state": "IDLE"}}
    seen = view(with_status(KnownState(), blank, {}, 0.0))

    assert seen.job.current_print.temps.hotend_actual == 0.0
    assert seen.materials is not None
    assert seen.materials.tools[0].actual_celsius is UNSET


def test_a_raspberry_pi_takes_orders_that_buddys_firmware_does_not() -> None:
    pi, board = (
        machine_of(said["idle: version"], said["idle: v1/info"], said["idle: v1/storage"])
        for said in (recorded(), buddy())
    )

    assert pi == PI
    assert pi.features == (
        Feature(62) | Feature.AXIS_HOMING | Feature.SPEED_CONTROL | Feature.FLOW_CONTROL
    )
    assert (board.storage, board.features) == ("usb", Feature.PRINT_START)
    assert board.version == "2.1.2"


def test_buddys_print_has_its_figures() -> None:
    said, job = buddy()["printing: v1/status"], buddy()["printing: v1/job"]
    now = print_of(with_status(KnownState(), said, job, 0.0))

    assert now.file_name == "bracket for shelf.bgcode"
    assert (now.progress, now.duration_sec, now.time_left_sec) == (31.0, 840, 1980)
    assert now.temps.hotend_actual == 214.9


def test_buddys_end_of_a_print_keeps_what_was_known() -> None:
    known = with_status(
        KnownState(), buddy()["printing: v1/status"], buddy()["printing: v1/job"], 0.0
    )
    now = print_of(with_status(known, buddy()["finished: v1/status"], {}, 1.0))

    assert (now.progress, now.file_name) == (100.0, "bracket for shelf.bgcode")


def test_something_else_in_place_of_an_answer_is_noticed() -> None:
    assert is_status(status("idle"))
    assert is_introduction(recorded()["idle: version"], recorded()["idle: v1/storage"])
    answers: list[object] = [None, [], 3, "text", {}, {"printer": 3}, {"printer": {"state": []}}]
    for nonsense in answers:
        assert not is_status(nonsense)
        assert not is_introduction(nonsense, nonsense)


@given(st.data())
def test_no_damage_to_an_answer_harms_the_view(data: st.DataObject) -> None:
    moment = data.draw(st.sampled_from(MOMENTS))
    known = until(moment)
    for count in range(2):
        said = loose.obj(data.draw(damaged(status(moment))))
        job = loose.obj(data.draw(damaged(recorded()[f"{moment}: v1/job"])))
        wants_job(known, said)
        known = with_status(known, said, job, 100.0 + count)
    answers = ("idle: version", "idle: v1/info", "idle: v1/storage")
    machine = machine_of(*(data.draw(damaged(recorded()[answer])) for answer in answers))

    assert_is_in_the_contract(view_of(known, machine, WHERE))


def assert_is_in_the_contract(seen: View) -> None:
    now = seen.job.current_print
    assert 0.0 <= now.progress <= 100.0
    assert now.duration_sec >= 0
    assert now.time_left_sec is None or now.time_left_sec >= 0
    assert now.est_total_fil_used_mm >= 0
    assert json.loads(encode(seen.job)).keys() >= {"State", "SubState", "Error", "Lights"}
    assert encode(seen.materials)
