"""OctoPrint's messages in the contract's words: as a real one sent them, and worse."""

import json
from collections.abc import Iterable
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract.codec import encode
from printreach.contract.commands import CommandStatus
from printreach.contract.status import NO_FEATURES, CurrentPrint, Feature, State
from printreach.contract.unset import UNSET
from printreach.printers import loose
from printreach.printers.octoprint.live_view import as_current
from printreach.printers.octoprint.profile import Profile, profile_of
from printreach.printers.octoprint.translate import (
    Condition,
    KnownState,
    features_of,
    has_hidden_end,
    is_fully_paused,
    job_path,
    targets_of,
    view_of,
    with_current,
    with_end,
    with_event,
)
from printreach.printers.port import View
from tests.printers.damage import damaged
from tests.printers.octoprint.recordings import MOMENTS, pushed, rest

WHERE = "OctoPrint at 127.0.0.1:5000"
CHAMBERED = Profile(extruders=2, has_chamber=True, nozzle_mm=0.4)
Message = dict[str, Any]


def hear(known: KnownState, message: Message) -> KnownState:
    for kind, content in loose.obj(message).items():
        if kind in ("current", "history"):
            return with_current(known, loose.obj(content))
        if kind == "event":
            payload = loose.obj(content, "payload")
            return with_event(known, loose.text(content, "type") or "", payload)
    return known


def after(messages: Iterable[Message]) -> list[KnownState]:
    """The known state after each message."""
    known, all_heard = KnownState(), []
    for message in messages:
        known = hear(known, message)
        all_heard.append(known)
    return all_heard


def view(known: KnownState, profile: Profile = CHAMBERED) -> View:
    return view_of(known, profile, "1.11.8", Feature(62), WHERE)


def first(state: State) -> KnownState:
    """The first moment of a state in the recording."""
    return next(known for known in after(pushed()) if known.condition.state is state)


def last(state: State) -> KnownState:
    return [known for known in after(pushed()) if known.condition.state is state][-1]


def print_of(known: KnownState) -> CurrentPrint:
    return view(known).job.current_print


def polled(moment: str) -> dict[str, Any]:
    """A moment as it is seen by asking."""
    printer = rest()[f"{moment}: printer"]
    return dict(as_current(rest()[f"{moment}: job"], None if "error" in printer else printer))


def test_a_whole_recording_passes_through_the_states_in_their_order() -> None:
    known = [one for one in after(pushed()) if one.now]
    states = [state for state, _ in groupby(one.condition.state for one in known)]

    assert states == [
        *(State.IDLE, State.WARMING_UP, State.PRINTING, State.PAUSED, State.PRINTING),
        *(State.CANCELLED, State.WARMING_UP, State.PRINTING, State.COMPLETE),
        *(State.WARMING_UP, State.PRINTING, State.ERROR, None, State.IDLE, None),
    ]


def test_asking_gives_the_same_states_but_for_the_quick_ones() -> None:
    known, states = KnownState(), []
    for moment in MOMENTS:
        known = with_current(known, polled(moment), assume_cancelled=True)
        states.append(known.condition.state)

    assert states == [
        *(State.IDLE, State.WARMING_UP, State.PRINTING, State.PAUSED, State.PRINTING),
        *(State.CANCELLED, State.COMPLETE, State.ERROR, State.IDLE, None),
    ]


def test_a_running_print_has_its_figures() -> None:
    now = print_of(last(State.PRINTING))

    assert now.file_name == "hot print.gcode"
    assert 0.0 < now.progress < 100.0
    assert now.duration_sec > 0
    assert now.time_left_sec is not None
    assert now.time_left_sec > 0
    assert now.est_total_fil_used_mm == 60
    assert (now.temps.hotend_target, now.temps.bed_target) == (60.0, 40.0)


def test_a_cancelled_print_keeps_its_name_and_how_far_it_came() -> None:
    paused, now = print_of(first(State.PAUSED)), print_of(last(State.CANCELLED))

    assert now.file_name == paused.file_name == "hot print.gcode"
    assert now.progress >= paused.progress > 0.0
    assert now.duration_sec >= paused.duration_sec > 0
    assert now.time_left_sec is None


def test_a_complete_print_is_all_done() -> None:
    now = print_of(first(State.COMPLETE))

    assert (now.progress, now.time_left_sec, now.file_name) == (100.0, 0, "short.gcode")


def test_a_fault_is_told_in_the_firmwares_words() -> None:
    job = view(first(State.ERROR)).job

    assert job.error is not None
    assert job.error.startswith("MAXTEMP triggered!")


