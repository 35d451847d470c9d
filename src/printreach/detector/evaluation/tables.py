"""Tables of Markdown with the figures that were measured."""

import math

from printreach.detector.evaluation.figures import CameraFigures, Figures
from printreach.detector.evaluation.prints import Outcome, likely_rate, likely_share


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


def sequence_table(sequences: dict[str, Outcome]) -> str:
    """How prints went, a row for each name."""
    lines = [
        "| prints | how many | good pictures | good hours | faster look at | warned of too soon"
        " | paused too soon | false pauses in 1,000 hours | warned of in time | paused in time |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, of in sequences.items():
        early, warned, paused = (
            _with_share(count, total)
            for count, total in (
                (of.early_paused, of.prints if of.begins_good else 0),
                (of.warned, of.failing),
                (of.paused, of.failing),
            )
        )
        lines.append(
            f"| {name} | {of.prints} | {of.good_pictures} | {of.good_hours:.1f} | {of.faster}"
            f" | {of.early_warned} | {early} | {_rate(of)} | {warned} | {paused} |"
        )
    return "\n".join(lines)


def _with_share(count: int, total: int) -> str:
    """A count, and where its share likely lies."""
    if total == 0:
        return "-"
    least, most = likely_share(count, total)
    return f"{count} ({least:.2f}-{most:.2f})"


def _rate(of: Outcome) -> str:
    least, most = likely_rate(of.early_paused, of.good_hours)
    if math.isinf(most):
        return "-"
    return f"{of.early_paused / of.good_hours * 1000:.0f} ({least:.0f}-{most:.0f})"
