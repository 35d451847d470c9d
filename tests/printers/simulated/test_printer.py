"""The simulated printer: the states of a job, and controls by hand."""

import pytest

from printreach.contract.status import State
from printreach.printers.simulated.motion import Point
from printreach.printers.simulated.printer import SimulatedPrinter
from printreach.printers.simulated.program import HeaterName

from .prints import (
    FROM_ORIGIN,
    HEATED_S,
    HOT,
    ONE_LINE,
    TICK_S,
    advance_until,
    after,
    job,
    printing,
)

ONE_TICK_MM = 100 * TICK_S + 0.1
"""Millimetres that a print may have moved on before a test noticed."""


def refused(answer: object) -> bool:
    return isinstance(answer, str)


def state_of(printer: SimulatedPrinter) -> State:
    """The state, which a type checker doesn't take for the one of before."""
    return printer.state


def settled(printer: SimulatedPrinter) -> bool:
    return printer.is_settled


# States.


def test_a_job_goes_from_idle_over_warming_up_and_printing_to_complete() -> None:
    printer = SimulatedPrinter()
    states = [printer.state]
    printer.start(job(FROM_ORIGIN + ONE_LINE))
    while printer.state is not State.COMPLETE:
        if printer.state is not states[-1]:
            states.append(printer.state)
        printer.advance(0.1)

    assert states == [State.IDLE, State.WARMING_UP, State.PRINTING]


def test_homing_and_moves_while_something_heats_are_not_yet_printing() -> None:
    printer = printing("M104 S200\nG28\nG1 Z5 F300\nM109 S200\n" + HOT + ONE_LINE)

    printing_after_s = advance_until(printer, lambda p: p.state is State.PRINTING)

    assert printing_after_s == pytest.approx(HEATED_S, abs=0.2)


def test_a_print_without_heat_is_printing_at_its_first_move() -> None:
    assert after("G1 X100 F600\n", 0.1).state is State.PRINTING


def test_waiting_for_heat_is_said() -> None:
    assert after(HOT, 5.0).sub_state == "Heating"


def test_a_second_job_is_refused_while_one_runs() -> None:
    printer = after(FROM_ORIGIN + ONE_LINE, 3.0)

    assert refused(printer.start(job(ONE_LINE)))


def test_a_paused_print_stands_still_and_goes_on_where_it_was() -> None:
    gcode = FROM_ORIGIN + ONE_LINE + "G1 Y100 E5\n"
    printer = printing(gcode)
    advance_until(printer, lambda p: p.machine.position.x > 50)
    paused_at = printer.machine.position
    printer.pause()
    printer.advance(100.0)
    assert state_of(printer) is State.PAUSED
    assert printer.machine.position == paused_at._replace(z=paused_at.z + 10)

    printer.resume()
    assert state_of(printer) is State.RESUMING
    advance_until(printer, lambda p: p.state is State.PRINTING)
    assert printer.machine.position == pytest.approx(paused_at, abs=ONE_TICK_MM)
    printer.advance(100.0)

    assert printer.filament_mm == pytest.approx(10.0)
    assert printer.machine.position == Point(100.0, 100.0, 0.0)


def test_a_pause_does_not_count_as_printing_time() -> None:
    printer = after(FROM_ORIGIN + ONE_LINE, HEATED_S + 2.7)
    assert state_of(printer) is State.PRINTING
    before_s = printer.duration_s
    printer.pause()
    printer.advance(1000.0)

    assert printer.duration_s == before_s


def test_a_paused_print_may_be_moved_by_hand_and_still_finds_its_place() -> None:
    printer = after(FROM_ORIGIN + ONE_LINE, 18.0)
    printer.pause()
    printer.advance(5.0)
    paused_at = printer.machine.position
    printer.jog("X", 40)
    printer.advance(5.0)
    assert printer.machine.position == paused_at._replace(x=paused_at.x + 40)
    printer.resume()
    advance_until(printer, lambda p: p.state is State.PRINTING)

    here = paused_at._replace(z=paused_at.z - 10)
    assert printer.machine.position == pytest.approx(here, abs=ONE_TICK_MM)


