"""Orders as G-code, and what a smart pause takes from a print and gives back."""

import json
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract.commands import Axis, Pause
from printreach.printers.moonraker import gcode
from printreach.printers.moonraker.api import MoonrakerApi
from printreach.printers.moonraker.live_view import LiveView
from printreach.printers.moonraker.pause_plan import MoonrakerPausePlan, pause_moves
from printreach.printers.moonraker.status import with_changes
from printreach.printers.moonraker.translate import shortened
from printreach.printers.port import View
from printreach.printers.print_progress import SavedState
from tests.printers.damage import JUNK, damaged
from tests.printers.moonraker.recordings import at_first


def plan_beside(changes: object) -> MoonrakerPausePlan:
    """The plan of pauses of a printer that has told these changes."""
    known = with_changes(at_first(), changes)
    live_view = cast("LiveView", SimpleNamespace(known=known, view=View(trouble=None)))
    return MoonrakerPausePlan(cast("MoonrakerApi", None), live_view)


# G-code.


@pytest.mark.parametrize(
    ("axis", "distance_mm", "line"),
    [
        (Axis.X, 10.0, "G1 X10 F6000"),
        (Axis.Y, -0.25, "G1 Y-0.25 F6000"),
        (Axis.Z, 1 / 3, "G1 Z0.333 F600"),
    ],
)
def test_a_move_is_relative_in_a_state_of_its_own(
    axis: Axis, distance_mm: float, line: str
) -> None:
    assert gcode.move(axis, distance_mm).splitlines() == [gcode.SAVE, "G91", line, gcode.RESTORE]


def test_filament_is_pushed_in_one_move_that_klipper_can_refuse() -> None:
    lines = gcode.extrude(120.5, "extruder", "extruder").splitlines()

    assert lines[2:-1] == ["G1 E120.5 F300"]


def test_filament_is_drawn_back_by_a_negative_length() -> None:
    assert gcode.extrude(-5, "extruder", "extruder").splitlines()[2:-1] == ["G1 E-5 F300"]


def test_another_extruder_is_used_and_the_old_one_again() -> None:
    lines = gcode.extrude(5, "extruder1", "extruder").splitlines()

    assert lines == [
        gcode.SAVE,
        "M83",
        "ACTIVATE_EXTRUDER EXTRUDER=extruder1",
        "G1 E5 F300",
        "ACTIVATE_EXTRUDER EXTRUDER=extruder",
        gcode.RESTORE,
    ]


def test_targets_are_set_by_the_names_of_heaters() -> None:
    assert gcode.set_targets({"extruder": 210.5, "heater_bed": 0.0}).splitlines() == [
        "SET_HEATER_TEMPERATURE HEATER=extruder TARGET=210.5",
        "SET_HEATER_TEMPERATURE HEATER=heater_bed TARGET=0",
    ]


def test_a_rest_retracts_before_it_lifts_and_a_waking_is_its_reverse() -> None:
    assert pause_moves(5, -2).splitlines()[3:-1] == ["G1 E-2 F2100", "G1 Z5 F600"]
    assert pause_moves(-5, 2).splitlines()[3:-1] == ["G1 Z-5 F600", "G1 E2 F2100"]


# Words.


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("Must home axis first: 1.0 0.0", "Must home axis first: 1.0 0.0"),
        ("!! Extrude below minimum temp\nSee the 'min_extrude_temp'", "Extrude below minimum temp"),
        ("\n\n  Printer is shutdown.\n", "Printer is shutdown"),
        ("x" * 5000, "x" * 200),
        ("", None),
        (None, None),
    ],
)
def test_klippers_words_are_cut_to_what_is_wrong(message: str | None, words: str | None) -> None:
    assert shortened(message) == words


# Smart pause.


def test_only_heaters_that_are_on_are_turned_off() -> None:
    plan = plan_beside({"extruder": {"target": 210.0}, "heater_bed": {"target": 0.0}})
    order = Pause(smart_pause=True, disable_bed=True)

    assert plan.planned(order).targets == {"extruder": 210.0}


@pytest.mark.parametrize(
    ("order", "heaters"),
    [
        (Pause(smart_pause=True), {"extruder"}),
        (Pause(smart_pause=True, disable_bed=True), {"extruder", "heater_bed"}),
        (Pause(smart_pause=True, disable_hotend=False), set()),
    ],
)
def test_the_hotend_rests_unless_said_otherwise_and_the_bed_if_said(
    order: Pause, heaters: set[str]
) -> None:
    plan = plan_beside({"extruder": {"target": 210.0}, "heater_bed": {"target": 60.0}})
    saved = plan.planned(order)

    assert saved.targets.keys() == heaters
    assert plan.is_plain(saved) == (not heaters)


def test_it_is_warm_again_a_little_below_the_target() -> None:
    def at(temperature_c: float) -> bool:
        plan = plan_beside({"extruder": {"temperature": temperature_c}})
        return plan.is_warm(SavedState(path="a.gcode", targets={"extruder": 210.0}))

    assert (at(206.9), at(207.0)) == (False, True)


def test_a_memory_never_heats_beyond_reason_or_writes_gcode_of_its_own() -> None:
    targets = {"extruder": 900.0, "x TARGET=1\nM112": 200.0, "heater_bed": 60.0}
    reported = {"path": "a", "targets": targets, "lift_mm": 9000, "retract_mm": -1}

    assert MoonrakerPausePlan.shape.decode(reported) == SavedState(
        path="a", targets={"heater_bed": 60.0}, lift_mm=0, retract_mm=0
    )


@given(st.data())
def test_no_damage_to_the_memory_harms(data: st.DataObject) -> None:
    reported = {"path": "a", "targets": {"extruder": 200.0}, "lift_mm": 1, "retract_mm": 1}
    saved = MoonrakerPausePlan.shape.decode(data.draw(st.one_of(JUNK, damaged(reported))))

    assert saved is None or all(0 < target <= 500 for target in saved.targets.values())
    assert saved is None or json.dumps(MoonrakerPausePlan.shape.encode(saved))
