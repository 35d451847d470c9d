"""The failure-detection API with the model that is shipped."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from printreach.detector.engine import Engine
from printreach.run.scoring import load_scorer
from tests.detector.images import scene, written
from tests.detector.strands import strands, vase
from tests.web.detection.detecting import DetectionClient, detecting
from tests.web.world import Browser, WebWorld, run

INTERVAL_S = 20.0
LENGTH = 8


@pytest.fixture
def caller(world: WebWorld, program: Browser) -> Iterator[DetectionClient]:
    engine = Engine(load_scorer, threads=1, timeout_s=60)
    world.services.detection.scorer = engine
    yield detecting(world, program)
    run(program, engine.close)


def calm() -> list[bytes]:
    """The same scene again and again, as a camera sees it: no two pictures are quite the same."""
    return [written(scene(), quality=80 + number) for number in range(LENGTH)]


def flags(caller: DetectionClient, pictures: list[bytes]) -> list[tuple[bool, bool]]:
    """Whether to warn and to pause, after each picture of one print."""
    path, seen = caller.context(), []
    for picture in pictures:
        result = caller.process(path, picture).json()
        seen.append((result["WarningSuggested"], result["PauseSuggested"]))
        caller.world.clock.advance(timedelta(seconds=INTERVAL_S))
    return seen


def test_a_calm_print_is_left_alone(caller: DetectionClient) -> None:
    assert flags(caller, calm()) == [(False, False)] * LENGTH


@pytest.mark.slow
def test_the_vase_of_the_demo_is_left_alone_to_its_end(caller: DetectionClient) -> None:
    seen = flags(caller, vase(INTERVAL_S))

    assert len(seen) > 15
    assert set(seen) == {(False, False)}


@pytest.mark.slow
def test_spaghetti_is_warned_of_and_then_to_be_paused(caller: DetectionClient) -> None:
    seen = flags(caller, strands(LENGTH, INTERVAL_S))

    assert seen[0] == (False, False)
    assert seen[-1] == (True, True)
    assert (True, False) in seen
    assert (False, True) not in seen


def test_what_is_no_picture_is_refused(caller: DetectionClient) -> None:
    path = caller.context()
    truncated = written(scene())[:-100]
    for image in (b"", b"nothing", truncated, b"GIF89a" + b"\0" * 100):
        answer = caller.process(path, image)

        assert answer.status_code == 400
        assert answer.json()["ErrorType"] == "OE_IMAGE_DECODE_FAILED"
