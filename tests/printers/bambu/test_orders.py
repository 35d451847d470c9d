"""Orders as Bambu printers take them."""

from types import SimpleNamespace
from typing import cast

import pytest

from printreach.contract.commands import Axis, Pause, SetTemp, StartPrint
from printreach.contract.status import CurrentPrint, JobStatus, State, Temps
from printreach.printers.bambu.api import BambuApi
from printreach.printers.bambu.live_view import LiveView
from printreach.printers.bambu.orders import (
    extrude_lines,
    light,
    move_lines,
    start,
    start_problem,
    temp_lines,
)
from printreach.printers.bambu.pause_plan import (
    BambuPausePlan,
    heat_lines,
    pause_moves,
)
from printreach.printers.port import View
from printreach.printers.print_progress import SavedState

HOT = Temps(hotend_target=220.0, bed_target=60.0)


def plan_at(temps: Temps) -> BambuPausePlan:
    job = JobStatus(state=State.PRINTING, current_print=CurrentPrint(temps=temps))
    live_view = SimpleNamespace(view=View(job=job))
    return BambuPausePlan(cast("BambuApi", None), cast("LiveView", live_view))


def test_a_project_is_started_with_every_option() -> None:
    order = StartPrint(
        path="gcode/folder/part.3mf",
        plate=2,
        use_ams=True,
        ams_mapping=[-1, 4],
        flow_cali=True,
        timelapse=True,
        bed_leveling=False,
        vibration_cali=True,
        layer_inspect=True,
    )
    reported = start(order, "folder/part.3mf")

    assert (reported.part, reported.command) == ("print", "project_file")
    assert reported.arguments["param"] == "Metadata/plate_2.gcode"
    assert reported.arguments["url"] == "ftp:///folder/part.3mf"
    assert reported.arguments["subtask_name"] == "part.3mf"
    assert reported.arguments["ams_mapping"] == [-1, 4]
    options = ("use_ams", "timelapse", "flow_cali", "vibration_cali", "layer_inspect")
    assert all(reported.arguments[option] is True for option in options)
    assert reported.arguments["bed_levelling"] is False


def test_a_project_without_options_prints_its_first_plate_from_the_external_spool() -> None:
    reported = start(StartPrint(path="gcode/part.3mf"), "part.3mf")

    assert reported.arguments["param"] == "Metadata/plate_1.gcode"
    assert (reported.arguments["use_ams"], reported.arguments["ams_mapping"]) == (False, [])


def test_g_code_is_started_as_a_file() -> None:
    reported = start(StartPrint(path="gcode/part.gcode"), "part.gcode")

    assert (reported.command, reported.arguments) == ("gcode_file", {"param": "/part.gcode"})


@pytest.mark.parametrize(
    ("order", "name"),
    [
        (StartPrint(path="gcode/x.3mf", plate=0), "Plate"),
        (StartPrint(path="gcode/x.3mf", plate=101), "Plate"),
        (StartPrint(path="gcode/x.3mf", ams_mapping=[-2]), "AmsMapping"),
        (StartPrint(path="gcode/x.3mf", ams_mapping=[0] * 65), "AmsMapping"),
    ],
)
def test_an_option_out_of_range_is_named(order: StartPrint, name: str) -> None:
    assert (start_problem(order) or "").startswith(name)


def test_options_in_range_are_no_problem() -> None:
    assert start_problem(StartPrint(path="gcode/x.3mf", plate=100, ams_mapping=[-1, 255])) is None


def test_a_move_is_relative_and_leaves_the_mode_as_it_was() -> None:
    lines = move_lines(Axis.Z, -0.05)

    assert "G1 Z-0.05 F900" in lines
    assert lines.index("M1002 push_ref_mode") < lines.index("G91")
    assert lines.index("M1002 pop_ref_mode") > lines.index("G91")


@pytest.mark.parametrize(("mm", "text"), [(1e-7, "E0 "), (500.0, "E500 "), (-2.25, "E-2.25 ")])
def test_a_number_is_never_in_scientific_notation(mm: float, text: str) -> None:
    assert text in extrude_lines(mm)[-1]


def test_temperatures_name_a_nozzle_only_where_there_are_several() -> None:
    order = SetTemp(tool_c=200.0, bed_c=0.0, tool_number=1)

    assert temp_lines(order, extruders=1) == ["M104 S200", "M140 S0"]
    assert temp_lines(order, extruders=2) == ["M104 T1 S200", "M140 S0"]
    assert temp_lines(order, extruders=1, waits=True) == ["M109 S200", "M190 S0"]


def test_a_light_is_told_its_mode() -> None:
    assert light("chamber_light", on=False).arguments["led_mode"] == "off"


def test_a_smart_pause_retracts_lifts_and_then_cools() -> None:
    order = Pause(smart_pause=True, z_lift_mm=5, retract_filament_mm=2, disable_bed=False)
    saved = plan_at(HOT).planned(order)
    down, up = [*pause_moves(5, -2), *heat_lines(saved, on=False)], pause_moves(-5, 2)

    assert [line for line in down if line.startswith(("G1", "M104", "M140"))] == [
        "G1 E-2 F300",
        "G1 Z5 F900",
        "M104 S0",
    ]
    assert [line for line in up if line.startswith("G1")] == ["G1 Z-5 F900", "G1 E2 F300"]


def test_it_is_warm_again_when_every_heater_is() -> None:
    saved = plan_at(HOT).planned(Pause(smart_pause=True, disable_bed=True))

    assert plan_at(Temps(hotend_actual=218.0, bed_actual=58.0)).is_warm(saved)
    assert not plan_at(Temps(hotend_actual=218.0, bed_actual=40.0)).is_warm(saved)


def test_a_pause_of_a_cold_printer_takes_nothing() -> None:
    assert plan_at(Temps()).planned(Pause(smart_pause=True)) == SavedState(path="")
