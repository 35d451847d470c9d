"""`printreach detector score` on files."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from printreach.run.main import main
from tests.detector.images import png_that_claims, scene, written

WORDS = {
    *("Path", "FrameScore", "Score", "PrintQuality", "WarningSuggested", "PauseSuggested"),
}


@pytest.fixture
def image(tmp_path: Path) -> str:
    path = tmp_path / "print.jpg"
    path.write_bytes(written(scene()))
    return str(path)


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_each_image_has_a_line_of_json(image: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["detector", "score", image, image, "--json"]) == 0

    told = lines(capsys)
    assert [line["Path"] for line in told] == [image, image]
    assert [set(line) for line in told] == [WORDS, WORDS]
    assert all(0 <= float(str(line["FrameScore"])) <= 1 for line in told)
    assert told[0] == told[1]


def test_a_sequence_is_one_context(
    image: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.jpg"
    other.write_bytes(written(scene().point(lambda level: 255 - level)))
    paths = [image, image, str(other), image]

    assert main(["detector", "score", *paths, "--sequence", "--interval", "10", "--json"]) == 0
    together = lines(capsys)
    assert main(["detector", "score", *paths, "--json"]) == 0
    alone = lines(capsys)

    assert [line["FrameScore"] for line in together] == [line["FrameScore"] for line in alone]
    assert together[0] == alone[0]


def test_what_is_refused_is_said_and_the_rest_scored(
    image: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bomb = tmp_path / "bomb.png"
    bomb.write_bytes(png_that_claims(20_000, 20_000))
    missing = str(tmp_path / "missing.jpg")

    assert main(["detector", "score", str(bomb), missing, image, "--json"]) == 1

    out, err = capsys.readouterr()
    assert json.loads(out)["Path"] == image
    assert f"{bomb}: 20000 x 20000 pixels; 50000000 are decoded" in err
    assert f"{missing}: No such file or directory" in err


def test_a_folder_stands_for_its_images_in_the_order_of_their_numbers(
    image: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "frames"
    folder.mkdir()
    names = ["frame-9.jpg", "frame-10.JPG", "frame-100.png"]
    for name in (*names, "notes.txt"):
        (folder / name).write_bytes(Path(image).read_bytes())

    assert main(["detector", "score", str(folder), image, "--json"]) == 0

    assert [line["Path"] for line in lines(capsys)] == [
        *(str(folder / name) for name in names),
        image,
    ]


def test_a_folder_without_images_is_refused_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("no image")

    assert main(["detector", "score", str(tmp_path)]) == 1
    assert f"{tmp_path}: there is no JPEG, PNG or WebP image in it" in capsys.readouterr().err


def test_without_json_a_line_is_for_people(image: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["detector", "score", image]) == 0

    assert re.search(r"\tfailure 0\.\d{3}\tquality \d+\t", capsys.readouterr().out)


@pytest.mark.parametrize("interval", ["0", "-1", "nan", "inf", "soon"])
def test_an_interval_that_is_none_is_wrong_usage(
    interval: str, image: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["detector", "score", image, f"--interval={interval}"])

    assert stopped.value.code == 2
    assert "_interval_s" not in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("library", ["numpy", "onnxruntime", "PIL"])
def test_without_the_extra_the_command_says_what_to_install(library: str) -> None:
    without = (
        "import sys\n"
        f"sys.modules['{library}'] = None\n"
        "from printreach.run.main import main\n"
        "sys.exit(main(['detector', 'score', 'x.jpg']))\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", without], capture_output=True, text=True, check=False, timeout=60
    )

    assert done.returncode == 1
    assert done.stderr == (
        f"printreach detector needs {library}; "
        "install it with: pip install 'printreach[detector]'\n"
    )
