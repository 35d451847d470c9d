"""The simulated printer's plastic, and its shape when a print goes wrong."""

import pytest

from printreach.contract.status import State
from printreach.printers.simulated.machine import Failure
from printreach.printers.simulated.motion import Point
from printreach.printers.simulated.printer import SimulatedPrinter

from .prints import FROM_ORIGIN, HEATED_S, ONE_LINE, after, errors, job

# Plastic.


def test_cold_plastic_is_not_extruded_and_the_move_is_made_all_the_same() -> None:
    printer = after("G28\nM109 S169\nG90\nM83\n" + ONE_LINE + "G1 Y100 E5\n")

    assert printer.state is State.COMPLETE
    assert printer.machine.position == Point(100.0, 100.0, 0.0)
    assert printer.filament_mm == 0
    assert len(printer.machine.strands) == 0
    assert errors(printer) == ["Cold extrusion prevented: below 170 °C"]


def test_plastic_is_extruded_from_170_degrees_on() -> None:
    printer = after("G28\nM109 S170\nG90\nM83\n" + ONE_LINE)

    assert printer.filament_mm == pytest.approx(5.0)
    assert errors(printer) == []


def test_absolute_and_relative_filament_come_to_the_same() -> None:
    absolute = "M82\nG92 E0\nG1 X10 E1 F600\nG1 X20 E2\nG92 E0\nG1 X30 E1\n"
    relative = "M83\nG1 X10 E1 F600\nG1 X20 E1\nG1 X30 E1\n"

    assert after(FROM_ORIGIN + absolute).filament_mm == pytest.approx(3.0)
    assert after(FROM_ORIGIN + relative).filament_mm == pytest.approx(3.0)


def test_filament_pulled_back_is_not_used() -> None:
    printer = after(FROM_ORIGIN + ONE_LINE + "G1 E-2 F1800\nG0 X0\nG1 E2\n")

    assert printer.filament_mm == pytest.approx(5.0)


def test_the_plastic_lies_where_it_was_extruded() -> None:
    printer = after(FROM_ORIGIN + "G0 X10 Y20 Z0.2 F6000\nG1 X50 E2\nG0 X90\n")
    strands = list(printer.machine.strands.between(0, 1000))

    assert strands[0].start == pytest.approx((10, 20, 0.2))
    assert strands[-1].end == pytest.approx((50, 20, 0.2))
    assert not any(strand.is_loose for strand in strands)


def test_an_arc_is_as_long_as_it_is_round() -> None:
    half_circle = "G1 X100 Y100 F6000\nG4 S0\nG3 X80 Y100 I-10 J0 E1 F600\n"
    printer = after(FROM_ORIGIN + half_circle)
    strands = list(printer.machine.strands.between(0, 1000))

    assert max(strand.end.y for strand in strands) == pytest.approx(110, abs=0.5)
    assert printer.machine.position == pytest.approx((80, 100, 0))


# Failures on demand.


def test_a_print_that_fails_into_spaghetti_leaves_loose_strands_around_the_nozzle() -> None:
    back_and_forth = "G1 X90 E2\nG1 X50 E2\n" * 20
    printer = after(FROM_ORIGIN + "G1 X50 Y50 Z10 F6000\n" + back_and_forth, HEATED_S + 5)
    solid = len(printer.machine.strands)
    printer.machine.fail(Failure.SPAGHETTI)
    printer.advance(1e3)
    loose = list(printer.machine.strands.between(solid, 10_000))

    assert len(loose) > 100
    assert all(strand.is_loose for strand in loose)
    assert len({round(strand.end.y) for strand in loose}) > 10


def test_the_same_seed_fails_in_the_same_way() -> None:
    def strands(seed: int) -> list[object]:
        printer = SimulatedPrinter(seed)
        printer.start(job(FROM_ORIGIN + ONE_LINE * 3))
        printer.machine.fail(Failure.SPAGHETTI)
        printer.advance(1e3)
        return list(printer.machine.strands.between(0, 10_000))

    assert strands(7) == strands(7)
    assert strands(7) != strands(8)


def test_a_part_that_comes_loose_lies_elsewhere_and_nothing_sticks_any_more() -> None:
    printer = after(FROM_ORIGIN + "G0 X100 Y100 Z1 F6000\nG1 X120 E2\nG4 S9\nG1 X100 E2\n", 21.0)
    before = list(printer.machine.strands.between(0, 100))
    generation = printer.machine.strands.generation
    printer.machine.fail(Failure.DETACH)
    moved = list(printer.machine.strands.between(0, 100))
    printer.advance(100.0)

    assert printer.machine.strands.generation > generation
    assert len(moved) == len(before)
    assert all(a.start.x - b.start.x > 20 for a, b in zip(before, moved, strict=True))
    assert all(strand.is_loose for strand in printer.machine.strands.between(len(moved), 1000))


def test_a_new_print_begins_well() -> None:
    printer = after(FROM_ORIGIN + ONE_LINE)
    printer.machine.fail(Failure.SPAGHETTI)
    printer.start(job(ONE_LINE))

    assert printer.machine.failure is Failure.NONE
    assert len(printer.machine.strands) == 0
