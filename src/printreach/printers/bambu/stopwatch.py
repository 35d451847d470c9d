"""Measures how long a print has run, across restarts of the agent, and counts down the time left.

The printer reports only the remaining minutes, and no time that has passed.
"""

import json
import logging
from dataclasses import dataclass, replace
from pathlib import Path

from printreach.contract.sizes import MAX_TEXT_CHARS
from printreach.contract.status import AT_WORK, UNDER_WAY, State
from printreach.printers import loose
from printreach.printers.loose import Json
from printreach.printers.print_progress import PrintProgress, PrintReport, positions

from .states import state_of

log = logging.getLogger(__name__)

FILE = "bambu-print.json"
MAX_BYTES = 16 * 1024
SAVE_EVERY_S = 60.0
MAX_GAP_S = 86_400.0
"""Seconds after which a restarted agent can't know what happened in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopwatch:
    """Times are of a steady clock.

    job: which print was measured. counted_s: up to `since`, which is None while it stands still.
    minutes_left: as last reported. reported_at: when that value was first reported.
    """

    job: str = ""
    counted_s: float = 0.0
    since: float | None = None
    is_under_way: bool = False
    minutes_left: int | None = None
    reported_at: float = 0.0

    def duration_s(self, now: float) -> int:
        running = 0.0 if self.since is None else max(0.0, now - self.since)
        return min(loose.MAX_INT, int(self.counted_s + running))

    def left_s(self, now: float) -> int | None:
        """Return the time left, counted down within the reported minute."""
        if self.minutes_left is None:
            return None
        passed = 0.0 if self.since is None else min(59.0, max(0.0, now - self.reported_at))
        return min(loose.MAX_INT, max(0, int(self.minutes_left * 60 - passed)))


def observe(stopwatch: Stopwatch, report: Json, state: State, now: float) -> Stopwatch:
    """Return the stopwatch after a look at the printer."""
    if state not in UNDER_WAY:
        return replace(_held(stopwatch, now), is_under_way=False, minutes_left=None)
    job = job_of(report)
    # A print with another name than the one before is another print.
    if not stopwatch.is_under_way or (job and stopwatch.job and job != stopwatch.job):
        stopwatch = Stopwatch(job=job)
    stopwatch = replace(stopwatch, job=job or stopwatch.job, is_under_way=True)
    minutes = loose.count(report, "mc_remaining_time") if _tells_progress(report) else None
    if minutes != stopwatch.minutes_left:
        stopwatch = replace(stopwatch, minutes_left=minutes, reported_at=now)
    if state in AT_WORK:
        return stopwatch if stopwatch.since is not None else replace(stopwatch, since=now)
    return _held(stopwatch, now)


def resumed(counted_s: float, job: str) -> Stopwatch:
    """Return a stopwatch that continues what an earlier agent measured."""
    return Stopwatch(job=job, counted_s=counted_s, is_under_way=True)


class ClockFile:
    """The stopwatch of the print under way, in a file."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._saved: tuple[str, bool] | None = None
        self._saved_at = 0.0

    def load(self, report: loose.Json, unix_s: float) -> Stopwatch:
        """Return what an earlier agent measured of the same print; else a new stopwatch."""
        try:
            with self._file.open("rb") as file:
                stored = json.loads(file.read(MAX_BYTES))
        except (OSError, ValueError, RecursionError):
            return Stopwatch()
        job, counted_s = loose.text(stored, "Job"), loose.number(stored, "CountedSec")
        saved_at, is_running = loose.number(stored, "SavedAt"), loose.flag(stored, "IsRunning")
        if not job or job != job_of(report)[:MAX_TEXT_CHARS] or counted_s is None:
            return Stopwatch()
        gap_s = unix_s - (saved_at or 0.0) if is_running else 0.0
        if not 0.0 <= gap_s <= MAX_GAP_S:
            gap_s = 0.0
        return resumed(counted_s + gap_s, job_of(report))

    def save(self, stopwatch: Stopwatch, now: float, unix_s: float) -> None:
        """Save when something has begun or ended, and otherwise once a minute."""
        state = (stopwatch.job, stopwatch.since is not None)
        if state == self._saved and (not state[1] or now - self._saved_at < SAVE_EVERY_S):
            return
        self._saved, self._saved_at = state, now
        stored = {
            "Job": stopwatch.job[:MAX_TEXT_CHARS],
            "CountedSec": stopwatch.duration_s(now),
            "SavedAt": unix_s,
            "IsRunning": state[1],
        }
        try:
            self._file.write_text(json.dumps(stored))
        except OSError as exc:
            log.warning("the duration of the print can't be remembered: %s", exc.strerror)


def job_of(report: Json) -> str:
    """Return what tells one print from another; "" when nothing does."""
    keys = ("project_id", "task_id", "subtask_id", "subtask_name", "gcode_file")
    return "\n".join(loose.text(report, key) or "" for key in keys).strip()


def _print_id(report: Json) -> str:
    """Return the cloud's ids of the print; "" for one that was sent over the network, or from the
    card: its ids are 0. That the cloud gives each print ids of its own is a guess."""
    reported = (loose.text(report, key) or "0" for key in ("task_id", "subtask_id"))
    ids = [text for text in reported if text != "0"]
    return "\n".join(ids)


def _began_s(report: Json) -> float | None:
    """Return when the print began, by the printer's clock. The X1 told it up to firmware 01.07,
    other models don't. Source: reports that were published."""
    return loose.number(report, "gcode_start_time") or None


def print_report(report: Json) -> PrintReport:
    """The print as it is now. Only one that runs or is paused has numbers of its own: until then,
    those of the print before are still there."""
    state = state_of(report)
    reported = report if _tells_progress(report) else loose.EMPTY
    line = loose.text(reported, "mc_print_line_number") or ""
    return PrintReport(
        state=state,
        is_paused=state is State.PAUSED,
        path=job_of(report),
        progress=PrintProgress(
            print_id=_print_id(report),
            began_s=_began_s(report),
            position=positions(
                loose.number(reported, "mc_percent"),
                loose.number(reported, "layer_num"),
                float(line) if line.isascii() and line.isdigit() and len(line) < 16 else 0.0,
            )
            if reported
            else (),
        ),
    )


def _held(stopwatch: Stopwatch, now: float) -> Stopwatch:
    if stopwatch.since is None:
        return stopwatch
    return replace(
        stopwatch, counted_s=stopwatch.counted_s + max(0.0, now - stopwatch.since), since=None
    )


def _tells_progress(report: Json) -> bool:
    """Return whether progress is of this print: until it runs, it is of the print before."""
    return loose.text(report, "gcode_state") in ("RUNNING", "PAUSE")
