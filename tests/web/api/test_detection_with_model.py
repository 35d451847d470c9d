"""The failure-detection API with the model that is shipped."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from printreach.detector.engine import Engine
from printreach.printers.simulated.model.machine import Failure
from printreach.printers.simulated.model.printer import SimulatedPrinter
from printreach.printers.simulated.sample import sample_gcode
from printreach.printers.simulated.webcam.render import Renderer, Scene
from printreach.run.scoring import load_look
from tests.detector.images import scene, written
from tests.printers.simulated.prints import job
from tests.web.api.detecting import Detecting, detecting
from tests.web.world import Browser, WebWorld, run

INTERVAL_S = 20.0
LENGTH = 8
BEGUN_S = 250.0


@pytest.fixture
def caller(world: WebWorld, program: Browser) -> Iterator[Detecting]:
    engine = Engine(load_look, threads=1)
    world.services.detection.scorer = engine
    yield detecting(world, program)
    run(program, engine.close)


def calm() -> list[bytes]:
    """The same scene again and again, as a camera sees it: no two pictures are quite the same."""
    return [written(scene(), quality=80 + number) for number in range(LENGTH)]


def spaghetti() -> list[bytes]:
    """A print that lies in strands all over the bed from its first picture on."""
    printer, renderer, pictures = SimulatedPrinter(), Renderer(), []
    assert printer.start(job(sample_gcode())) is None
    printer.advance(BEGUN_S)
    printer.fail(Failure.SPAGHETTI)
    for _ in range(LENGTH):
        printer.advance(INTERVAL_S)
        while not renderer.catch_up(printer.machine.strands, 2000):
            pass
        nozzle = printer.status().position
        pictures.append(
            renderer.frame(Scene(nozzle=nozzle, heat=0, fan=0, light_is_on=True, caption=""))
        )
    return pictures


def flags(caller: Detecting, pictures: list[bytes]) -> list[tuple[bool, bool]]:
    """Whether to warn and to pause, after each picture of one print."""
    path, seen = caller.context(), []
    for picture in pictures:
        result = caller.process(path, picture).json()
        seen.append((result["WarningSuggested"], result["PauseSuggested"]))
        caller.world.clock.advance(timedelta(seconds=INTERVAL_S))
    return seen


def test_a_calm_print_is_left_alone(caller: Detecting) -> None:
    assert flags(caller, calm()) == [(False, False)] * LENGTH


def test_spaghetti_is_warned_of_and_then_to_be_paused(caller: Detecting) -> None:
    seen = flags(caller, spaghetti())

    assert seen[0] == (False, False)
    assert seen[-1] == (True, True)
    assert (True, False) in seen
    assert (False, True) not in seen


def test_what_is_no_picture_is_refused(caller: Detecting) -> None:
    path = caller.context()
    truncated = written(scene())[:-100]
    for image in (b"", b"nothing", truncated, b"GIF89a" + b"\0" * 100):
        answer = caller.process(path, image)

        assert answer.status_code == 400
        assert answer.json()["ErrorType"] == "OE_IMAGE_DECODE_FAILED"
