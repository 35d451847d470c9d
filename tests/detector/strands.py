"""Pictures of the simulated printer: of its vase, and of one that ends in loose strands."""

from printreach.contract.status import State
from printreach.printers.simulated.camera import Renderer, Scene
from printreach.printers.simulated.machine import Failure
from printreach.printers.simulated.printer import SimulatedPrinter
from printreach.printers.simulated.sample import sample_gcode
from tests.printers.simulated.prints import job

BEGUN_S = 250.0


def strands(photos: int, interval_s: float) -> list[bytes]:
    """So many, from the first one on as bad."""
    printer, renderer, taken = SimulatedPrinter(), Renderer(), []
    assert printer.start(job(sample_gcode())) is None
    printer.advance(BEGUN_S)
    printer.machine.fail(Failure.SPAGHETTI)
    for _ in range(photos):
        printer.advance(interval_s)
        taken.append(photo(printer, renderer))
    return taken


def vase(interval_s: float) -> list[bytes]:
    """The sample print, from its beginning to its end."""
    printer, renderer, taken = SimulatedPrinter(), Renderer(), []
    assert printer.start(job(sample_gcode())) is None
    while printer.state is not State.COMPLETE:
        printer.advance(interval_s)
        taken.append(photo(printer, renderer))
    return taken


def photo(printer: SimulatedPrinter, renderer: Renderer) -> bytes:
    """The webcam's picture of this moment."""
    while not renderer.catch_up(printer.machine.strands, 2000):
        pass
    nozzle = printer.machine.position
    return renderer.frame(Scene(nozzle=nozzle, heat=0, fan=0, light_is_on=True, caption=""))
