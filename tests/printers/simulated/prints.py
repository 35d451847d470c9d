"""Short prints, and printers that have come some way with them."""

from collections.abc import Callable

from printreach.printers.simulated.printer import SimulatedPrinter
from printreach.printers.simulated.program import Job

TICK_S = 0.05

HOT = "M104 S200\nM109 S200\nG90\nM83\n"
"""Makes the hotend hot, and says how the rest is meant."""
FROM_ORIGIN = "G28\n" + HOT
HEATED_S = (200 - 22) / 12
"""Seconds that M109 S200 takes from cold."""
ONE_LINE = "G1 X100 E5 F6000\n"
"""100 mm from the origin, at 100 mm/s."""


def job(gcode: str, name: str = "part.gcode") -> Job:
    data = gcode.encode()
    return Job(name=name, size_bytes=len(data), lines=data.splitlines(keepends=True))


def printing(gcode: str) -> SimulatedPrinter:
    """A printer that has just been told to print this."""
    printer = SimulatedPrinter()
    assert printer.start(job(gcode)) is None
    return printer


def after(gcode: str, seconds: float = 1e6) -> SimulatedPrinter:
    """A printer that has been at it for a while; by default, as long as it takes."""
    printer = printing(gcode)
    printer.advance(seconds)
    return printer


def advance_until(printer: SimulatedPrinter, reached: Callable[[SimulatedPrinter], bool]) -> float:
    """Let time pass in ticks; how much it took, in seconds."""
    for tick in range(100_000):
        if reached(printer):
            return tick * TICK_S
        printer.advance(TICK_S)
    raise AssertionError("it never came to that")


def errors(printer: SimulatedPrinter) -> list[str]:
    return [message.text for message in printer.machine.console if message.is_error]
