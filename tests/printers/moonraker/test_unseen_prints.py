"""Prints between two of Klipper's reports, of which it makes four a second."""

from typing import Any

import pytest

from printreach.contract.status import State
from printreach.printers.moonraker.status import KnownState, state_of, steps_to, with_changes

PRINT = {"state": "printing", "filename": "a.gcode", "total_duration": 60.0}
CARD = {"file_position": 500, "progress": 0.5}


def states_after(first: dict[str, Any], *, news: dict[str, Any]) -> list[tuple[State, str]]:
    known = with_changes(KnownState(), {"print_stats": first, "virtual_sdcard": CARD})
    steps = steps_to(known, {"print_stats": news})
    return [(state_of(one), one.latest.path) for one in steps]


@pytest.mark.parametrize(
    ("before", "news", "states"),
    [
        (PRINT, {"total_duration": 60.25}, [(State.WARMING_UP, "a.gcode")]),
        (PRINT, {"state": "complete", "total_duration": 61.0}, [(State.COMPLETE, "a.gcode")]),
        (PRINT, {"state": "standby", "total_duration": 0.0}, [(State.IDLE, "a.gcode")]),
        (
            PRINT,
            {"total_duration": 0.125},
            [(State.CANCELLED, "a.gcode"), (State.WARMING_UP, "a.gcode")],
        ),
        (
            PRINT,
            {"filename": "b.gcode", "state": "complete", "total_duration": 0.125},
            [
                (State.CANCELLED, "a.gcode"),
                (State.WARMING_UP, "b.gcode"),
                (State.COMPLETE, "b.gcode"),
            ],
        ),
        (
            PRINT | {"state": "complete"},
            {"filename": "b.gcode", "total_duration": 0.125},
            [(State.WARMING_UP, "b.gcode"), (State.COMPLETE, "b.gcode")],
        ),
        (
            PRINT | {"state": "standby", "total_duration": 0.0},
            {"state": "error", "total_duration": 0.125},
            [(State.WARMING_UP, "a.gcode"), (State.ERROR, "a.gcode")],
        ),
        (
            PRINT | {"state": "complete"},
            {"state": "printing", "total_duration": 0.125},
            [(State.WARMING_UP, "a.gcode")],
        ),
        (PRINT | {"state": "complete"}, {"total_duration": 60.0}, [(State.COMPLETE, "a.gcode")]),
    ],
)
def test_a_print_that_went_by_unseen_is_shown_all_the_same(
    before: dict[str, Any], news: dict[str, Any], states: list[tuple[State, str]]
) -> None:
    assert states_after(before, news=news) == states


def test_an_unseen_end_at_the_end_of_the_file_is_taken_for_a_complete_print() -> None:
    card = {"file_position": 998, "progress": 0.998}
    known = with_changes(KnownState(), {"print_stats": PRINT, "virtual_sdcard": card})
    ended, _ = steps_to(known, {"print_stats": {"total_duration": 0.125}})

    assert state_of(ended) is State.COMPLETE


def test_an_unseen_print_has_no_figures_of_the_one_before() -> None:
    known = with_changes(KnownState(), {"print_stats": PRINT, "virtual_sdcard": CARD})
    _, started, ended = steps_to(
        known, {"print_stats": {"state": "cancelled", "total_duration": 0.1}}
    )

    assert (started.latest.progress, ended.latest.progress) == (0.0, 0.0)
