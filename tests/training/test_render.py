"""Rendered prints: the same for the same seed, failing when and where it is said."""

from dataclasses import replace

import numpy as np
import pytest

from training.photos import Kind
from training.render import Rendered, any_plan, frame, picture, sequence
from training.render_cloud import Camera, Floats, Light, camera_at, cloud, draw, floats
from training.render_failures import Failure
from training.render_pool import SOURCE, rendered_pool

SEEDS = (3, 11, 27)
CAMERA = camera_at(floats(0, -100, 0), floats(0, 0, 0), 0.0, 100.0, (32, 32))


def drawn(places: Floats, colours: Floats, camera: Camera) -> Floats:
    """Points under light from all sides, on black."""
    picture = np.zeros((32, 32, 3), np.float32)
    white = floats(1, 1, 1)
    points = cloud(places, np.tile(floats(0, -1, 0), (len(places), 1)), colours)
    light = Light(toward=floats(0, 0, 1), colour=white * 0, ambient=white)
    draw(picture, np.zeros((32, 32), np.uint8), points, camera, light)
    return picture


def share_of(rendered: Rendered, kind: Kind) -> float:
    return float((rendered.kinds == kind).mean())


@pytest.mark.slow
def test_the_same_seed_gives_the_same_pixels() -> None:
    one, same, other = (picture(seed, Failure.SPAGHETTI) for seed in (5, 5, 6))

    assert np.array_equal(one.pixels, same.pixels)
    assert np.array_equal(one.kinds, same.kinds)
    assert one.pixels.shape != other.pixels.shape or not np.array_equal(one.pixels, other.pixels)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_good_print_shows_nothing_but_fine_places(seed: int) -> None:
    assert share_of(picture(seed), Kind.FINE) == 1
    assert not picture(seed).failed


@pytest.mark.parametrize("failing", [Failure.SPAGHETTI, Failure.DETACHED])
def test_a_sequence_is_good_until_its_onset_and_bad_from_there(failing: Failure) -> None:
    good = list(sequence(3, Failure.NONE, 0, 8))
    bad = list(sequence(3, failing, 4, 8))

    assert [one.failed or share_of(one, Kind.OTHER_DEFECT) > 0 for one in bad] == (
        [False] * 4 + [True] * 4
    )
    assert all(np.array_equal(g.pixels, b.pixels) for g, b in zip(good[:4], bad, strict=False))


@pytest.mark.slow
def test_spaghetti_grows_from_picture_to_picture() -> None:
    plan = any_plan(5, Failure.SPAGHETTI, 1, 10)

    shares = [share_of(frame(plan, number), Kind.SPAGHETTI) for number in (0, 1, 4, 8)]

    assert shares[0] == 0
    assert 0 < shares[1] < shares[2] < shares[3]


def test_a_shift_is_another_defect_and_no_spaghetti() -> None:
    shifted = list(sequence(11, Failure.SHIFTED, 2, 8))[-1]

    assert share_of(shifted, Kind.OTHER_DEFECT) > 0
    assert not shifted.failed


def test_a_nozzle_that_prints_air_leaves_the_part_as_it_was() -> None:
    air, grown = (any_plan(3, failing, 4, 9) for failing in (Failure.AIR, Failure.NONE))

    assert np.array_equal(frame(air, 3).pixels, frame(grown, 3).pixels)
    assert not np.array_equal(frame(air, 8).pixels, frame(grown, 8).pixels)
    assert share_of(frame(air, 8), Kind.FINE) == 1


def test_no_part_of_a_plate_grows_while_the_nozzle_prints_air() -> None:
    plate = replace(any_plan(27, Failure.AIR, 4, 20), moves_bed=False, shows_head=0.0)

    soon, late = (frame(plate, number).pixels.astype(int) for number in (5, 19))

    assert len(plate.parts) > 1
    assert np.abs(late - soon).max() < 40, "more than the camera's noise has changed"


@pytest.mark.slow
def test_nothing_grows_while_filament_is_changed_and_then_it_has_another_colour() -> None:
    plain = replace(any_plan(3, Failure.NONE, 0, 12), shows_head=0.0)
    changed = replace(plain, changes_filament=4)

    before, after = (frame(changed, number).pixels.mean(axis=(0, 1)) for number in (3, 11))
    grown = frame(plain, 11).pixels.mean(axis=(0, 1))

    assert np.array_equal(frame(changed, 3).pixels, frame(plain, 3).pixels)
    assert not np.allclose(after - before, grown - before, atol=0.5)
    assert not np.array_equal(frame(changed, 5).pixels, frame(plain, 5).pixels)


@pytest.mark.slow
def test_a_head_that_parks_stands_aside_in_some_pictures_of_a_good_print() -> None:
    plain = any_plan(3, Failure.NONE, 0, 12)
    parks = replace(plain, parks=True)

    shown = [
        np.array_equal(frame(parks, number).pixels, frame(plain, number).pixels)
        for number in range(12)
    ]

    assert 2 < sum(shown) < 10
    assert not frame(parks, shown.index(False)).failed


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_what_is_nearer_hides_what_is_farther(order: tuple[int, int]) -> None:
    places = np.stack([floats(0, -50, 0), floats(0, 50, 0)])
    colours = np.stack([floats(1, 0, 0), floats(0, 1, 0)])

    shown = drawn(places[list(order)], colours[list(order)], CAMERA)

    assert tuple(shown[16, 16]) == (1, 0, 0)


def test_what_is_behind_the_camera_is_not_drawn() -> None:
    assert not drawn(floats(0, -200, 0)[None], floats(1, 1, 1)[None], CAMERA).any()


def test_what_trains_is_called_failed_only_where_spaghetti_is_to_be_seen() -> None:
    pool = rendered_pool(good_count=2, bad_count=2)

    assert [one.photo.failed for one in pool[:2]] == [False, False]
    assert all(one.photo.failed == bool((one.kinds == Kind.SPAGHETTI).any()) for one in pool)
    assert {one.photo.source for one in pool} == {SOURCE}
    assert all(one.is_mapped for one in pool)
