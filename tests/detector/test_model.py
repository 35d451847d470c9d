"""The shipped model: whole, repeatable, and better than guessing on pictures it never saw."""

import hashlib
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from printreach.detector.model import Model, WeightsRefused, load_model
from printreach.detector.preprocess import SIDE, PreparedImage, prepare
from printreach.rules.detection.scene import SIDE as SCENE_SIDE
from printreach.rules.detection.scene import Scene
from tests.detector.images import scene, written

SHIPPED = Path(str(resources.files("printreach.detector"))) / "weights"
MAX_BYTES = 12_000_000


@pytest.fixture(scope="module")
def model() -> Model:
    return load_model()


def of(pixels: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> PreparedImage:
    return PreparedImage(pixels, Scene(grey=(0,) * SCENE_SIDE**2, digest=0))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with the weights as they are shipped."""
    for name in ("detector.onnx", "detector.onnx.sha256"):
        shutil.copyfile(SHIPPED / name, tmp_path / name)
    return tmp_path


def test_the_weights_fit_into_the_package() -> None:
    assert (SHIPPED / "detector.onnx").stat().st_size < MAX_BYTES


def test_weights_with_one_bit_changed_are_refused(copy: Path) -> None:
    data = bytearray((copy / "detector.onnx").read_bytes())
    data[len(data) // 2] ^= 1
    (copy / "detector.onnx").write_bytes(data)

    with pytest.raises(WeightsRefused, match="not the ones"):
        load_model(copy)


@pytest.mark.parametrize("name", ["detector.onnx", "detector.onnx.sha256"])
def test_missing_weights_are_said_to_be_missing(copy: Path, name: str) -> None:
    (copy / name).unlink()

    with pytest.raises(WeightsRefused, match="not installed"):
        load_model(copy)


def test_an_empty_checksum_admits_nothing(copy: Path) -> None:
    (copy / "detector.onnx.sha256").write_text("\n")

    with pytest.raises(WeightsRefused):
        load_model(copy)


def test_the_checksum_is_the_files() -> None:
    digest = hashlib.sha256((SHIPPED / "detector.onnx").read_bytes()).hexdigest()

    assert (SHIPPED / "detector.onnx.sha256").read_text().split()[0] == digest


def test_a_picture_has_the_same_score_alone_and_among_others(model: Model) -> None:
    numbers = np.random.default_rng(1)
    pictures = [of(numbers.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)) for _ in range(3)]

    together = model.score(pictures)
    alone = [model.score([picture])[0] for picture in pictures]

    assert [one.probability for one in together] == pytest.approx(
        [one.probability for one in alone], abs=1e-5
    )


def test_scores_and_evidence_are_probabilities(model: Model) -> None:
    numbers = np.random.default_rng(2)
    extremes = [np.zeros((SIDE, SIDE, 3), np.uint8), np.full((SIDE, SIDE, 3), 255, np.uint8)]
    noise = numbers.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)

    for output in model.score([of(pixels) for pixels in (*extremes, noise)]):
        assert 0 <= output.probability <= 1
        assert len(output.evidence) == len(output.evidence[0]) == SIDE // 32
        assert all(0 <= place <= 1 for row in output.evidence for place in row)


def test_no_pictures_have_no_scores(model: Model) -> None:
    assert model.score([]) == []


def test_a_plain_slope_of_colours_is_no_failure(model: Model) -> None:
    (output,) = model.score([prepare(written(scene()))])

    assert output.probability < 0.5


@pytest.mark.slow
def test_loading_the_model_sends_no_telemetry(tmp_path: Path) -> None:
    """The library that runs it names the machine in a file, by which it would tell its maker.

    It does neither on machines that build and test, so no word of the environment is passed on.
    """
    program = "from printreach.detector.model import load_model; load_model()"

    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"HOME": str(tmp_path)},
        capture_output=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr
    assert list(tmp_path.rglob("*")) == []
