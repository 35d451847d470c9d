"""What models are chosen by is the same each time, and every part of it counts."""

from random import Random

import numpy as np
import pytest

from training import choosing
from training.photos import Box, Kind, Photo
from training.pictures import Picture
from training.samples import cut_beside

SIDE = 96


def photo(kind: Kind, camera: str) -> Picture:
    """A photo of noise, with a box in its middle unless it is good."""
    box = Box(kind, 0.4, 0.4, 0.7, 0.7)
    kinds = np.zeros((SIDE, SIDE), np.uint8)
    kinds[38:67, 38:67] = kind
    pixels = np.random.default_rng(int(kind)).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
    known = Photo(
        path="",
        kind=kind,
        source="somebody",
        camera=camera,
        boxes=() if kind is Kind.FINE else (box,),
        name="",
        repository="",
        licence="",
    )
    return Picture(known, pixels, kinds, True)


@pytest.fixture
def photos(monkeypatch: pytest.MonkeyPatch) -> list[Picture]:
    for name in ("_GOOD", "_BAD", "_PASTED_INTO"):
        monkeypatch.setattr(choosing, name, 1)
    cameras = {Kind.FINE: "camera view2"}
    return [photo(kind, cameras.get(kind, "")) for kind in Kind]


def test_every_name_is_in_a_stratum_and_every_stratum_has_pictures(photos: list[Picture]) -> None:
    failures, others = choosing.everything()

    names = {name for name, _ in choosing.shown(photos)}

    assert names == failures | others
    assert not failures & others


def test_the_same_pictures_come_each_time(photos: list[Picture]) -> None:
    once, again = list(choosing.shown(photos)), list(choosing.shown(photos))

    assert [name for name, _ in once] == [name for name, _ in again]
    assert all(np.array_equal(a, b) for (_, a), (_, b) in zip(once, again, strict=True))


def test_a_part_beside_a_box_shows_nothing_of_it() -> None:
    cut = cut_beside(photo(Kind.SPAGHETTI, ""), Random(1))

    assert cut is not None
    assert not cut.kinds.any()
