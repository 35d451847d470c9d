"""Masked parts of an image, painted over before the model sees it.

They are filled with the mean colour of the rest. Of black, grey, the mean colour and a gradient
into the surroundings, it changed the scores of one webcam's photos least.
"""

import math
from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from printreach.rules.watch.choices import Region

Evidence: TypeAlias = tuple[tuple[float, ...], ...]
"""Rows of cells, 0 to 1 each, from the upper left corner, as in ports.scoring.Scored."""

_GREY: Final = 127
"""The fill if everything is masked."""
_FINER: Final = 32
"""Side of a cell of the evidence map, in pixels of the model's input."""


def paint_out(pixels: npt.NDArray[np.uint8], masked: Sequence[Region]) -> npt.NDArray[np.uint8]:
    """Give the masked parts of (height, width, 3) the mean colour of the others."""
    if not masked:
        return pixels
    hidden = _hidden(pixels.shape[0], pixels.shape[1], masked)
    painted = pixels.copy()
    painted[hidden] = _GREY if hidden.all() else pixels[~hidden].mean(axis=0).round()
    return painted


def without_masked(evidence: Evidence, masked: Sequence[Region]) -> Evidence:
    """Scale each cell of an evidence map by its unmasked share."""
    if not masked:
        return evidence
    rows, columns = len(evidence), len(evidence[0])
    hidden = _hidden(rows * _FINER, columns * _FINER, masked)
    shown = 1.0 - hidden.reshape(rows, _FINER, columns, _FINER).mean(axis=(1, 3))
    return tuple(
        tuple(float(share) * place for share, place in zip(shares, places, strict=True))
        for shares, places in zip(shown, evidence, strict=True)
    )


def _hidden(height: int, width: int, masked: Sequence[Region]) -> npt.NDArray[np.bool_]:
    hidden = np.zeros((height, width), np.bool_)
    for region in masked:
        rows = slice(math.floor(region.top * height), math.ceil(region.bottom * height))
        columns = slice(math.floor(region.left * width), math.ceil(region.right * width))
        hidden[rows, columns] = True
    return hidden
