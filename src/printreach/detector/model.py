"""The model: from pixels to a score and a map of the evidence for it."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from printreach.detector.preprocess import PreparedImage
from printreach.detector.runtime import onnxruntime
from printreach.rules.detection import ImageAssessment

_WEIGHTS: Final = "detector.onnx"
_CHECKSUM: Final = "detector.onnx.sha256"
_QUIET: Final = 3


class WeightsRefused(Exception):
    """The weights are missing, or are not the ones that were shipped."""


@dataclass(frozen=True, slots=True)
class ModelOutput:
    """The model's output for one image.

    probability: that it shows a failure, calibrated. evidence: rows of cells, 0 to 1 each, which
    cover the whole image from its upper left corner.
    """

    probability: float
    evidence: tuple[tuple[float, ...], ...]

    def assessment(self, prepared: PreparedImage) -> ImageAssessment:
        """Convert it to the rules' type."""
        return ImageAssessment(
            probability=self.probability, scene=prepared.scene, evidence=self.evidence
        )


class Model:
    """An ONNX session that runs in the calling thread. Thread-safe."""

    def __init__(self, weights: bytes) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = _QUIET
        # The arena keeps the 30 MB that a run needs. Without it glibc allocates and frees as much
        # in each run, and the page faults cost as much as the model.
        options.enable_cpu_mem_arena = True
        self._session = onnxruntime.InferenceSession(
            weights, options, providers=["CPUExecutionProvider"]
        )

    def score(self, pictures: Sequence[PreparedImage]) -> list[ModelOutput]:
        """Score images, one per run.

        On a server's core, two in one run take 5 % longer each than alone and four 15 %, since the
        intermediate results no longer fit the cache. Each also takes 30 MB more.
        """
        return [self._score_one(picture.pixels) for picture in pictures]

    def _score_one(self, pixels: npt.NDArray[np.uint8]) -> ModelOutput:
        answers = self._session.run(["score", "evidence"], {"image": pixels[None]})
        scores, maps = (cast("npt.NDArray[np.float32]", answer) for answer in answers)
        rows: list[list[float]] = maps[0].tolist()
        return ModelOutput(float(scores[0]), tuple(map(tuple, rows)))


@dataclass(frozen=True)
class Weights:
    """A model's file, and the file beside it with the SHA-256 that it must have."""

    file: Path
    checksum: Path

    @cached_property
    def data(self) -> bytes:
        """Return the file's bytes. Raises WeightsRefused if the checksum differs."""
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
