"""How far a print has come: one answer for every page."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from printreach.contract.status import UNDER_WAY, State, StatusResult

_LONGEST_S = 10 * 365 * 86400
"""A longer time is a printer's mistake."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PrintTimes:
    """The progress and times of the print under way.

    progress: 0 to 100. started_at: None if unknown; pauses don't move it. ready_at: the expected
    end; None if unknown, and while the print is paused.
    """

    progress: float
    time_left_s: int | None
    duration_s: int
    started_at: datetime | None
    ready_at: datetime | None


def print_times(status: StatusResult | None, seen_at: datetime | None) -> PrintTimes | None:
    """Return them; None if nothing is printing. seen_at: when the status was read."""
    if status is None or status.job_status.state not in UNDER_WAY:
        return None
    print_ = status.job_status.current_print
    is_paused = status.job_status.state is State.PAUSED
    return PrintTimes(
        progress=print_.progress,
        time_left_s=print_.time_left_sec,
        duration_s=print_.duration_sec,
        started_at=_started_at(status, seen_at),
        ready_at=None if is_paused else _moved(seen_at, print_.time_left_sec),
    )


def _started_at(status: StatusResult, seen_at: datetime | None) -> datetime | None:
    """Return the start that the agent noted, as the history has it; else by the time printed.

    Printers don't count pauses as time printed, so that alone would move the start.
    """
    noted_s, printed_s = (
        status.service_status.print_start_time_sec,
        status.job_status.current_print.duration_sec,
    )
    if seen_at is not None and 0 < noted_s <= seen_at.timestamp():
        return datetime.fromtimestamp(noted_s, UTC)
    return _moved(seen_at, -printed_s)


def _moved(at: datetime | None, by_s: int | None) -> datetime | None:
    if at is None or by_s is None or abs(by_s) >= _LONGEST_S:
        return None
    return at + timedelta(seconds=by_s)
