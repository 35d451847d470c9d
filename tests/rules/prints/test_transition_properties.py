"""Properties of events under any behaviour of a printer."""

from collections import defaultdict
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract import codec
from printreach.contract.events import EventType, PrintEvent
from printreach.contract.status import State
from printreach.rules.prints import Need, NeedKind
from printreach.rules.prints.transitions import GONE_AFTER_S, differs_durably
from tests.rules.watch.looks import PrintObserver

E = EventType
ENDS = {E.COMPLETE, E.FAILED}
NEEDS = {E.FILAMENT_CHANGE_REQUIRED, E.USER_INTERACTION_REQUIRED}
ONCE_A_PRINT = {E.STARTED, E.FIRST_LAYER_COMPLETE, E.THIRD_LAYER_COMPLETE, E.BED_COOLED_DOWN, *ENDS}

numbers = st.one_of(st.floats(0, 100), st.integers(0, 100).map(float))
looks = st.fixed_dictionaries(
    {
        "state": st.sampled_from(State),
        "after_s": st.sampled_from([0.0, 0.25, 1.0, 10.0, 299.0, 1800.0, 4000.0]),
        "error": st.sampled_from([None, "Too hot", "\ud800", "x" * 9000]),
        "need": st.sampled_from([None, *(Need(kind=kind, text="now") for kind in NeedKind)]),
        "height_mm": st.sampled_from([None, -1.0, 0.0, 0.2, 0.4, 50.0, 1e300]),
        "bed_c": st.sampled_from([0.0, 20.0, 39.9, 40.0, 70.0]),
        "hotend_c": st.sampled_from([0.0, 210.0]),
        "progress": numbers,
        "duration_sec": st.sampled_from([0, 1, 3599, 3600, 90_000, 2**31 - 1]),
        "time_left_sec": st.sampled_from([None, 0, 60]),
        "current_layer": st.sampled_from([None, 0, 1, 2, 4, 500]),
        "file_name": st.sampled_from(["", "a.gcode", "b.gcode"]),
    }
)
steps = st.lists(st.one_of(st.just("lose"), st.just("restart"), looks), max_size=60)


def walk(plan: list[str | dict[str, object]]) -> PrintObserver:
    looker = PrintObserver()
    for step in plan:
        if step == "lose":
            looker.lose()
        elif step == "restart":
            looker.restart()
        else:
            assert isinstance(step, dict)
            looker.look(**step)  # type: ignore[arg-type]  # drawn to fit
    return looker


def of_each_print(events: list[PrintEvent]) -> dict[str, list[EventType]]:
    found: dict[str, list[EventType]] = defaultdict(list)
    for one in events:
        found[one.print_id].append(EventType(one.event_type))
    return found


@given(steps)
def test_every_event_can_be_sent(plan: list[str | dict[str, object]]) -> None:
    for event in walk(plan).told:
        assert codec.decode_arguments(codec.encode(event), PrintEvent) == event


@given(steps)
def test_what_can_happen_once_to_a_print_is_told_once(
    plan: list[str | dict[str, object]],
) -> None:
    for kinds in of_each_print(walk(plan).told).values():
        for kind in ONCE_A_PRINT:
            assert kinds.count(kind) <= 1
        assert sum(kind in ENDS for kind in kinds) <= 1


@given(steps)
def test_a_print_begins_before_all_else_and_after_its_end_only_its_bed_cools(
    plan: list[str | dict[str, object]],
) -> None:
    for kinds in of_each_print(walk(plan).told).values():
        assert E.STARTED not in kinds[1:]
        ended = [index for index, kind in enumerate(kinds) if kind in ENDS]
        for index in ended:
            assert set(kinds[index + 1 :]) <= {E.BED_COOLED_DOWN, E.ERROR}


@given(steps)
def test_every_print_that_began_has_ended_once_its_printer_is_idle(
    plan: list[str | dict[str, object]],
) -> None:
    looker = walk(plan)
    looker.look(State.IDLE)
    looker.look(State.IDLE, after_s=GONE_AFTER_S)

    assert not looker.tracked.is_under_way
    for kinds in of_each_print(looker.told).values():
        assert E.STARTED not in kinds or sum(kind in ENDS for kind in kinds) == 1


@given(steps)
def test_who_is_resumed_was_paused_at_most_once_before(
    plan: list[str | dict[str, object]],
) -> None:
    for kinds in of_each_print(walk(plan).told).values():
        pausing = [kind for kind in kinds if kind in (E.PAUSED, E.RESUMED)]
        assert all(one is not other for one, other in pairwise(pausing))


@pytest.mark.slow
@given(steps)
def test_progress_is_told_no_oftener_than_tenths_and_hours_pass(
    plan: list[str | dict[str, object]],
) -> None:
    for kinds in of_each_print(walk(plan).told).values():
        assert kinds.count(E.PROGRESS) <= 9 + 3  # hours: as many as durations are drawn


@given(steps)
def test_people_are_called_at_most_once_in_five_minutes(
    plan: list[str | dict[str, object]],
) -> None:
    times = [one.event_time_sec for one in walk(plan).told if one.event_type in NEEDS]

    assert all(later - earlier >= 299 for earlier, later in pairwise(times))


@given(looks, st.integers(1, 20))
def test_the_same_look_again_tells_nothing_at_once(look: dict[str, object], times: int) -> None:
    looker = PrintObserver()
    looker.look(State.IDLE)
    looker.look(**look)  # type: ignore[arg-type]  # drawn to fit
    looker.told.clear()
    for _ in range(times):
        looker.look(**(look | {"after_s": 0.0}))  # type: ignore[arg-type]  # drawn to fit

    assert looker.told == []


@given(steps, looks)
def test_what_was_told_differs_in_what_a_restart_remembers(
    plan: list[str | dict[str, object]], look: dict[str, object]
) -> None:
    looker = walk(plan)
    before = looker.tracked
    told = looker.look(**look)  # type: ignore[arg-type]  # drawn to fit

    assert not told or differs_durably(before, looker.tracked)