def test_a_printer_that_is_not_connected_is_a_trouble_with_an_address() -> None:
    known = after(pushed())[-1]
    trouble = view(known).trouble

    assert trouble is not None
    assert trouble.status is CommandStatus.NOT_CONNECTED
    assert trouble.sentence == f"{WHERE} is not connected to its printer (Offline)."


def test_on_its_way_to_a_pause_a_print_counts_as_paused_with_words() -> None:
    pausing = first(State.PAUSED)

    assert pausing.condition == Condition(State.PAUSED, "Pausing", None)
    assert not is_fully_paused(pausing)
    assert is_fully_paused(last(State.PAUSED))


def test_what_is_being_cancelled_prints_on_until_it_has_ended() -> None:
    printing = last(State.PRINTING)
    state = {"text": "Cancelling", "flags": {"operational": True, "cancelling": True}}
    cancelling = with_event(printing, "PrintCancelled", {})
    cancelling = with_current(cancelling, {**printing.now, "state": state})

    assert cancelling.condition == Condition(State.PRINTING, "Cancelling", None)


def test_a_print_that_is_cancelled_while_it_is_paused_is_resumed_by_nobody() -> None:
    paused = last(State.PAUSED)
    state = {"text": "Cancelling", "flags": {"printing": True, "cancelling": True}}
    cancelling = with_current(paused, {**paused.now, "state": state})

    assert cancelling.condition == Condition(State.PAUSED, "Cancelling", None)


def test_a_cancel_is_remembered_though_the_news_that_follows_it_are_older() -> None:
    printing = last(State.PRINTING)
    known = with_current(with_event(printing, "PrintFailed", {"reason": "cancelled"}), printing.now)
    known = with_current(known, first(State.IDLE).now)

    assert known.condition.state is State.CANCELLED


def test_a_print_that_failed_at_a_connected_printer_is_an_error_until_it_is_put_away() -> None:
    failed = with_event(last(State.PRINTING), "PrintFailed", {"reason": "error", "error": "Jam"})
    failed = with_current(failed, first(State.IDLE).now)
    remove_state_file = with_current(with_event(failed, "FileDeselected", {}), failed.now)

    assert failed.condition == Condition(State.ERROR, None, "Jam")
    assert remove_state_file.condition.state is State.IDLE


def test_a_finished_print_that_octoprint_deselects_at_once_is_complete_first() -> None:
    done = with_event(last(State.PRINTING), "PrintDone", {})
    done = with_current(done, first(State.IDLE).now)
    remove_state_file = with_current(with_event(done, "FileDeselected", {}), first(State.IDLE).now)

    assert done.condition.state is State.COMPLETE
    assert remove_state_file.condition.state is State.IDLE


def test_without_an_estimate_the_analysis_of_the_file_tells_what_is_left() -> None:
    printing = last(State.PRINTING).now
    progress = {**printing["progress"], "printTimeLeft": None, "printTime": 10}
    job = {**printing["job"], "estimatedPrintTime": 25.9}
    known = with_current(KnownState(), {**printing, "progress": progress, "job": job})

    assert print_of(known).time_left_sec == 15


def test_temperatures_stay_known_while_messages_bring_none() -> None:
    known = last(State.PRINTING)
    later = with_current(known, {**known.now, "temps": []})

    assert print_of(later).temps == print_of(known).temps


def test_a_chamber_is_told_only_where_the_profile_has_one() -> None:
    temps = [{"tool0": {"actual": 20.0, "target": None}, "chamber": {"actual": 31.5}}]
    known = with_current(first(State.IDLE), {**first(State.IDLE).now, "temps": temps})

    assert view(known).job.current_print.temps.chamber_actual == 31.5
    assert view(known).job.current_print.temps.chamber_target == 0.0
    assert view(known, Profile()).job.current_print.temps.chamber_actual is UNSET


def test_each_tool_has_a_spool_of_its_own() -> None:
    system = view(first(State.PRINTING)).materials

    assert system is not None
    assert [tool.id for tool in system.tools] == ["tool0", "tool1"]
    assert [(route.source_id, route.tool_id) for route in system.routes] == [
        ("spool0", "tool0"),
        ("spool1", "tool1"),
    ]
    assert system.capabilities.supports_multi_tool
    assert system.tools[0].target_celsius == 60.0
    assert system.tools[0].nozzle_diameter_mm == 0.4
    assert system.tools[0].is_active is UNSET


def test_materials_are_unknown_before_the_first_temperature() -> None:
    known = with_current(KnownState(), {**first(State.IDLE).now, "temps": []})

    assert view(known).materials is None


def test_heaters_that_are_on_are_known_by_name() -> None:
    assert targets_of(last(State.PRINTING)) == {"tool0": 60.0, "bed": 40.0}
    assert targets_of(first(State.IDLE)) == {}


