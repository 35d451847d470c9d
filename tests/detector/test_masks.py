"""Masked parts are not scored, and the rest is scored as it is."""

import numpy as np
import pytest

from printreach.detector.masks import paint_out, without_masked
from printreach.detector.preprocess import SIDE, prepare
from printreach.rules.detection.scene import ViewCondition, compare_scene
from printreach.rules.watch.choices import Region
from tests.detector.images import scene, written

LEFT = Region(0.0, 0.0, 0.5, 1.0)
UPPER = Region(0.0, 0.0, 1.0, 0.5)
ALL = Region(0.0, 0.0, 1.0, 1.0)
SLIVER = Region(0.5, 0.5, 0.5001, 0.5001)
MAP = ((1.0,) * 8,) * 8


def picture(side: int = SIDE) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return np.random.default_rng(5).integers(0, 256, (side, side, 3), dtype=np.uint8)


def test_without_masks_a_picture_stays_the_same() -> None:
    pixels = picture()

    assert paint_out(pixels, ()) is pixels
    assert without_masked(MAP, ()) is MAP


def test_what_is_masked_leaves_no_trace_of_what_was_there() -> None:
    one = picture()
    other = one.copy()
    other[:, : SIDE // 2] = 255 - other[:, : SIDE // 2]

    assert np.array_equal(paint_out(one, [LEFT]), paint_out(other, [LEFT]))


def test_the_rest_stays_as_it_is_and_gives_the_colour() -> None:
    pixels = picture()

    painted = paint_out(pixels, [LEFT])

    right = pixels[:, SIDE // 2 :]
    assert np.array_equal(painted[:, SIDE // 2 :], right)
    assert np.array_equal(painted[0, 0], right.mean(axis=(0, 1)).round())


def test_the_callers_picture_is_not_painted_over() -> None:
    pixels = picture()

    paint_out(pixels, [ALL])

    assert np.array_equal(pixels, picture())


def test_the_smallest_part_hides_the_pixel_that_it_touches() -> None:
    hidden = np.any(paint_out(picture(), [SLIVER]) != picture(), axis=2)

    assert np.argwhere(hidden).tolist() == [[SIDE // 2, SIDE // 2]]


def test_a_place_is_evidence_as_far_as_it_is_shown() -> None:
    shown = without_masked(MAP, [Region(0.0, 0.0, 0.5, 0.5), Region(0.75, 0.0, 0.8125, 1.0)])

    assert shown[0] == (0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.5, 1.0)
    assert shown[7] == (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 1.0)


def test_masks_that_overlap_hide_once() -> None:
    assert without_masked(MAP, [LEFT, LEFT, UPPER])[7] == (0.0,) * 4 + (1.0,) * 4


def test_a_picture_that_is_masked_whole_shows_nothing() -> None:
    prepared = prepare(written(scene()), [ALL])

    assert compare_scene(None, prepared.scene)[1] is ViewCondition.BLOCKED
    assert without_masked(MAP, [ALL]) == ((0.0,) * 8,) * 8


def test_what_moves_behind_a_mask_changes_no_scene() -> None:
    before = scene()
    after = before.copy()
    after.paste((255, 255, 255), (0, 0, 320, 480))

    one, other = (prepare(written(each, "PNG"), [LEFT]).scene for each in (before, after))

    assert one == other


@pytest.mark.parametrize("orientation", [3, 6, 8])
def test_masks_are_of_the_picture_as_it_stands_upright(orientation: int) -> None:
    data = written(
        scene(),
        exif=b"Exif\0\0"
        + b"MM\0*\0\0\0\x08\0\x01"
        + b"\x01\x12\0\x03\0\0\0\x01"
        + bytes([0, orientation, 0, 0])
        + b"\0\0\0\0",
    )

    shown, whole = prepare(data, [LEFT]).pixels, prepare(data).pixels

    assert np.array_equal(shown[:, SIDE // 2 :], whole[:, SIDE // 2 :])
    assert len(np.unique(shown[:, : SIDE // 2].reshape(-1, 3), axis=0)) == 1
