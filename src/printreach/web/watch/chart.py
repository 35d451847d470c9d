"""The quality of a print over time, as bars, and the evidence in a picture, as squares."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import isfinite
from typing import Final

from printreach.languages import _, translate
from printreach.rules.detection.detector import quality_of
from printreach.rules.detection.scene import UNSEEING_VIEWS
from printreach.rules.watch.choices import Look
from printreach.rules.watch.why import VIEW_WORDS

MAX_BARS: Final = 96
"""Bars across the whole width; more can't be told apart on a phone."""
_SHORTEST: Final = timedelta(seconds=1)
MAX_SQUARES: Final = 24
"""Squares of evidence, each way."""
_FAINT: Final = 0.25
"""Weaker evidence is not shown."""
_STEPS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A look, or the worst one of some that are too near each other for a bar each.

    x, width: in percent of the chart's time. score: 0 to 100, taller is worse. quality: None if
    nothing was seen. note: its text in the table.
    """

    x: float
    width: float
    score: float
    quality: int | None
    at: datetime
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A warning or a pause."""

    x: float
    at: datetime
    quality: int
    is_pause: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityChart:
    """The chart of a print, from begins_at to ends_at: its end, or the present while it runs.

    bars: each look is in one of them. worst, newest: of the looks that saw something; None if none
    did.
    """

    begins_at: datetime
    ends_at: datetime
    bars: Sequence[Bar]
    marks: Sequence[Mark]
    worst: Look | None
    newest: Look | None
    look_count: int


@dataclass(frozen=True, slots=True)
class Square:
    """A row of cells with the same strength, in cells of the grid. strength: 1 to 4."""

    x: int
    y: int
    width: int
    strength: int


@dataclass(frozen=True, slots=True)
class EvidenceMap:
    columns: int
    rows: int
    squares: Sequence[Square]


def quality_chart(
    looks: Sequence[Look],
    *,
    begins_at: datetime | None = None,
    ends_at: datetime | None = None,
    progress: float = 100.0,
) -> QualityChart | None:
    """Draw looks, oldest first, from the print's start to its end; None if there are none.

    begins_at, ends_at: otherwise taken from the looks; the end of a running print is the present.
    progress: of the print, in percent; the part of a page's width on which the chart is drawn.
    """
    if not looks:
        return None
    looks = sorted(looks, key=lambda look: look.at)  # the clock may have been set back
    seen = [look for look in looks if look.view not in UNSEEING_VIEWS]
    first, last = looks[0].at, looks[-1].at
    starts = min(first, begins_at) if begins_at is not None else first
    ends = max(last, ends_at) if ends_at is not None else last
    span = max(ends - starts, _SHORTEST)
    bars = _bars(looks, starts, span, max(1, round(MAX_BARS * progress / 100)))
    return QualityChart(
        begins_at=starts,
        ends_at=ends,
        bars=bars,
        marks=[
            Mark(
                x=_x(look.at, starts, span), at=look.at, quality=look.quality, is_pause=look.paused
            )
            for look in looks
            if look.warned or look.paused
        ][-MAX_BARS:],
        worst=max(seen, key=lambda look: look.score, default=None),
        newest=seen[-1] if seen else None,
        look_count=len(looks),
    )


def evidence_map(evidence: Sequence[Sequence[float]]) -> EvidenceMap | None:
    """Return the squares over a picture; None if nothing stands out."""
    coarse = _coarse(evidence)
    if not coarse or not coarse[0]:
        return None
    squares = [
        square for y, row in enumerate(coarse) for square in _runs(y, [_strength(of) for of in row])
    ]
    if not squares:
        return None
    return EvidenceMap(columns=len(coarse[0]), rows=len(coarse), squares=squares)


# --- helpers --------------------------------------------------------------------------------------


def _bars(looks: Sequence[Look], starts: datetime, span: timedelta, at_most: int) -> list[Bar]:
    width = 100 / at_most
    return [
        _bar(_x(near[0].at, starts, span) * (1 - width / 100), width, near)
        for near in _near_each_other(looks, span, at_most)
    ]


def _near_each_other(looks: Sequence[Look], span: timedelta, at_most: int) -> list[list[Look]]:
    """Group looks whose bars would cover each other, in at most that many groups."""
    if at_most == 1:
        return [list(looks)]
    apart = span / (at_most - 1)
    groups: list[list[Look]] = []
    for look in looks:
        if groups and look.at - groups[-1][0].at < apart:
            groups[-1].append(look)
        else:
            groups.append([look])
    return groups


def _score(look: Look) -> float:
    """Return its score, 0 to 100; less for a look that saw nothing, whose score is an older one."""
    return -1.0 if look.view in UNSEEING_VIEWS else float(max(0, min(100, look.score)))


def _bar(x: float, width: float, near: Sequence[Look]) -> Bar:
    worst = max(near, key=_score)
    score = _score(worst)
    notes = [
        translate(VIEW_WORDS[worst.view]),
        _("Paused the print.") if any(look.paused for look in near) else "",
        _("Warned.") if any(look.warned for look in near) else "",
        _("The worst of %(count)s looks.", count=len(near)) if len(near) > 1 else "",
    ]
    return Bar(
        x=x,
        width=width,
        score=max(0.0, score),
        quality=None if score < 0 else quality_of(score),
        at=worst.at,
        note=" ".join(note for note in notes if note),
    )


def _x(at: datetime, starts: datetime, span: timedelta) -> float:
    return max(0.0, min(100.0, 100 * ((at - starts) / span)))


def _coarse(evidence: Sequence[Sequence[float]]) -> list[list[float]]:
    """Reduce it to MAX_SQUARES each way at most; of merged cells the strongest counts."""
    columns = min((len(row) for row in evidence), default=0)
    across, down = -(-columns // MAX_SQUARES) or 1, -(-len(evidence) // MAX_SQUARES) or 1
    return [
        [
            max(_share(of) for row in evidence[y : y + down] for of in row[x : x + across])
            for x in range(0, columns, across)
        ]
        for y in range(0, len(evidence), down)
    ]


def _share(value: float) -> float:
    return max(0.0, min(1.0, value)) if isfinite(value) else 0.0


def _strength(share: float) -> int:
    """Return 0 for nothing, else 1 to _STEPS."""
    if share < _FAINT:
        return 0
    return min(_STEPS, 1 + int((share - _FAINT) / (1 - _FAINT) * _STEPS))


def _runs(y: int, strengths: Sequence[int]) -> list[Square]:
    squares, begins = [], 0
    for place in range(1, len(strengths) + 1):
        if place == len(strengths) or strengths[place] != strengths[begins]:
            if strengths[begins]:
                squares.append(Square(begins, y, place - begins, strengths[begins]))
            begins = place
    return squares