def test_the_selected_file_is_known_by_its_path() -> None:
    assert job_path(last(State.COMPLETE)) == "parts/short.gcode"


def test_the_tool_of_a_pause_is_remembered() -> None:
    assert last(State.PAUSED).paused_tool == 0


def test_the_profile_in_use_is_read() -> None:
    assert profile_of(rest()["idle: printerprofiles"]) == CHAMBERED
    assert profile_of(None) == Profile()


def test_a_key_without_control_takes_the_controls_away() -> None:
    controls = (
        Feature(62)
        | Feature.AXIS_HOMING
        | Feature.SPEED_CONTROL
        | Feature.FLOW_CONTROL
        | Feature.FAN_CONTROL
        | Feature.EMERGENCY_STOP
        | Feature.FIRMWARE_RESTART
    )
    assert features_of(frozenset({"control", "print", "status"})) == controls
    assert features_of(frozenset({"print"})) == Feature.PRINT_START
    assert features_of(frozenset({"status"})) == NO_FEATURES
    assert features_of(frozenset()) == controls


@pytest.mark.slow
@given(st.data())
def test_no_damage_to_a_message_harms_the_view(data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(pushed()) - 1))
    known = after(pushed()[max(0, position - 3) : position + 1])[-1]
    for _ in range(2):
        known = hear(known, data.draw(damaged(pushed()[position])))
    profile = profile_of(data.draw(damaged(rest()["idle: printerprofiles"])))

    assert_is_in_the_contract(view(known, profile))


@given(st.data())
def test_no_damage_to_an_answer_harms_the_view(data: st.DataObject) -> None:
    moment = data.draw(st.sampled_from(MOMENTS))
    known = with_current(KnownState(), loose.obj(data.draw(damaged(polled(moment)))))

    assert_is_in_the_contract(view(known))


def assert_is_in_the_contract(seen: View) -> None:
    now = seen.job.current_print
    assert 0.0 <= now.progress <= 100.0
    assert now.duration_sec >= 0
    assert now.time_left_sec is None or now.time_left_sec >= 0
    assert now.est_total_fil_used_mm >= 0
    assert json.loads(encode(seen.job)).keys() >= {"State", "SubState", "Error", "Lights"}
    assert encode(seen.materials)


OPERATIONAL: Message = {"text": "Operational", "flags": {"operational": True, "ready": True}}
FILE: Message = {"name": "vase.gcode", "path": "vase.gcode", "origin": "local", "size": 9}


def at_rest(known: KnownState) -> Message:
    """A `current` message of an OctoPrint that prints nothing and has nothing selected."""
    return {**known.now, "state": OPERATIONAL, "job": {}, "progress": {}}


def test_a_print_that_is_cancelled_and_deleted_at_once_is_cancelled_first() -> None:
    known = with_event(first(State.PRINTING), "PrintCancelled", {})
    known = with_event(known, "FileDeselected", {})
    shown = with_current(known, at_rest(known))
    later = with_current(shown, at_rest(shown))

    assert shown.condition.state is State.CANCELLED
    assert later.condition.state is State.IDLE


def test_a_print_that_is_gone_without_a_word_was_not_cancelled() -> None:
    printing = first(State.PRINTING)

    assert with_current(printing, at_rest(printing)).condition.state is State.IDLE


def test_a_print_shows_as_soon_as_octoprint_says_that_it_has_started() -> None:
    started = with_event(first(State.IDLE), "PrintStarted", FILE)
    now = print_of(started)

    assert started.condition == Condition(State.WARMING_UP, "Starting")
    assert (now.file_name, now.progress, now.duration_sec) == ("vase.gcode", 0.0, 0)
    assert job_path(started) == "vase.gcode"


def test_a_print_that_starts_shows_no_figures_of_the_one_before() -> None:
    started = with_event(last(State.COMPLETE), "PrintStarted", FILE)
    now = print_of(started)

    assert (now.progress, now.duration_sec, now.time_left_sec) == (0.0, 0, None)
    assert now.est_total_fil_used_mm == 0


def test_a_print_that_was_cancelled_before_another_message_is_cancelled() -> None:
    started = with_event(first(State.IDLE), "PrintStarted", FILE)
    cancelled = with_event(started, "PrintCancelled", {})

    assert has_hidden_end(cancelled)
    assert with_end(cancelled).condition.state is State.CANCELLED
    assert with_current(cancelled, at_rest(cancelled)).condition.state is State.CANCELLED
    assert not has_hidden_end(with_event(cancelled, "PrintStarted", FILE))
