"""`printreach detector evaluate` on folders."""

import json
from pathlib import Path

import pytest

from printreach.run.main import main
from tests.detector.images import scene, written
from tests.detector.strands import strands


def a_folder(folder: Path) -> Path:
    """Two failed frames and two good ones of one camera, and a print that fails."""
    bad = strands(6, 20.0)
    pictures = {
        **{f"good/desk/{number}.jpg": written(scene(320 + number)) for number in range(2)},
        **{f"failed/desk/{number}.jpg": bad[-1 - number] for number in range(2)},
        **{f"sequences/vase/frames/{number}.jpg": each for number, each in enumerate(bad)},
    }
    for name, data in pictures.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    labels = "".join(f"{number}.jpg,failed,desk\n" for number in range(6))
    (folder / "sequences" / "vase" / "labels.csv").write_text(f"frame,label,camera\n{labels}")
    return folder


def with_good_prints(folder: Path, count: int) -> Path:
    """The same after so many good prints of the camera, of which no two are alike."""
    for print_number in range(count):
        sequence = folder / "sequences" / f"good-{print_number}"
        (sequence / "frames").mkdir(parents=True)
        for number in range(6):
            picture = written(scene(320 + 10 * print_number + number))
            (sequence / "frames" / f"{number}.jpg").write_bytes(picture)
        labels = "".join(f"{number}.jpg,good,desk,good\n" for number in range(6))
        (sequence / "labels.csv").write_text(f"frame,label,camera,kind\n{labels}")
    return folder


@pytest.mark.slow
def test_a_folder_is_measured_into_the_tables_of_the_model_card(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["detector", "evaluate", str(a_folder(tmp_path))]) == 0

    told = capsys.readouterr().out
    assert "| stratum | failed | others | AUC | recall at 1 % | recall at 5 % |" in told
    assert "| camera desk | 2 | 2 | 1.000" in told
    assert "| all | 1 | 0 | 0.0 | 0 | 0 | - | - | 1 " in told


@pytest.mark.slow
def test_the_same_is_told_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["detector", "evaluate", str(a_folder(tmp_path)), "--json"]) == 0

    told = json.loads(capsys.readouterr().out)
    assert told["Frames"]["All"]["AUC"]["Value"] == 1
    assert told["Frames"]["WorstCamera"] == "desk"
    assert told["Sequences"]["All"]["Prints"] == 1
    assert told["Sequences"]["Cameras"]["desk"]["PausedInTime"] in (0, 1)


@pytest.mark.slow
def test_prints_after_three_good_ones_are_measured_without_and_with_what_was_learnt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = with_good_prints(a_folder(tmp_path), 4)

    assert main(["detector", "evaluate", str(folder), "--json"]) == 0
    known = json.loads(capsys.readouterr().out)
    assert main(["detector", "evaluate", str(folder)]) == 0
    told = capsys.readouterr().out

    assert known["Sequences"]["All"]["Prints"] == 5
    for part in ("Unlearnt", "Learnt"):
        assert known[part]["Kinds"]["good"]["Prints"] == 1
        assert known[part]["Kinds"][""]["Failing"] == 1
        assert known[part]["CamerasDrawn"] is None  # one camera tells nothing of others
    assert "The same prints, with what their cameras had learnt:" in told
    assert "| kind good | 4 |" in told


def test_an_image_that_cannot_be_read_is_named_and_the_rest_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "set"
    for name, data in (("good/1.jpg", written(scene())), ("failed/1.jpg", written(scene(400)))):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    (folder / "good" / "2.jpg").write_bytes(b"no picture")

    assert main(["detector", "evaluate", str(folder)]) == 1

    told = capsys.readouterr()
    assert "2.jpg" in told.err
    assert "| all pictures | 1 | 1 |" in told.out


def test_a_folder_that_is_laid_out_otherwise_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["detector", "evaluate", str(tmp_path)]) == 1

    assert "there is no image in good/ or failed/" in capsys.readouterr().err
