"""What is said of the camera of simulated prints: it stays where it is."""

from collections.abc import Callable

import pytest

from printreach.detector.preprocess import prepare
from printreach.printers.simulated.camera import Renderer, Scene
from printreach.printers.simulated.machine import Failure
from printreach.printers.simulated.printer import SimulatedPrinter
from printreach.printers.simulated.sample import sample_gcode
from printreach.rules.detection.scene import SceneMemory, ViewCondition, compare_scene
from tests.printers.simulated.prints import job

TICKS_A_SECOND = 10
LOOKS = 20


def switch_light(printer: SimulatedPrinter) -> None:
    printer.machine.light_is_on = not printer.machine.light_is_on


def pause(printer: SimulatedPrinter) -> None:
    assert printer.pause() is None


def fail(failure: Failure) -> Callable[[SimulatedPrinter], None]:
    return lambda printer: printer.machine.fail(failure)


def nothing(_: SimulatedPrinter) -> None:
    """Let it print."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "happens",
    [nothing, switch_light, pause, fail(Failure.SPAGHETTI), fail(Failure.DETACH)],
    ids=["nothing", "light", "pause", "spaghetti", "detached"],
)
@pytest.mark.parametrize("interval_s", [5, 10])
def test_nothing_that_a_print_does_moves_the_camera(
    happens: Callable[[SimulatedPrinter], None], interval_s: int
) -> None:
    printer, renderer = SimulatedPrinter(), Renderer()
    assert printer.start(job(sample_gcode())) is None
    seen: SceneMemory | None = None
    views = []
    for look in range(LOOKS):
        for _ in range(interval_s * TICKS_A_SECOND):
            printer.advance(1 / TICKS_A_SECOND)
        if look == LOOKS // 2:
            happens(printer)
        seen, view = compare_scene(seen, prepare(picture(printer, renderer)).scene)
        views.append(view)

    assert ViewCondition.MOVED not in views


def picture(printer: SimulatedPrinter, renderer: Renderer) -> bytes:
    """The webcam's picture of this moment."""
    machine = printer.machine
    while not renderer.catch_up(machine.strands, 2000):
        pass
    return renderer.frame(
        Scene(
            nozzle=machine.position,
            heat=3,
            fan=0,
            light_is_on=machine.light_is_on,
            caption=f"{printer.duration_s:.1f}",
        )
    )