@pytest.mark.parametrize("code", ["M600", "M0 Insert the magnets", "M601"])
def test_a_print_can_ask_for_a_person(code: str) -> None:
    printer = after(FROM_ORIGIN + f"G1 X10 E1 F600\n{code}\n" + ONE_LINE)

    assert state_of(printer) is State.PAUSED
    assert printer.sub_state in (
        "Filament change",
        "Insert the magnets",
        "Paused by the print",
    )
    printer.resume()
    printer.advance(100.0)
    assert state_of(printer) is State.COMPLETE


def test_cancelling_ends_the_print_and_lets_it_cool() -> None:
    printer = after(FROM_ORIGIN + "M106 S255\n" + ONE_LINE, 18.0)
    printer.cancel()
    where = printer.machine.position
    printer.advance(2000.0)

    assert state_of(printer) is State.CANCELLED
    assert printer.machine.heaters[HeaterName.HOTEND].actual_c == pytest.approx(22.0)
    assert printer.machine.fan_percent == 0
    assert printer.machine.position == where


@pytest.mark.parametrize("seconds", [5.0, 18.0])
def test_a_print_can_be_cancelled_at_any_time(seconds: float) -> None:
    for pause in (False, True):
        printer = after(FROM_ORIGIN + ONE_LINE, seconds)
        if pause:
            printer.pause()
        assert printer.cancel() is None


def test_a_fault_ends_the_print_with_its_sentence() -> None:
    printer = after(FROM_ORIGIN + ONE_LINE, 18.0)
    printer.break_down("The hotend lost its sensor.")

    assert state_of(printer) is State.ERROR
    assert printer.error == "The hotend lost its sensor."
    assert not printer.machine.heaters[HeaterName.HOTEND].target_c


def test_an_ended_print_is_cleared_to_idle() -> None:
    printer = after(FROM_ORIGIN + ONE_LINE)
    assert len(printer.machine.strands) > 0
    printer.clear()

    assert state_of(printer) is State.IDLE
    assert printer.file_name == ""
    assert len(printer.machine.strands) == 0


def test_orders_that_make_no_sense_are_refused() -> None:
    idle = SimulatedPrinter()
    assert refused(idle.pause())
    assert refused(idle.resume())
    assert refused(idle.cancel())
    assert refused(idle.clear())

    busy = after(FROM_ORIGIN + ONE_LINE, 18.0)
    assert refused(busy.resume())
    assert refused(busy.clear())
    assert refused(busy.home())
    assert refused(busy.jog("X", 1))
    assert refused(busy.extrude(1))
    busy.pause()
    assert refused(busy.pause())
    assert refused(busy.home())


# By hand.


def test_jogs_follow_one_another_and_stop_at_the_end_of_the_reach() -> None:
    printer = after("G28\n")
    printer.jog("X", 50)
    printer.jog("Y", 20)
    printer.jog("X", 500)
    printer.jog("Z", -5)
    printer.advance(60.0)

    assert printer.machine.position == Point(220.0, 20.0, 0.0)


def test_homing_goes_to_the_origin() -> None:
    printer = SimulatedPrinter()
    printer.home()
    printer.advance(60.0)

    assert printer.machine.position == Point(0.0, 0.0, 0.0)


def test_extruding_by_hand_needs_a_hot_hotend() -> None:
    printer = SimulatedPrinter()
    assert printer.extrude(10) == "Cold extrusion prevented: the hotend is below 170 °C."

    printer.machine.heaters[HeaterName.HOTEND].set_target(200)
    printer.advance(30.0)
    printer.extrude(10)
    printer.advance(10.0)
    assert printer.machine.filament_mm == pytest.approx(10.0)


def test_the_light_can_be_switched() -> None:
    printer = SimulatedPrinter()
    printer.machine.light_is_on = False

    assert not printer.machine.light_is_on


def test_an_idle_printer_is_settled_until_something_is_ordered() -> None:
    printer = SimulatedPrinter()
    assert settled(printer)
    printer.machine.heaters[HeaterName.BED].set_target(60)
    assert not settled(printer)
    printer.advance(60.0)
    assert settled(printer)
    printer.jog("X", 10)
    assert not settled(printer)
    printer.advance(60.0)
    assert settled(printer)


def test_a_cooled_down_printer_is_settled() -> None:
    printer = after(FROM_ORIGIN + ONE_LINE)
    printer.cancel()
    printer.clear()
    for heater in HeaterName:
        printer.machine.heaters[heater].set_target(0)
    printer.advance(5000.0)

    assert settled(printer)
