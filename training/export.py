"""The network as an ONNX file: bytes of pictures in, probabilities and maps out."""

import hashlib
import warnings
from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn

from printreach.detector.preprocess import SIDE
from printreach.detector.runtime import onnxruntime
from training.augment import SIDE as SHOWN_SIDE
from training.calibrate import Calibration
from training.network import Network, evidence_logits, frame_logits

OPERATORS: Final = 17
"""A version of ONNX's operators that every onnxruntime since 1.12 runs."""
MAX_BYTES: Final = 12_000_000


class _Calibrated(nn.Module):
    """The network with its calibration, as it is shipped."""

    def __init__(self, network: Network, calibration: Calibration) -> None:
        super().__init__()
        self.network = network
        self.calibration = calibration

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        verdicts = self.network(image)
        return self._probability(frame_logits(verdicts)), self._probability(
            evidence_logits(verdicts)
        )

    def _probability(self, logits: Tensor) -> Tensor:
        return torch.sigmoid(logits * self.calibration.slope + self.calibration.offset)


class _EarlyBlocks(nn.Module):
    """The frozen part of a network, to be written to a file."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, image: Tensor) -> Tensor:
        return self.network.early(image)


class Early:
    """What a network's frozen blocks make of pictures, in a third of PyTorch's time."""

    def __init__(self, network: Network, folder: Path) -> None:
        path = folder / "early.onnx"
        _write(_EarlyBlocks(network), path, ("features",), SHOWN_SIDE)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )

    def of(self, pictures: Tensor) -> Tensor:
        (features,) = self._session.run(["features"], {"image": pictures.numpy()})
        return torch.from_numpy(features)


def export(network: Network, calibration: Calibration, folder: Path) -> Path:
    """Write detector.onnx and its checksum beside it; answer where."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "detector.onnx"
    _write(_Calibrated(network, calibration), path, ("score", "evidence"), SIDE)
    data = path.read_bytes()
    assert len(data) < MAX_BYTES
    digest = hashlib.sha256(data).hexdigest()
    path.with_name("detector.onnx.sha256").write_text(f"{digest}  detector.onnx\n")
    return path


def _write(module: nn.Module, path: Path, answers: tuple[str, ...], side: int) -> None:
    was_training = module.training
    with warnings.catch_warnings():
        # It says that a newer exporter exists, which needs more packages for the same graph.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module.eval(),
            (torch.zeros(2, side, side, 3, dtype=torch.uint8),),
            str(path),
            dynamo=False,
            opset_version=OPERATORS,
            input_names=["image"],
            output_names=list(answers),
            dynamic_axes={name: {0: "pictures"} for name in ("image", *answers)},
        )
    module.train(was_training)
