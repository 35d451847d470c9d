"""Photos that measure are of sources and cameras that trained nothing."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from training.photos import Kind, LicenceRefused, Photo, read_manifest
from training.splits import CALIBRATION_CAMERA, HELD_OUT_CAMERA, HELD_OUT_SOURCE, split

HEAD = "path,label,failed,source_repo,licence,original_path,dataset_group,boxes,note\n"
PHOTO = Photo(
    path="a.jpg",
    kind=Kind.SPAGHETTI,
    source="other",
    camera="",
    boxes=(),
    name="a.jpg",
    repository="somebody/photos",
    licence="CC-BY-4.0",
)


def unlike(count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return np.random.default_rng(3).random((count, 256)) > 0.5


def photos(count: int, **changes: object) -> list[Photo]:
    return [
        replace(PHOTO, **{"name": f"{number:03}x.jpg", **changes})  # type: ignore[arg-type]  # given by name
        for number in range(count)
    ]


def test_a_held_out_source_trains_nothing() -> None:
    held_out, others = photos(60, source=HELD_OUT_SOURCE), photos(5, name="")
    named = [replace(photo, name=f"other{n}") for n, photo in enumerate(others)]

    parts = split([*held_out, *named], unlike(65))

    assert parts.train == (60, 61, 62, 63, 64)
    assert len(parts.calibrate) + len(parts.measure) == 60
    assert min(len(parts.calibrate), len(parts.measure)) > 5


def test_a_held_out_camera_measures_and_another_calibrates() -> None:
    cameras = [HELD_OUT_CAMERA, CALIBRATION_CAMERA, "camera view0"]
    taken = [replace(PHOTO, camera=camera, kind=Kind.FINE) for camera in cameras]

    parts = split(taken, unlike(3))

    assert (parts.measure, parts.calibrate, parts.train) == ((0,), (1,), (2,))


@pytest.mark.parametrize("same", ["name", "look"])
def test_a_copy_of_a_photo_that_measures_does_not_train(same: str) -> None:
    held_out = photos(20, source=HELD_OUT_SOURCE)
    copies = [
        replace(photo, source="other", name=photo.name if same == "name" else f"copy{number}")
        for number, photo in enumerate(held_out)
    ]
    looks = unlike(40)
    if same == "look":
        looks[20:] = looks[:20]
        looks[20:, :3] ^= True

    parts = split([*held_out, *copies], looks)

    assert parts.train == ()
    assert all(index < 20 for index in (*parts.measure, *parts.calibrate))


def test_a_photo_under_another_licence_stops_training(tmp_path: Path) -> None:
    row = "a.jpg,spaghetti,1,somebody/photos,CC-BY-NC-4.0,a.jpg,group,,\n"
    (tmp_path / "manifest.csv").write_text(HEAD + row)

    with pytest.raises(LicenceRefused, match="CC-BY-NC"):
        read_manifest(tmp_path)


def test_boxes_are_read_within_the_picture(tmp_path: Path) -> None:
    boxes = "spaghetti 0.1 0.5 0.4 0.2;warping 0.5 0.5 0.1 0.1"
    row = f"a.jpg,spaghetti,1,somebody/photos,CC-BY-4.0,a.jpg,group,{boxes},\n"
    (tmp_path / "manifest.csv").write_text(HEAD + row)

    (photo,) = read_manifest(tmp_path)

    assert [box.kind for box in photo.boxes] == [Kind.SPAGHETTI, Kind.OTHER_DEFECT]
    assert photo.boxes[0].left == 0
    assert photo.boxes[0].right == pytest.approx(0.3)
