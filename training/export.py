"""The network as an ONNX file: bytes of pictures in, probabilities and maps out."""

import hashlib
import warnings
from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn

from training.augment import SIDE
from training.calibrate import Calibration
from training.network import Network, evidence_logits, frame_logits

OPERATORS: Final = 17
"""A version of ONNX's operators that every onnxruntime since 1.12 runs."""
MOST_BYTES: Final = 12_000_000


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


def export(network: Network, calibration: Calibration, folder: Path) -> Path:
    """Write detector.onnx and its checksum beside it; answer where."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "detector.onnx"
    names = ("score", "evidence")
    with warnings.catch_warnings():
        # It says that a newer exporter exists, which needs more packages for the same graph.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            _Calibrated(network, calibration).eval(),
            (torch.zeros(2, SIDE, SIDE, 3, dtype=torch.uint8),),
            str(path),
            dynamo=False,
            opset_version=OPERATORS,
            input_names=["image"],
            output_names=list(names),
            dynamic_axes={name: {0: "pictures"} for name in ("image", *names)},
        )
    data = path.read_bytes()
    assert len(data) < MOST_BYTES
    digest = hashlib.sha256(data).hexdigest()
    path.with_name("detector.onnx.sha256").write_text(f"{digest}  detector.onnx\n")
    return path
