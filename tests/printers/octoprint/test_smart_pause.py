"""The commands of a smart pause, those of its restore, and the state that survives a restart."""

import dataclasses
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract.commands import Pause
from printreach.printers.octoprint.smart_pause import (
    STORE,
    ModeSearch,
    SavedState,
    heat_commands,
    move_back_commands,
    parse_saved_state,
    pause_commands,
    plan_saved_state,
    saved_state_store,
)
from printreach.printers.print_progress import PrintProgress
from tests.printers.damage import damaged

HOT = {"tool0": 210.0, "bed": 60.0, "chamber": 35.0}
SAVED = SavedState(
    path="parts/würfel.gcode",
    targets={"tool0": 210.0},
    lift_mm=5,
    retract_mm=2,
    has_tools=False,
    is_relative=True,
    progress=PrintProgress(duration_s=90.0, position=(4711.0,)),
)


def planned(order: Pause, *, has_tools: bool = False, is_relative: bool = False) -> SavedState:
    return plan_saved_state(order, "a.gcode", HOT, has_tools=has_tools, is_relative=is_relative)


def test_a_smart_pause_turns_the_hotend_off_and_leaves_the_bed_on() -> None:
    assert planned(Pause(smart_pause=True)).targets == {"tool0": 210.0}


def test_the_bed_is_turned_off_where_that_is_asked_for() -> None:
    order = Pause(smart_pause=True, disable_hotend=False, disable_bed=True)

    assert planned(order).targets == {"bed": 60.0}


def test_nothing_to_do_is_nothing() -> None:
    order = Pause(smart_pause=True, disable_hotend=False)

    assert planned(order).is_empty
    assert pause_commands(planned(order)) == heat_commands(planned(order)) == []


def test_the_filament_is_drawn_back_while_it_is_hot_and_before_the_nozzle_rises() -> None:
    assert pause_commands(SAVED) == [
        *("G91", "M83", "G1 E-2 F1200", "G1 Z5 F300", "G90", "M83"),
        "M104 S0",
    ]


def test_it_comes_down_and_gives_filament_only_when_it_is_hot_again() -> None:
    assert heat_commands(SAVED) == ["M104 S210"]
    assert move_back_commands(SAVED) == [
        *("G91", "M83", "G1 Z-5 F300", "G1 E2 F1200", "G90", "M83"),
    ]


def test_a_print_with_absolute_lengths_gets_its_mode_back() -> None:
    absolute = dataclasses.replace(SAVED, is_relative=False)

    assert pause_commands(absolute)[5] == "M82"
    assert move_back_commands(absolute)[-1] == "M82"


def test_all_heaters_are_heated_at_once_and_none_is_waited_for() -> None:
    saved = dataclasses.replace(
        SAVED, targets={"tool0": 210.0, "tool1": 205.5, "bed": 60.0}, has_tools=True
    )

    assert heat_commands(saved) == [
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


def test_a_rest_survives_a_restart(tmp_path: Path) -> None:
    saved_state_store(tmp_path).save(SAVED)

    assert saved_state_store(tmp_path).load() == SAVED


def test_what_is_forgotten_is_gone(tmp_path: Path) -> None:
    store = saved_state_store(tmp_path)
    store.save(SAVED)
    store.forget()
    store.forget()

    assert store.load() is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["", "{", "null", "[" * 100_000, "x" * 100_000])
def test_a_damaged_store_is_an_empty_one(tmp_path: Path, content: str) -> None:
    (tmp_path / STORE).write_text(content)

    assert saved_state_store(tmp_path).load() is None


@given(st.data())
def test_no_damage_to_a_store_puts_anything_else_into_a_command(data: st.DataObject) -> None:
    saved = parse_saved_state(data.draw(damaged(dataclasses.asdict(SAVED))))

    for command in [] if saved is None else [*heat_commands(saved), *move_back_commands(saved)]:
        assert re.fullmatch(r"[GM]\d{1,3}( [TSEZF]-?\d{1,4}(\.\d+)?)*", command)
