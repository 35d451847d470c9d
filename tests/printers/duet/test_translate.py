"""A Duet's reports in the contract's words: as its sources have them, and damaged."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract.codec import encode
from printreach.contract.status import Feature, State
from printreach.contract.unset import UNSET
from printreach.printers.duet import files as entries
from printreach.printers.duet import gcode
from printreach.printers.duet.known_state import KnownState, after_gap, with_model
from printreach.printers.duet.model import merged
from printreach.printers.duet.translate import view_of
from printreach.printers.port import View
from tests.fakes.printer import EVERY_FEATURE_BUT_LEVELS
from tests.printers.contract_status import assert_is_a_material_system
from tests.printers.damage import damaged
from tests.printers.duet.recordings import Json, answers, at_rest, model

WHERE = "The Duet at tower"
NEARLY_ALL = 4_900_000


def known(*models: Json) -> KnownState:
    reported = KnownState()
    for one in models:
        reported = with_model(reported, one)
    return reported


def seen(*models: Json) -> View:
    return view_of(known(*models), WHERE)


def state(*models: Json) -> State:
    return seen(*models).job.state


# --- states -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("processing", State.PRINTING),
        ("simulating", State.PRINTING),
        ("pausing", State.PAUSED),
        ("paused", State.PAUSED),
        ("cancelling", State.PAUSED),
        ("resuming", State.RESUMING),
        ("changingTool", State.PRINTING),
        ("busy", State.PRINTING),
        ("a word of tomorrow", State.PRINTING),
        ("halted", State.ERROR),
        ("off", State.ERROR),
    ],
)
def test_states_of_a_job_are_those_of_the_table(status: str, expected: State) -> None:
    assert state(model(status)) is expected


@pytest.mark.parametrize("status", ["idle", "busy", "changingTool", "a word of tomorrow"])
def test_a_board_without_a_job_is_idle_whatever_it_does(status: str) -> None:
    view = seen(at_rest(status, lastFileName=None))

    assert view.job.state is State.IDLE
    assert (view.job.sub_state is None) == (status == "idle")


@pytest.mark.parametrize("status", ["starting", "updating", "disconnected", None])
def test_a_board_that_is_not_ready_is_not_connected(status: Any) -> None:
    trouble = seen(at_rest(status)).trouble

    assert trouble is not None
    assert (trouble.status, trouble.has_lost_firmware) == (785, True)
    assert trouble.sentence.startswith(WHERE)


def test_a_job_warms_up_until_time_goes_into_something_else() -> None:
    assert state(model(duration=180, warmUpDuration=180)) is State.WARMING_UP
    assert state(model(duration=181, warmUpDuration=180)) is State.PRINTING


def test_a_job_that_is_at_its_end_and_gone_is_complete() -> None:
    view = seen(model(filePosition=NEARLY_ALL), at_rest(), at_rest())

    assert view.job.state is State.COMPLETE
    assert view.job.current_print.progress == 100.0
    assert view.job.current_print.duration_sec == 9800
    assert view.job.current_print.time_left_sec == 0
    assert view.job.current_print.file_name == "bracket for the lamp.gcode"


def test_a_job_that_was_paused_and_is_gone_is_cancelled() -> None:
    assert state(model("paused", filePosition=NEARLY_ALL), at_rest()) is State.CANCELLED


def test_a_job_that_ends_in_the_middle_of_its_file_is_cancelled() -> None:
    assert state(model(filePosition=10), at_rest()) is State.CANCELLED


def test_dsf_may_say_that_a_job_was_cancelled_some_time_after_its_end() -> None:
    not_yet = at_rest(lastFileCancelled=False, lastFileAborted=False)
    said = at_rest(lastFileCancelled=False, lastFileAborted=True)
    ended = model(filePosition=NEARLY_ALL)

    assert state(ended, not_yet) is State.COMPLETE
    assert state(ended, not_yet, said) is State.CANCELLED
    assert state(model("paused"), not_yet, not_yet) is State.CANCELLED


def test_how_a_job_ended_that_nobody_saw_is_known_from_dsf_alone() -> None:
    assert state(at_rest()) is State.IDLE
    assert state(at_rest(lastFileCancelled=False)) is State.COMPLETE
    assert state(at_rest(lastFileCancelled=True)) is State.CANCELLED
    assert state(at_rest(lastFileCancelled=False, lastFileSimulated=True)) is State.IDLE


def test_the_end_of_a_job_that_was_long_out_of_sight_is_not_guessed() -> None:
    after = with_model(after_gap(known(model(filePosition=10))), at_rest())

    assert view_of(after, WHERE).job.state is State.IDLE


def test_a_board_that_was_reset_knows_of_no_job() -> None:
    assert state(model(), at_rest(), at_rest(lastFileName=None)) is State.IDLE


@pytest.mark.parametrize("status", ["processing", "paused", "cancelling"])
def test_a_job_that_is_gone_with_a_reset_of_its_board_was_not_cancelled(status: str) -> None:
    before = model(status, filePosition=10)

    assert state(before, at_rest(lastFileName=None)) is State.IDLE


def test_a_job_that_was_stopped_in_an_emergency_was_not_cancelled() -> None:
    assert state(model(filePosition=10), at_rest("halted"), at_rest()) is State.IDLE


def test_a_simulation_that_ends_is_no_print() -> None:
    assert state(model("simulating"), at_rest()) is State.IDLE


def test_the_pause_before_a_cancel_is_no_pause() -> None:
    cancelling = replace(known(model()), is_cancelling=True)
    for status in ("pausing", "paused", "cancelling"):
        cancelling = with_model(cancelling, model(status))
        assert view_of(cancelling, WHERE).job.state is State.PRINTING
        assert view_of(cancelling, WHERE).job.sub_state == "Cancelling"
    after = with_model(cancelling, at_rest())

    assert view_of(after, WHERE).job.state is State.CANCELLED


def test_a_new_job_begins_without_the_numbers_of_the_last() -> None:
    file = {"fileName": "0:/gcodes/new.gcode", "size": 0}
    new = model(duration=0, warmUpDuration=0, layer=None, file=file)
    now = seen(model(), at_rest(), new).job.current_print

    assert (now.file_name, now.progress, now.duration_sec) == ("new.gcode", 0.0, 0)
    assert (now.current_layer, now.total_layers) == (None, None)
    assert now.est_total_fil_used_mm == 0


def test_a_job_that_starts_another_one_is_followed_by_a_new_print() -> None:
    file = {"fileName": "0:/gcodes/second.gcode", "size": 0}
    now = seen(model(), model(layer=None, file=file)).job.current_print

    assert (now.file_name, now.progress, now.current_layer) == ("second.gcode", 0.0, None)


# --- the print --------------------------------------------------------------------------------


def test_a_print_is_told_in_full() -> None:
    now = seen(model()).job.current_print

    assert now.file_name == "bracket for the lamp.gcode"
    assert now.progress == 20.0
    assert now.duration_sec == 2000
    assert (now.current_layer, now.total_layers) == (33, 165)
    assert now.est_total_fil_used_mm == 2722
    assert (now.temps.bed_actual, now.temps.bed_target) == (59.8, 60.0)
    assert (now.temps.hotend_actual, now.temps.hotend_target) == (214.6, 215.0)
    assert (now.temps.chamber_actual, now.temps.chamber_target) == (31.4, 0.0)


@pytest.mark.parametrize(
    ("times", "file", "expected"),
    [
        ({"slicer": 7, "filament": 8, "file": 9}, {}, 7),
        ({"slicer": None, "filament": 8, "file": 9}, {}, 8),
        ({"file": 9}, {}, 9),
        ({}, {"simulatedTime": 2100, "printTime": 3000}, 100),
        ({}, {"printTime": 3000}, 1000),
        ({}, {"printTime": 10}, 0),
        ({}, {}, None),
    ],
)
def test_the_time_left_is_the_best_that_is_known(
    times: Json, file: Json, expected: int | None
) -> None:
    reported = model(timesLeft=times, file={"fileName": "0:/gcodes/a.gcode", **file})

    assert seen(reported).job.current_print.time_left_sec == expected


def test_a_sensor_that_is_cut_off_has_no_temperature() -> None:
    reported = model()
    reported["heat"]["heaters"][0] |= {"current": 2000.0, "state": "fault"}
    view = seen(reported)

    assert view.job.current_print.temps.bed_actual == 0.0
    assert view.job.current_print.temps.bed_target == 0.0
    assert view.job.error == "Heater 0 has a fault."


def test_a_question_to_the_person_before_the_machine_is_shown() -> None:
    reported = model()
    reported["state"]["messageBox"] = {"title": "Filament", "message": "Put some in.", "mode": 2}

    assert seen(reported).job.sub_state == "Filament: Put some in."


def test_each_tool_has_a_spool_with_what_the_board_knows_of_it() -> None:
    system = seen(model()).materials

    assert system is not None
    assert [source.id for source in system.sources] == ["spool0", "spool2"]
    assert [source.is_empty for source in system.sources] == [False, True]
    assert system.sources[0].material is not UNSET
    assert [tool.is_active for tool in system.tools] == [True, False]
    assert [tool.name for tool in system.tools] == ["left", "Tool 2"]
    assert [route.state for route in system.routes] == ["loaded", UNSET]


def test_features_are_those_of_this_machine() -> None:
    bare = model()
    bare |= {"tools": [], "heat": {"heaters": []}, "move": {"axes": []}}

    always = Feature.PRINT_START | Feature.EMERGENCY_STOP | Feature.FIRMWARE_RESTART
    without_fan = Feature.LIGHT_CONTROL | Feature.FAN_CONTROL  # the recording has no fans
    assert seen(model()).features == EVERY_FEATURE_BUT_LEVELS & ~without_fan
    assert seen({**model(), "fans": [None]}).features == EVERY_FEATURE_BUT_LEVELS & ~without_fan
    assert seen({**model(), "fans": [{}, {}]}).features == EVERY_FEATURE_BUT_LEVELS & ~without_fan
    fan = [{"requestedValue": 0.5}]
    assert (
        seen({**model(), "fans": fan}).features == EVERY_FEATURE_BUT_LEVELS & ~Feature.LIGHT_CONTROL
    )
    assert seen(bare).features == always
    assert seen(bare).materials is None


def test_news_change_what_they_name_and_lists_entry_by_entry() -> None:
    reported = merged(answers()["whole"], answers()["live"])
    assert isinstance(reported, dict)
    view = seen(reported)

    assert view.job.current_print.temps.hotend_actual == 215.2
    assert view.job.current_print.current_layer == 34
    assert view.job.current_print.total_layers == 165
    assert view.platform_version == "3.5.4"
    assert merged({"list": [1, 2, 3]}, {"list": [4]}) == {"list": [4]}


def test_version_3_7_tells_several_heaters_of_a_bed() -> None:
    reported = model()
    del reported["heat"]["bedHeaters"]
    reported["heat"]["bedHeaterMapping"] = [[0, 3]]

    assert seen(reported).job.current_print.temps.bed_target == 60.0


# --- files and orders -------------------------------------------------------------------------


def test_details_of_a_file_are_those_that_it_tells() -> None:
    details = entries.details_of(answers()["fileinfo"], "gcode/cube.gcode", "0:/gcodes/cube.gcode")

    assert details.est_print_time_sec == 1911
    assert details.est_filament_used_mm == 1204
    assert (details.layer_count, details.layer_height_mm) == (100, 0.2)
    assert (details.slicer, details.slicer_version) == ("PrusaSlicer", "2.7.1+linux-x64-GTK3")
    assert details.thumbnail_count == 1


@pytest.mark.parametrize(
    ("generated_by", "slicer", "version"),
    [
        ("Cura_SteamEngine 5.6.0", "Cura_SteamEngine", "5.6.0"),
        ("Simplify3D(R) Version 4.1.2", "Simplify3D(R) Version", "4.1.2"),
        ("IdeaMaker", "IdeaMaker", UNSET),
        ("", UNSET, UNSET),
    ],
)
def test_a_slicer_is_told_from_its_version(
    generated_by: str, slicer: object, version: object
) -> None:
    details = entries.details_of({"generatedBy": generated_by}, "gcode/a", "0:/gcodes/a")

    assert (details.slicer, details.slicer_version) == (slicer, version)


def test_a_name_that_is_a_path_is_none() -> None:
    names = ["a.gcode", "", "..", "a/b", 7, None]

    assert [entries.name_of({"name": name}) for name in names] == ["a.gcode", *[None] * 5]


def test_quotes_in_a_name_are_doubled() -> None:
    assert gcode.start("0:/gcodes/it's.gcode") == ["M32 \"0:/gcodes/it''s.gcode\""]


def test_numbers_in_orders_have_no_exponents() -> None:
    assert gcode.move("Z", -0.05)[3] == "G1 Z-0.05 F300"
    assert gcode.heat_tool(1, 200.0) == "M568 P1 S200 A2"
    assert gcode.heat_tool(1, 0.0) == "M568 P1 S0 A0"


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("", None),
        ("ok\n", None),
        ("Warning: something\n", None),
        ("Error: G1: insufficient axes homed\n", "G1: insufficient axes homed"),
        ("\nok\nerror: no\n", "no"),
        ("Error:", None),
    ],
)
def test_a_refusal_is_found_in_the_replies(reply: str, words: str | None) -> None:
    assert gcode.refusal_in(reply) == words


# --- damage -----------------------------------------------------------------------------------


@pytest.mark.slow
@given(st.lists(damaged(answers()["whole"]), min_size=1, max_size=3))
def test_no_damaged_model_does_harm(models: list[Any]) -> None:
    reported = KnownState()
    for one in models:
        reported = with_model(reported, one if isinstance(one, dict) else {})
    view = view_of(reported, WHERE)

    assert 0.0 <= view.job.current_print.progress <= 100.0
    assert view.job.current_print.duration_sec >= 0
    encode(view.job)
    encode(view.materials)


@pytest.mark.slow
@given(damaged(answers()["live"]), damaged(at_rest()))
def test_no_damaged_news_do_harm(live: Any, rest: Any) -> None:
    news = merged(answers()["whole"], live)
    reported = known(model(), news if isinstance(news, dict) else {})
    view = view_of(with_model(reported, rest if isinstance(rest, dict) else {}), WHERE)

    encode(view.job)
    if view.materials is not None:
        assert_is_a_material_system(_as_wire(view.materials))


@given(damaged(answers()["fileinfo"]))
def test_no_damaged_file_does_harm(reported: Any) -> None:
    details = entries.details_of(
        reported if isinstance(reported, dict) else {}, "gcode/a", "0:/gcodes/a"
    )

    encode(details)


@given(damaged(answers()["filelist"]["files"][1]))
def test_no_damaged_entry_does_harm(reported: Any) -> None:
    one = reported if isinstance(reported, dict) else {}
    name = entries.name_of(one)
    entry = entries.entry_of(one, f"gcode/{name}", f"0:/gcodes/{name}", None)

    assert entry.size_bytes >= 0
    encode(entry)


def _as_wire(value: object) -> Any:
    return msgspec.json.decode(encode(value))
