"""Photos that are copies of each other: turned, mirrored, cut, recoloured, or of the same scene.

copies.csv names the group of each photo that has a copy, as `python -m training.find_copies` found
them. It is kept, so that a split depends on no library's rounding.
"""

import csv
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from PIL import Image

Pixels = npt.NDArray[np.uint8]
Vectors = npt.NDArray[np.float32]
Features = Callable[[Pixels], Vectors]
"""Of pictures (any number, SIDE, SIDE, 3): a vector each."""

COPIES: Final = Path(__file__).with_name("copies.csv")
SIDE: Final = 160
ALIKE: Final = 0.65
"""The least cosine of copies. Of 20 pairs each, looked at by eye, 20 above .80, 18 from .74 on, 16
from .68 on and 14 from .62 on were copies or of one scene. A group too large costs little."""


def read_copies(path: Path = COPIES) -> dict[str, str]:
    """Return the group of each photo that has a copy, by the photo's path."""
    with path.open(newline="", encoding="utf-8") as lines:
        return {row["photo"]: row["group"] for row in csv.DictReader(lines)}


def write_copies(photos: Sequence[str], groups: Sequence[Sequence[int]], path: Path) -> None:
    """Write groups of more than one photo. A group is called after its first photo."""
    with path.open("w", newline="", encoding="utf-8") as lines:
        rows = csv.writer(lines, lineterminator="\n")
        rows.writerow(("photo", "group"))
        for group in groups:
            if len(group) > 1:
                rows.writerows((photos[index], photos[group[0]]) for index in group)


def groups_of_copies(pictures: Iterable[Pixels], features: Features) -> list[list[int]]:
    """Group pictures by their index; one without a copy is a group of its own."""
    vectors = np.stack([_vector(pixels, features) for pixels in pictures])
    # What all photos of prints have in common would make any two of them alike.
    vectors -= vectors.mean(axis=0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    first, second = np.nonzero(np.triu(vectors @ vectors.T >= ALIKE, 1))
    return joined(len(vectors), zip(first.tolist(), second.tolist(), strict=True))


def joined(count: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Group the numbers below count, so that each pair is in one group."""
    leader = list(range(count))

    def find(number: int) -> int:
        while leader[number] != number:
            number = leader[number]
        return number

    for first, second in pairs:
        low, high = sorted((find(first), find(second)))
        leader[high] = low
    groups: dict[int, list[int]] = defaultdict(list)
    for number in range(count):
        groups[find(number)].append(number)
    return list(groups.values())


def _vector(pixels: Pixels, features: Features) -> Vectors:
    """The mean over all turns by a right angle and mirrored ones, without colours."""
    grey = np.asarray(
        Image.fromarray(pixels).convert("L").resize((SIDE, SIDE), Image.Resampling.BICUBIC)
    )
    turned = [np.rot90(side, turns) for side in (grey, grey[:, ::-1]) for turns in range(4)]
    shown = np.repeat(np.stack(turned)[..., None], 3, axis=3)
    mean: Vectors = features(shown).mean(axis=0)
    return mean
