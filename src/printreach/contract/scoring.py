"""The API of a detector node: one image a request.

`POST /detector/score?masked=left,top,right,bottom;…` with the file as body and the shared token as
bearer. The answer is 200 with a ScoreAnswer, or another status with a Refused.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Final, TypeAlias

from msgspec import Meta, Struct

SCORE_PATH: Final = "/detector/score"
READY_PATH: Final = "/detector/ready"
"""Answers 200 where the token is the right one and pictures are scored."""

Edges: TypeAlias = tuple[float, float, float, float]
"""Left, top, right and bottom of a part of a picture, as shares of its width and height."""


MAX_EVIDENCE_SIDE: Final = 64
"""The most rows and columns of evidence."""
LONGEST_WHY: Final = 300
_Row: TypeAlias = Annotated[tuple[float, ...], Meta(max_length=MAX_EVIDENCE_SIDE)]


class RefusalKind(StrEnum):
    """The reasons for which there is no score."""

    UNREADABLE = "unreadable"
    TOO_LARGE = "too large"
    BUSY = "busy"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"


STATUS_OF: Final = {
    RefusalKind.UNREADABLE: 422,
    RefusalKind.TOO_LARGE: 413,
    RefusalKind.BUSY: 503,
    RefusalKind.UNAVAILABLE: 503,
    RefusalKind.FAILED: 500,
}


class ScoreRefused(Struct, frozen=True, rename="pascal"):
    """The body of a refusal. why: the rest of a sentence, for the sender of the image."""

    kind: RefusalKind
    why: Annotated[str, Meta(max_length=LONGEST_WHY)]


class ScoreAnswer(Struct, frozen=True, kw_only=True, rename="pascal"):
    """A node's assessment; see ports.scoring.ImageScore and rules.detection.scene.Scene.

    Raises ValueError for evidence whose rows differ in length, since it is drawn over a picture.
    """

    probability: float
    evidence: Annotated[tuple[_Row, ...], Meta(max_length=MAX_EVIDENCE_SIDE)]
    grey: tuple[int, ...]
    digest: Annotated[int, Meta(ge=0, lt=2**32)]
    load: float

    def __post_init__(self) -> None:
        if len({len(row) for row in self.evidence}) > 1:
            raise ValueError("rows of evidence are of one length")


def format_masked(masked: Iterable[Edges]) -> str:
    """Format the query's value, with each number exact to the last bit."""
    return ";".join(",".join(map(repr, edges)) for edges in masked)


def parse_masked(text: str) -> list[Edges]:
    """Raises ValueError for what format_masked doesn't write."""
    return [_edges(part) for part in text.split(";")] if text else []


def _edges(text: str) -> Edges:
    left, top, right, bottom = map(float, text.split(","))
    return left, top, right, bottom
