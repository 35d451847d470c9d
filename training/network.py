"""MobileNetV2 with a map of verdicts in place of its classes."""

from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from training.photos import Kind

_BLOCKS: Final = (
    *((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)),
    *((6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)),
)
"""How much wider inside, width, how many, step: as its authors chose them."""
FROZEN_BLOCKS: Final = 7
"""Edges and textures are the same here as in any photo; 13 minutes don't teach better ones."""
_WIDTH: Final = 1280
_STRONGEST: Final = 4
"""Places of the map that decide the frame together: one alone is often a mistake."""


class _Convolution(nn.Module):
    """A convolution padded as the given weights were trained: at stride 2 below and right only."""

    def __init__(
        self, inputs: int, outputs: int, side: int, *, stride: int = 1, apart: bool = False
    ) -> None:
        super().__init__()
        groups = inputs if apart else 1
        padding = 1 if side == 3 and stride == 1 else 0
        self.pads = side == 3 and stride == 2
        self.inner = nn.Conv2d(inputs, outputs, side, stride, padding, groups=groups)

    def forward(self, x: Tensor) -> Tensor:
        answer: Tensor = self.inner(functional.pad(x, (0, 1, 0, 1)) if self.pads else x)
        return answer


class _Block(nn.Module):
    """Widen, filter each channel, narrow; the input is added where the shapes agree."""

    def __init__(self, inputs: int, outputs: int, widening: int, stride: int) -> None:
        super().__init__()
        wide = inputs * widening
        self.widen = _Convolution(inputs, wide, 1) if widening > 1 else None
        self.filter = _Convolution(wide, wide, 3, stride=stride, apart=True)
        self.narrow = _Convolution(wide, outputs, 1)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        wide = x if self.widen is None else functional.relu6(self.widen(x))
        answer: Tensor = self.narrow(functional.relu6(self.filter(wide)))
        return x + answer if self.adds else answer


class Network(nn.Module):
    """RGB bytes (pictures, rows, columns, 3) to scores of Kind for each place of a map."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = _Convolution(3, 32, 3, stride=2)
        blocks: list[nn.Module] = []
        inputs = 32
        for widening, outputs, count, stride in _BLOCKS:
            for number in range(count):
                blocks.append(_Block(inputs, outputs, widening, stride if number == 0 else 1))
                inputs = outputs
        self.blocks = nn.ModuleList(blocks)
        self.top = _Convolution(inputs, _WIDTH, 1)
        self.verdicts = nn.Conv2d(_WIDTH, len(Kind), 1)

    def forward(self, pictures: Tensor) -> Tensor:
        return self.late(self.early(pictures))

    def early(self, pictures: Tensor) -> Tensor:
        """What the frozen blocks make of pictures."""
        x = pictures.permute(0, 3, 1, 2).float() / 127.5 - 1
        x = functional.relu6(self.stem(x))
        for block in self.blocks[:FROZEN_BLOCKS]:
            x = block(x)
        return x

    def late(self, features: Tensor) -> Tensor:
        """What the other blocks make of what the frozen ones made."""
        x = features
        for block in self.blocks[FROZEN_BLOCKS:]:
            x = block(x)
        x = functional.relu6(self.top(x))
        answer: Tensor = self.verdicts(functional.dropout(x, 0.2, self.training))
        return answer

    def load_backbone(self, path: Path) -> None:
        """Take the weights of an ImageNet network, in network order."""
        layers = [
            module
            for name, module in self.named_modules()
            if isinstance(module, nn.Conv2d) and name != "verdicts"
        ]
        with np.load(path) as weights, torch.no_grad():
            for number, layer in enumerate(layers):
                layer.weight.copy_(torch.from_numpy(weights[f"conv{number:02}_w"]))
                assert layer.bias is not None
                layer.bias.copy_(torch.from_numpy(weights[f"conv{number:02}_b"]))

    def freeze_first_blocks(self) -> None:
        for part in (self.stem, *list(self.blocks)[:FROZEN_BLOCKS]):
            for parameter in part.parameters():
                parameter.requires_grad = False


def evidence_logits(verdicts: Tensor) -> Tensor:
    """How much more like spaghetti than like all else: (pictures, rows, columns)."""
    others = torch.logsumexp(verdicts[:, (int(Kind.FINE), int(Kind.OTHER_DEFECT))], dim=1)
    return verdicts[:, int(Kind.SPAGHETTI)] - others


def frame_logits(verdicts: Tensor) -> Tensor:
    """One number a picture: the mean of its strongest places."""
    strongest = evidence_logits(verdicts).flatten(1).topk(_STRONGEST, dim=1).values
    return strongest.mean(dim=1)
