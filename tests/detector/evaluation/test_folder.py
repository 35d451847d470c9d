"""A folder of labelled pictures is read as its page describes it, and refused with a reason."""

from pathlib import Path

import pytest

from printreach.detector.evaluation.folder import FolderRefused, read_folder


def a_file(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"")


def a_sequence(folder: Path, labels: str) -> None:
    for name in ("1.jpg", "2.jpg", "10.jpg"):
        a_file(folder / "sequences" / "vase" / "frames" / name)
    (folder / "sequences" / "vase" / "labels.csv").write_text(labels)


def test_a_frame_has_the_class_and_the_camera_of_its_folders(tmp_path: Path) -> None:
    a_file(tmp_path / "good" / "garage" / "1.jpg")
    a_file(tmp_path / "good" / "2.png")
    a_file(tmp_path / "failed" / "office" / "3.webp")
    a_file(tmp_path / "failed" / "office" / "notes.txt")

    frames = read_folder(tmp_path).frames

    assert {(each.path.name, each.camera, each.failed) for each in frames} == {
        ("1.jpg", "garage", False),
        ("2.png", "", False),
        ("3.webp", "office", True),
    }


def test_a_sequence_is_read_from_its_labels(tmp_path: Path) -> None:
    a_sequence(
        tmp_path,
        "frame,label,seconds,camera\n1.jpg,good,0,garage\n2.jpg,unsure,15,\n10.jpg,failed,60,\n",
    )

    (sequence,) = read_folder(tmp_path).sequences

    assert (sequence.name, sequence.camera) == ("vase", "garage")
    assert [(each.at_s, each.failed) for each in sequence.frames] == [
        (0.0, False),
        (15.0, None),
        (60.0, True),
    ]


def test_a_print_may_have_a_kind_that_it_is_counted_with(tmp_path: Path) -> None:
    a_sequence(tmp_path, "frame,label,kind\n1.jpg,good,\n2.jpg,good,came loose\n")

    (sequence,) = read_folder(tmp_path).sequences

    assert (sequence.kind, sequence.camera) == ("came loose", "")


def test_frames_without_a_time_are_twenty_seconds_apart(tmp_path: Path) -> None:
    a_sequence(tmp_path, "frame,label\n1.jpg,good\n2.jpg,good\n")

    (sequence,) = read_folder(tmp_path).sequences

    assert [each.at_s for each in sequence.frames] == [0.0, 20.0]


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ("frame,label\n3.jpg,good\n", "line 2: there is no frame '3.jpg' in frames/"),
        ("frame,label\n1.jpg,good\n../labels.csv,good\n", "line 3: there is no frame"),
        ("frame,label\n1.jpg,fine\n", "'fine' is none of the labels good, failed, unsure"),
        ("frame,label,seconds\n1.jpg,good,nan\n", "nan is no number of seconds"),
        ("frame,label,seconds\n1.jpg,good,5\n2.jpg,good,5\n", "each frame comes later"),
        ("frame,label\n", "it names no frame"),
    ],
)
def test_labels_that_make_no_sense_are_refused_with_their_line(
    tmp_path: Path, labels: str, reason: str
) -> None:
    a_sequence(tmp_path, labels)

    with pytest.raises(FolderRefused) as refused:
        read_folder(tmp_path)

    assert reason in str(refused.value)


def test_a_folder_with_nothing_labelled_is_refused(tmp_path: Path) -> None:
    a_file(tmp_path / "picture.jpg")

    with pytest.raises(FolderRefused, match=r"no image in good/ or failed/"):
        read_folder(tmp_path)
