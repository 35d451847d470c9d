"""Tables of Markdown with the figures that were measured."""

import math

from printreach.detector.evaluation.figures import CameraFigures, Figures
from printreach.detector.evaluation.intervals import (
    Interval,
    Intervals,
    over_prints,
)
from printreach.detector.evaluation.prints import Outcome


def table(strata: dict[str, Figures]) -> str:
    """The strata, a row each."""
    lines = [
        "| stratum | failed | others | AUC | recall at 1 % | recall at 5 % |",
        "|---|---|---|---|---|---|",
    ]
    for name, of in strata.items():
        told = f"{of.auc} | {of.recall_at_1} | {of.recall_at_5}"
        lines.append(f"| {name} | {of.failed} | {of.others} | {told} |")
    return "\n".join(lines)


def with_cameras(pooled: Figures, cameras: CameraFigures) -> dict[str, Figures]:
    """Name the figures of pictures by several cameras, for `table`."""
    rows = {"all pictures": pooled, "all pictures, cameras drawn": cameras.pooled}
    if cameras.mean is not None:
        rows["mean of the cameras"] = cameras.mean
    return rows | {f"camera {name}": of for name, of in cameras.by_camera.items()}


def sequence_table(sequences: dict[str, Outcome], drawn: Intervals | None = None) -> str:
    """How prints went, a row for each name.

    drawn: of the last one, if cameras are drawn; that becomes a row more.
    """
    lines = [
        "| prints | how many | good pictures | good hours | faster look at | warned of too soon"
        " | paused too soon | false pauses in 1,000 hours | warned of in time | paused in time |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [_sequence_row(name, of, over_prints(of)) for name, of in sequences.items()]
    if drawn is not None:
        name, of = list(sequences.items())[-1]
        lines.append(_sequence_row(f"{name}, cameras drawn", of, drawn))
    return "\n".join(lines)


def _sequence_row(name: str, of: Outcome, likely: Intervals) -> str:
    early = _with_interval(of.early_paused, of.prints if of.begins_good else 0, likely.early_paused)
    warned = _with_interval(of.warned, of.failing, likely.warned)
    paused = _with_interval(of.paused, of.failing, likely.paused)
    return (
        f"| {name} | {of.prints} | {of.good_pictures} | {of.good_hours:.1f} | {of.faster}"
        f" | {of.early_warned} | {early} | {_rate(of, likely.rate)} | {warned} | {paused} |"
    )


def _with_interval(count: int, total: int, likely: Interval) -> str:
    """A count, and where its share likely lies."""
    if total == 0:
        return "-"
    least, most = likely
    return f"{count} ({least:.2f}-{most:.2f})"


def _rate(of: Outcome, likely: Interval) -> str:
    least, most = likely
    if of.good_hours <= 0 or math.isinf(most):
        return "-"
    return f"{of.early_paused / of.good_hours * 1000:.0f} ({least:.0f}-{most:.0f})"
