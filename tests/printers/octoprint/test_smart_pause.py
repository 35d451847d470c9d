"""The commands of a smart pause, those of its restore, and the state that survives a restart."""

import dataclasses
import re
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract.commands import Pause
from printreach.printers.octoprint.api import OctoPrintApi
from printreach.printers.octoprint.files import ModeSearch
from printreach.printers.octoprint.live_view import LiveView
from printreach.printers.octoprint.pause_plan import (
    OctoPrintPausePlan,
    heat_commands,
    pause_moves,
)
from printreach.printers.octoprint.translate import KnownState, features_of, with_current
from printreach.printers.port import View
from printreach.printers.print_progress import PrintProgress, SavedState
from tests.printers.damage import damaged

HOT = {"tool0": 210.0, "bed": 60.0, "chamber": 35.0}
SAVED = SavedState(
    path="parts/würfel.gcode",
    targets={"tool0": 210.0},
    lift_mm=5,
    retract_mm=2,
    details={"has_tools": False, "is_relative": True},
    progress=PrintProgress(duration_s=90.0, position=(4711.0,)),
)


HOT_PRINTER = SimpleNamespace(
    view=View(trouble=None, features=features_of(frozenset({"print", "control"}))),
    known=with_current(
        KnownState(), {"temps": [{heater: {"target": target} for heater, target in HOT.items()}]}
    ),
)
PLAN = OctoPrintPausePlan(cast("OctoPrintApi", None), cast("LiveView", HOT_PRINTER))


def test_a_smart_pause_turns_the_hotend_off_and_leaves_the_bed_on() -> None:
    assert PLAN.planned(Pause(smart_pause=True)).targets == {"tool0": 210.0}


def test_the_bed_is_turned_off_where_that_is_asked_for() -> None:
    order = Pause(smart_pause=True, disable_hotend=False, disable_bed=True)

    assert PLAN.planned(order).targets == {"bed": 60.0}


def test_nothing_to_do_is_nothing() -> None:
    order = Pause(smart_pause=True, disable_hotend=False)

    assert PLAN.is_plain(PLAN.planned(order))


def test_the_filament_is_drawn_back_while_it_is_hot_and_before_the_nozzle_rises() -> None:
    assert [*pause_moves(SAVED, 5, -2), *heat_commands(SAVED, on=False)] == [
        *("G91", "M83", "G1 E-2 F1200", "G1 Z5 F300", "G90", "M83"),
        "M104 S0",
    ]


def test_it_comes_down_and_gives_filament_only_when_it_is_hot_again() -> None:
    assert heat_commands(SAVED, on=True) == ["M104 S210"]
    assert pause_moves(SAVED, -5, 2) == [
        *("G91", "M83", "G1 Z-5 F300", "G1 E2 F1200", "G90", "M83"),
    ]


def test_a_print_with_absolute_lengths_gets_its_mode_back() -> None:
    absolute = dataclasses.replace(SAVED, details={"has_tools": False, "is_relative": False})

    assert pause_moves(absolute, 5, -2)[-1] == "M82"
    assert pause_moves(absolute, -5, 2)[-1] == "M82"


def test_all_heaters_are_heated_at_once_and_none_is_waited_for() -> None:
    saved = dataclasses.replace(
        SAVED,
        targets={"tool0": 210.0, "tool1": 205.5, "bed": 60.0},
        details={"has_tools": True, "is_relative": True},
    )

    assert heat_commands(saved, on=True) == [
        *("M104 T0 S210", "M104 T1 S205.5", "M140 S60"),
    ]


@pytest.mark.parametrize(
    ("file", "is_relative"),
    [
        (b"M83\nG28\nG1 X1 E1\n", True),
        (b"M82\nG1 X1 E1\n", False),
        (b"M83 ; relative\nM82\nG1 E1\n", False),
        (b"  M83\r\nG1 X1 Y2 E.5\r\n", True),
        (b"G28\nG1 X1 E1\nM83\n", False),  # too late to be the mode it began in
        (b"; M83 is only spoken of\nG1 E1\n", False),
        (b"M83\nG1 X1 ; no E1 here\n", True),
        (b"", False),
    ],
)
@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_the_mode_is_found_in_the_file(file: bytes, is_relative: bool, step: int) -> None:
    search = ModeSearch()
    for at in range(0, len(file), step):
        if search.feed(file[at : at + step]):
            break

    assert search.is_relative == is_relative


def test_a_search_ends_with_the_first_line_that_extrudes() -> None:
    assert not ModeSearch().feed(b"M83\nG28\n")
    assert ModeSearch().feed(b"M83\nG1 X1 E1\n")


def test_pictures_in_front_of_a_file_cost_no_memory() -> None:
    search = ModeSearch()
    search.feed(b"; " + b"x" * 1_000_000)
    search.feed(b"\nM83\nG1 E1\n")

    assert search.is_relative
    assert len(search._rest) < 2000


@given(st.data())
def test_no_damage_to_a_store_puts_anything_else_into_a_command(data: st.DataObject) -> None:
    shape = OctoPrintPausePlan.shape
    saved = shape.decode(data.draw(damaged(shape.encode(SAVED))))

    if saved is None:
        return
    moves = pause_moves(saved, -saved.lift_mm, saved.retract_mm)
    for command in [*heat_commands(saved, on=True), *moves]:
        assert re.fullmatch(r"[GM]\d{1,3}( [TSEZF]-?\d{1,4}(\.\d+)?)*", command)
