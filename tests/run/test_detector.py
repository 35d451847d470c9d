"""`printreach detector score` on files."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from printreach.run.main import main
from tests.detector.images import png_that_claims, scene, written
from tests.detector.strands import strands
from tests.rigs.peers import ROOT

WORDS = {
    *("Path", "FrameScore", "Score", "PrintQuality", "WarningSuggested", "PauseSuggested"),
}


@pytest.fixture
def image(tmp_path: Path) -> str:
    path = tmp_path / "print.jpg"
    path.write_bytes(written(scene()))
    return str(path)


def command(*paths: str) -> list[str]:
    """The same in a process of its own."""
    program = "import sys; from printreach.run.main import main; sys.exit(main())"
    return [sys.executable, "-c", program, "detector", "score", *paths]


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_the_page_shows_a_line_as_it_is(image: str, capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "detection-api.md").read_text()
    [example] = re.findall(r'^{"Path": .*}$', page, re.MULTILINE)
    main(["detector", "score", image, "--json"])
    [line] = lines(capsys)
    shown = json.loads(example)

    assert list(shown) == list(line)
    assert [type(word) for word in shown.values()] == [type(word) for word in line.values()]


def test_each_image_has_a_line_of_json(image: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["detector", "score", image, image, "--json"]) == 0

    told = lines(capsys)
    assert [line["Path"] for line in told] == [image, image]
    assert [set(line) for line in told] == [WORDS, WORDS]
    assert all(0 <= float(str(line["FrameScore"])) <= 1 for line in told)
    assert told[0] == told[1]


@pytest.fixture
def failing(tmp_path: Path) -> list[str]:
    """Photos of a print whose strands lie all over the bed."""
    paths = [tmp_path / f"failing-{number}.jpg" for number in range(8)]
    for path, picture in zip(paths, strands(len(paths), 20.0), strict=True):
        path.write_bytes(picture)
    return [str(path) for path in paths]


@pytest.mark.slow
def test_a_sequence_is_one_context(failing: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    def score(*options: str) -> list[dict[str, object]]:
        assert main(["detector", "score", *failing, *options, "--json"]) == 0
        return lines(capsys)

    alone, usual, slow = score(), score("--sequence"), score("--sequence", "--interval", "60")

    for told in (usual, slow):
        assert [line["FrameScore"] for line in told] == [line["FrameScore"] for line in alone]
        assert told[0] == alone[0]
    assert not any(line["WarningSuggested"] for line in alone)
    assert score("--sequence", "--interval", "20") == usual
    for flag, most in (("WarningSuggested", 80), ("PauseSuggested", 120)):
        begun, later = ([line[flag] for line in told].index(True) for told in (usual, slow))
        assert 1 < begun <= most // 20
        assert 0 < later < begun


def test_what_cannot_be_read_leaves_the_sequence_its_times(
    failing: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = str(tmp_path / "lost.jpg")
    sparse = [path if number % 2 else lost for number, path in enumerate(failing)]

    assert main(["detector", "score", *sparse, "--sequence", "--interval", "20", "--json"]) == 1
    told = lines(capsys)
    assert (
        main(["detector", "score", *failing[1::2], "--sequence", "--interval", "40", "--json"]) == 0
    )

    assert told == lines(capsys)
    assert told[-1]["WarningSuggested"]


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


@pytest.mark.slow
def test_results_that_cannot_be_written_are_said_in_a_sentence(image: str) -> None:
    words = command(image)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            words, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=120
        )

    assert done.returncode == 1
    assert done.stderr == (
        "printreach detector: the results can't be written: No space left on device\n"
    )


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_ends_it_without_a_word(image: str) -> None:
    with subprocess.Popen(
        command(*[image] * 40), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as scoring:
        assert scoring.stdout is not None
        assert scoring.stderr is not None
        scoring.stdout.close()

        assert scoring.stderr.read() == b""
        assert scoring.wait(timeout=120) == 0


@pytest.mark.parametrize("interval", ["0", "-1", "nan", "inf", "soon"])
def test_an_interval_that_is_none_is_wrong_usage(
    interval: str, image: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["detector", "score", image, f"--interval={interval}"])

    assert stopped.value.code == 2
    assert "_interval_s" not in capsys.readouterr().err


def modules_of(requirements: Iterable[str]) -> set[str]:
    """What the libraries are imported by that are asked for so."""
    names = {re.split(r"[^\w.-]", word)[0].lower() for word in requirements}
    return {
        module
        for module, libraries in packages_distributions().items()
        if names & {library.lower() for library in libraries}
    }


@pytest.mark.slow
def test_the_extra_brings_all_that_the_command_needs(image: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    others = modules_of(word for extra in extras.values() for word in extra)
    lacking = others - modules_of(extras["detector"])
    without = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({sorted(lacking)}))\n"
        "from printreach.run.main import main\n"
        "sys.exit(main())\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", without, "detector", "score", image],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert {"litestar", "cryptography"} <= lacking
    assert (done.returncode, done.stderr) == (0, "")


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
        "install it with: pip install --require-hashes -r requirements/detector.txt\n"
    )
