"""Cameras that watch several prints: what is drawn, and the folder that is measured."""

from pathlib import Path

import numpy as np
import pytest

from printreach.detector.evaluation.folder import read_folder
from printreach.rules.detection.appearance import FIRST_PICTURES
from training.cameras import CameraPrint, written
from training.incidents import Incident, with_incident
from training.pictures import Pixels
from training.render import any_plan, frame, on_camera
from training.render_failures import Failure

COUNT = 20


def pictures() -> tuple[Pixels, ...]:
    numbers = np.random.default_rng(1)
    return tuple(numbers.integers(60, 200, (48, 64, 3), np.uint8) for _ in range(COUNT))


def changed(before: tuple[Pixels, ...], after: tuple[Pixels, ...]) -> list[int]:
    return [n for n in range(COUNT) if not np.array_equal(before[n], after[n])]


@pytest.mark.parametrize(("incident", "lasts"), [(Incident.HAND, 3), (Incident.LIGHT, 6)])
def test_what_happens_shows_for_a_while_and_is_over_then(incident: Incident, lasts: int) -> None:
    good = pictures()

    shown = changed(good, with_incident(good, incident, 5))

    assert shown == list(range(shown[0], shown[0] + lasts))
    assert shown[0] >= FIRST_PICTURES


def test_a_camera_that_is_pushed_shows_another_part_of_the_picture_from_then_on() -> None:
    still = (pictures()[0],) * COUNT

    shown = with_incident(still, Incident.MOVED, 5)

    views = [n for n in range(1, COUNT) if not np.array_equal(shown[n - 1], shown[n])]
    assert len(views) == 1
    assert shown[0].shape == still[0].shape


@pytest.mark.slow
def test_prints_on_one_camera_differ_in_their_parts_alone() -> None:
    camera, other = (any_plan(seed, Failure.NONE, 0, COUNT) for seed in (11, 12))

    seen = on_camera(other, camera)

    assert (seen.scene, seen.parts, seen.seed) == (camera.scene, other.parts, other.seed)
    assert frame(seen, 0).pixels.shape == frame(camera, 0).pixels.shape


def test_prints_are_written_as_the_evaluation_reads_them(tmp_path: Path) -> None:
    one = CameraPrint("drawn-00", "rendered: good, a hand", 18, pictures())

    written(tmp_path, 4, one)

    (read,) = read_folder(tmp_path).sequences
    assert (read.name, read.camera, read.kind) == (
        "drawn-00-004-rendered-good-a-hand",
        "drawn-00",
        "rendered: good, a hand",
    )
    assert [each.failed for each in read.frames] == [False] * 18 + [True] * 2
    assert read.frames[1].at_s == 20.0
