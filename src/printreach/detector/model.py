"""The model: pixels in, a score and a map of what speaks for it out."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from printreach.detector.preprocess import Prepared
from printreach.detector.runtime import onnxruntime
from printreach.rules.detection import Sight

_WEIGHTS: Final = "detector.onnx"
_CHECKSUM: Final = "detector.onnx.sha256"
_QUIET: Final = 3


class WeightsRefused(Exception):
    """The weights are missing, or are not the ones that were shipped."""


@dataclass(frozen=True, slots=True)
class Found:
    """What the model makes of one picture.

    probability: that it shows a failure, calibrated. evidence: rows of places, 0 to 1 each, the
    whole picture from its upper left corner.
    """

    probability: float
    evidence: tuple[tuple[float, ...], ...]

    def sight(self, prepared: Prepared) -> Sight:
        """Say the same in the words of the rules."""
        return Sight(probability=self.probability, scene=prepared.scene, evidence=self.evidence)


class Model:
    """A session of one thread. Threads may ask at once without disturbing each other."""

    def __init__(self, weights: bytes) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = _QUIET
        # It keeps what a run takes, 30 MB. Without, glibc gets and gives back as much for each run,
        # and page faults cost as much as the model.
        options.enable_cpu_mem_arena = True
        self._session = onnxruntime.InferenceSession(
            weights, options, providers=["CPUExecutionProvider"]
        )

    def look(self, pictures: Sequence[Prepared]) -> list[Found]:
        """Score pictures.

        One a run: on a server's core, two in a run take 5 % longer each than alone, and four 15 %,
        for what is computed leaves the cache. And each more takes 30 MB.
        """
        return [self._look_at(picture.pixels) for picture in pictures]

    def _look_at(self, pixels: npt.NDArray[np.uint8]) -> Found:
        answers = self._session.run(["score", "evidence"], {"image": pixels[None]})
        scores, maps = (cast("npt.NDArray[np.float32]", answer) for answer in answers)
        rows: list[list[float]] = maps[0].tolist()
        return Found(float(scores[0]), tuple(map(tuple, rows)))


@dataclass(frozen=True)
class Weights:
    """A model's file, and the SHA-256 it has to have, beside it."""

    file: Path
    checksum: Path

    @cached_property
    def data(self) -> bytes:
        """Read the file. Raises WeightsRefused unless it is what its checksum says."""
        try:
            data = self.file.read_bytes()
            expected = self.checksum.read_text("ascii").split()[0]
        except (OSError, IndexError, UnicodeDecodeError) as error:
            raise WeightsRefused("the detector's weights are not installed") from error
        if hashlib.sha256(data).hexdigest() != expected:
            raise WeightsRefused("the detector's weights are not the ones that were shipped")
        return data


def load_model(folder: Path | None = None) -> Model:
    """Load the shipped weights, or those in a folder. Raises WeightsRefused."""
    if folder is not None:
        return Model(Weights(folder / _WEIGHTS, folder / _CHECKSUM).data)
    shipped = resources.files("printreach.detector") / "weights"
    with (
        resources.as_file(shipped / _WEIGHTS) as file,
        resources.as_file(shipped / _CHECKSUM) as checksum,
    ):
        return Model(Weights(file, checksum).data)
