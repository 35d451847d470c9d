"""A trial run: what a file will take, found by printing it on a printer of its own."""

from .job import Job, Survey
from .printer import SimulatedPrinter
from .status import ACTIVE, State

_STEP_S = 600.0
_LONGEST_S = 1000 * 3600.0


def survey(job: Job) -> Survey:
    """Read the whole file. Takes about 20 µs a line: not for an event loop."""
    printer = SimulatedPrinter()
    printer.start(job)
    while printer.state in ACTIVE and printer.status().duration_s < _LONGEST_S:
        printer.advance(_STEP_S)
        if printer.state is State.PAUSED:
            printer.resume()
    status = printer.status()
    return Survey(
        seconds=status.duration_s,
        filament_mm=status.filament_mm,
        layers=status.current_layer or 0,
    )
