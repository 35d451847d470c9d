"""The prints of the demo are watched: good ones are left alone, the failing one is paused."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from printreach.contract.status import State
from printreach.detector.model import Model, load_model
from printreach.detector.preprocess import prepare
from printreach.printers.simulated.camera import Renderer
from printreach.printers.simulated.machine import Failure
from printreach.printers.simulated.printer import SimulatedPrinter
from printreach.printers.simulated.sample import sample_gcode
from printreach.rules.watch import Decision, decide
from printreach.rules.watch.choices import WatchPause, WatchSettings
from printreach.rules.watch.memory import WatchMemory
from printreach.run.demo import PRINTERS, DemoPrinter
from tests.detector.strands import photo
from tests.fakes.clock import NOON
from tests.printers.simulated.prints import job

CHOSEN = WatchSettings(pauses=WatchPause())
"""What the demo chooses for its printers."""
GOOD = [each for each in PRINTERS if each.printed_s < 300 and not each.is_failing]
FAILING = [each for each in PRINTERS if each.is_failing]


@pytest.fixture(scope="module")
def model() -> Model:
    return load_model()


def decisions(model: Model, begun: DemoPrinter) -> Iterator[Decision]:
    """Look at a printer of the demo as the watch does, until it is paused or complete."""
    printer, renderer, memory = SimulatedPrinter(), Renderer(), WatchMemory()
    assert printer.start(job(sample_gcode())) is None
    printer.advance(begun.printed_s)
    if begun.is_failing:
        printer.machine.fail(Failure.SPAGHETTI)
    at = NOON
    while printer.state is not State.COMPLETE:
        prepared = prepare(photo(printer, renderer))
        (output,) = model.score([prepared])
        decision = decide(memory, output.assessment(prepared), CHOSEN, at)
        yield decision
        if decision.pauses:
            return
        memory = decision.memory
        printer.advance(memory.interval_s)
        at += timedelta(seconds=memory.interval_s)


@pytest.mark.slow
@pytest.mark.parametrize("begun", GOOD, ids=[each.name for each in GOOD])
def test_a_good_print_of_the_demo_looks_good_to_its_end(model: Model, begun: DemoPrinter) -> None:
    seen = list(decisions(model, begun))

    assert len(seen) > 5
    assert not any(each.look.warned or each.pauses for each in seen)
    assert min(each.look.quality for each in seen) >= 6


@pytest.mark.slow
@pytest.mark.parametrize("begun", FAILING, ids=[each.name for each in FAILING])
def test_the_failing_print_of_the_demo_is_warned_of_and_then_paused(
    model: Model, begun: DemoPrinter
) -> None:
    seen = list(decisions(model, begun))

    warned = [number for number, each in enumerate(seen) if each.look.warned]
    assert warned
    assert warned[0] < len(seen) - 1
    assert seen[-1].pauses
