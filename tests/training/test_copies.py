"""Copies of a photo are found, turned, mirrored and recoloured ones too, and end in one part."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from printreach.detector.runtime import onnxruntime
from training.copies import Pixels, Vectors, groups_of_copies, joined, read_copies, write_copies
from training.render import picture

WEIGHTS = Path(__file__).parents[2] / "src/printreach/detector/weights/detector.onnx"
FROZEN = "/network/blocks.6/narrow/inner/Conv_output_0"
"""What the shipped network's frozen blocks answer. They are ImageNet's, whatever was trained."""


def field(number: int, data: bytes) -> bytes:
    """A field of a protobuf message, shorter than 128 bytes."""
    return bytes([number << 3 | 2, len(data)]) + data


def frozen_features() -> onnxruntime.InferenceSession:
    """The shipped network with one output more: messages put behind one another are merged."""
    asked = field(7, field(12, field(1, FROZEN.encode())))
    return onnxruntime.InferenceSession(WEIGHTS.read_bytes() + asked)


def recoloured(pixels: Pixels) -> Pixels:
    hue, saturation, value = Image.fromarray(pixels).convert("HSV").split()
    turned = hue.point([(level + 40) % 256 for level in range(256)])
    darker = value.point([level * 4 // 5 for level in range(256)])
    return np.asarray(Image.merge("HSV", (turned, saturation, darker)).convert("RGB"))


@pytest.mark.slow
def test_turned_mirrored_and_recoloured_copies_are_found() -> None:
    session = frozen_features()

    def features(pictures: Pixels) -> Vectors:
        large = [np.asarray(Image.fromarray(one).resize((320, 320))) for one in pictures]
        maps = np.concatenate([session.run([FROZEN], {"image": one[None]})[0] for one in large])
        return np.concatenate([maps.mean(axis=(2, 3)), maps.std(axis=(2, 3))], axis=1)

    originals = [picture(seed).pixels for seed in (100, 102, 103, 104)]
    shown = [
        copy
        for one in originals
        for copy in (one, np.rot90(one).copy(), one[:, ::-1].copy(), recoloured(one))
    ]

    groups = groups_of_copies(shown, features)

    assert groups == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]


def test_a_copy_of_a_copy_is_in_the_same_group() -> None:
    assert joined(6, [(3, 4), (1, 3)]) == [[0], [1, 3, 4], [2], [5]]


def test_groups_are_read_as_they_were_written(tmp_path: Path) -> None:
    write_copies(["a.jpg", "b.jpg", "c.jpg"], [[0, 2], [1]], tmp_path / "copies.csv")

    assert read_copies(tmp_path / "copies.csv") == {"a.jpg": "a.jpg", "c.jpg": "a.jpg"}
