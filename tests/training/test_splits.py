"""Photos that measure are of sources and cameras that trained nothing."""

from dataclasses import replace
from pathlib import Path

import pytest

from training.labels import Label, agreed, read_labels
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


def photos(count: int, **changes: object) -> list[Photo]:
    return [
        replace(PHOTO, **{"name": f"{number:03}x.jpg", **changes})  # type: ignore[arg-type]  # given by name
        for number in range(count)
    ]


def test_a_held_out_source_trains_nothing() -> None:
    held_out, others = photos(60, source=HELD_OUT_SOURCE), photos(5, name="")
    named = [replace(photo, name=f"other{n}") for n, photo in enumerate(others)]

    parts = split([*held_out, *named])

    assert parts.train == (60, 61, 62, 63, 64)
    assert len(parts.calibrate) + len(parts.measure) == 60
    assert min(len(parts.calibrate), len(parts.measure)) > 5


def test_a_held_out_camera_measures_and_another_calibrates() -> None:
    cameras = [HELD_OUT_CAMERA, CALIBRATION_CAMERA, "camera view0"]
    taken = [replace(PHOTO, camera=camera, kind=Kind.FINE) for camera in cameras]

    parts = split(taken)

    assert (parts.measure, parts.calibrate, parts.train) == ((0,), (1,), (2,))


@pytest.mark.parametrize("same", ["name", "copies"])
def test_a_copy_of_a_photo_that_measures_does_not_train(same: str) -> None:
    held_out = [
        replace(photo, copies=f"group {number}")
        for number, photo in enumerate(photos(20, source=HELD_OUT_SOURCE))
    ]
    copies = [
        replace(photo, source="other", name=f"copy{number}")
        if same == "copies"
        else replace(photo, source="other", copies="")
        for number, photo in enumerate(held_out)
    ]

    parts = split([*held_out, *copies])

    assert parts.train == ()
    assert len(parts.measure) + len(parts.calibrate) == 20
    assert all(index < 20 for index in (*parts.measure, *parts.calibrate))


def test_copies_are_all_in_one_part() -> None:
    pairs = [
        replace(photo, copies=f"group {number // 2}")
        for number, photo in enumerate(photos(60, source=HELD_OUT_SOURCE))
    ]

    parts = split(pairs)

    for part in (parts.measure, parts.calibrate):
        assert {index ^ 1 for index in part} == set(part)


def test_a_failure_that_readers_do_not_see_neither_trains_nor_calibrates_nor_measures() -> None:
    cameras = [HELD_OUT_CAMERA, CALIBRATION_CAMERA, "camera view0"]

    parts = split([replace(PHOTO, camera=camera, is_told=False) for camera in cameras])

    assert (parts.train, parts.calibrate, parts.measure, parts.unseen) == ((), (), (), (0,))


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


def test_the_readers_labels_say_which_failures_count(tmp_path: Path) -> None:
    both = {agreed(*pair): photo for photo, pair in read_labels().items() if "/failed/" in photo}
    rows = [f"{both[label]},failed,1,a/b,CC0-1.0,a.jpg,group,,\n" for label in Label]
    (tmp_path / "manifest.csv").write_text(HEAD + "".join(rows))

    told = {photo.path: photo.is_told for photo in read_manifest(tmp_path)}

    assert told == {both[label]: label is Label.VISIBLE for label in Label}
