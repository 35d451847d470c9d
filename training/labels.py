"""In which photos of failed prints two readers see the failure.

labels.csv holds what each of them said of a photo on its own, without scores and without what the
other had said, good photos among the failed ones.
"""

import csv
from collections import Counter
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Final

LABELS: Final = Path(__file__).with_name("labels.csv")


class Label(Enum):
    """What a reader says of one photo: can a failure be seen in it?"""

    VISIBLE = "visible"
    NOT = "not"
    UNSURE = "unsure"


def read_labels(path: Path = LABELS) -> dict[str, tuple[Label, Label]]:
    """Return both readers' labels of each photo that was read, by the photo's path."""
    with path.open(newline="", encoding="utf-8") as lines:
        return {
            row["photo"]: (Label(row["first"]), Label(row["second"]))
            for row in csv.DictReader(lines)
        }


def agreed(first: Label, second: Label) -> Label:
    """Return what both said; where they differ, nobody can tell."""
    return first if first is second else Label.UNSURE


def kappa(labels: Sequence[tuple[Label, Label]]) -> float:
    """Return Cohen's kappa: how much more two readers agree than by chance, 1 at most."""
    firsts, seconds = (Counter(side) for side in zip(*labels, strict=True))
    same = sum(first is second for first, second in labels) / len(labels)
    by_chance = sum(firsts[label] * seconds[label] for label in Label) / len(labels) ** 2
    return (same - by_chance) / (1 - by_chance)
