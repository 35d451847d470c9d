"""The simulated printer's printing time, and its estimate of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract.status import State
from printreach.printers.simulated.control import survey
from printreach.printers.simulated.printer import SimulatedPrinter
from printreach.printers.simulated.program import HeaterName
from printreach.printers.simulated.sample import sample_gcode

from .prints import FROM_ORIGIN, HEATED_S, ONE_LINE, after, job, printing

LAYERS_OF_SAMPLE = 60

# Time.


@pytest.mark.parametrize(
    ("gcode", "seconds"),
    [
        ("G1 X100 F6000\n", 1.0),
        ("G1 F600\nG1 X30\nG1 Y40\n", 7.0),
        ("G1 X30 Y40 F3000\n", 1.0),
        ("G91\nG1 X10 F600\nG1 X10\n", 2.0),
        ("G1 Z10 F600\n", 1.0),
        ("G4 S2\nG4 P500\n", 2.5),
        ("G1 X100 F6000\nG1 X0 F0\n", 2.0),
        ("G20\nG1 X10 F600\n", 1.0),
        ("", 0.0),
    ],
)
def test_a_print_takes_the_time_that_its_feed_rates_give_it(gcode: str, seconds: float) -> None:
    homed_s = after("G28\n").duration_s

    took_s = after("G28\n" + gcode).duration_s - homed_s

    assert took_s == pytest.approx(seconds, abs=0.001)


def test_a_print_of_a_few_hundred_short_moves_lasts_seconds() -> None:
    moves = [f"G1 X{n % 2} F3000\n" for n in range(300)]

    assert 5 < after("G28\n" + "".join(moves)).duration_s < 10


def test_only_m109_and_m190_wait_for_heat() -> None:
    def takes_s(gcode: str) -> float:
        return after(gcode).duration_s

    assert takes_s("M104 S200\nM140 S60\nM141 S40\nM191 S40\n") < 0.01
    assert takes_s("M109 S200\n") == pytest.approx(HEATED_S, abs=0.001)
    assert takes_s("M190 S60\n") == pytest.approx((60 - 22) / 10, abs=0.001)


def test_m109_r_waits_for_a_hotend_to_cool_too() -> None:
    hot = after("M109 S200\n").duration_s

    assert after("M109 S200\nM109 S100\n").duration_s == pytest.approx(hot, abs=0.001)
    assert after("M109 S200\nM109 R100\n").duration_s > hot + 10


@given(cuts=st.lists(st.floats(0.001, 5.0), max_size=30))
def test_how_finely_time_is_cut_does_not_matter(cuts: list[float]) -> None:
    gcode = FROM_ORIGIN + ONE_LINE + "G4 S1\nG1 Y50 E2\nM140 S50\nG1 X0 F900\n"
    in_one_go = after(gcode, sum(cuts))
    in_pieces = printing(gcode)
    for seconds in cuts:
        in_pieces.advance(seconds)
    left, right = in_pieces.machine, in_one_go.machine

    assert in_pieces.state == in_one_go.state
    assert left.position == pytest.approx(right.position, abs=1e-3)
    assert in_pieces.filament_mm == pytest.approx(in_one_go.filament_mm, abs=1e-3)
    for heater in HeaterName:
        expected_c = right.heaters[heater].actual_c
        assert left.heaters[heater].actual_c == pytest.approx(expected_c, abs=0.1)


@given(gcode=st.text(alphabet="GMTXYZEFSPRIJN0123456789.-; ()\n", max_size=200))
def test_no_file_stops_the_printer_from_coming_to_an_end(gcode: str) -> None:
    printer = printing(gcode)
    for _ in range(300):
        printer.advance(1e12)
        if printer.state is State.PAUSED:
            printer.resume()

    assert printer.state is State.COMPLETE


# What is told.


def test_progress_follows_the_file_and_ends_at_100() -> None:
    printer = printing(FROM_ORIGIN + ONE_LINE * 50)
    seen = []
    while printer.state is not State.COMPLETE:
        seen.append(printer.progress)
        printer.advance(0.5)

    assert seen == sorted(seen)
    assert seen[0] == 0
    assert printer.progress == 100


def test_progress_leaves_out_the_picture_before_the_commands() -> None:
    """Layers, times and percent of the sample agree."""
    gcode = sample_gcode()
    job_s = survey(job(gcode)).seconds
    without = printing(FROM_ORIGIN + ONE_LINE * 50)
    picture = "; thumbnail begin\n" + f"; {'A' * 76}\n" * 500 + "\n"
    behind_picture = printing(picture + FROM_ORIGIN + ONE_LINE * 50)
    sample = printing(gcode)
    for _ in range(20):
        without.advance(5)
        behind_picture.advance(5)
        sample.advance(job_s / 20)
        if sample.state is State.PRINTING:
            layer = 100 * (sample.current_layer or 0) / LAYERS_OF_SAMPLE
            assert sample.progress == pytest.approx(layer, abs=12)

    assert without.progress > 10
    assert behind_picture.progress == pytest.approx(without.progress, abs=3)


def test_a_survey_tells_time_filament_and_layers_beforehand() -> None:
    gcode = FROM_ORIGIN + ONE_LINE + "G1 Z0.4\nG1 X0 E5\nM600\nG1 Z0.6\nG1 X100 E5\n"
    known = survey(job(gcode))
    printer = after(gcode)
    printer.resume()
    printer.advance(1e3)

    assert known.seconds == pytest.approx(printer.duration_s, abs=0.1)
    assert known.filament_mm == pytest.approx(15.0)
    assert known.layers == 3


def test_the_time_left_comes_from_the_survey_and_runs_out_with_the_print() -> None:
    gcode = FROM_ORIGIN + ONE_LINE * 20
    data = job(gcode)
    printer = SimulatedPrinter()
    known = survey(data)
    printer.start(type(data)(name="a", size_bytes=len(gcode), lines=data.lines, survey=known))

    while printer.state is not State.COMPLETE:
        left_s = printer.time_left_s
        assert left_s is not None
        assert left_s + printer.duration_s == pytest.approx(known.seconds)
        printer.advance(1.0)


def test_without_a_survey_the_time_left_is_unknown_at_first() -> None:
    assert printing(FROM_ORIGIN + ONE_LINE * 20).time_left_s is None


# The sample.


@pytest.mark.slow
def test_the_sample_is_a_print_of_a_few_minutes() -> None:
    known = survey(job(sample_gcode()))

    assert 120 < known.seconds < 400
    assert known.layers == LAYERS_OF_SAMPLE
    assert 1000 < known.filament_mm < 20_000
