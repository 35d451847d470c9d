"""The duration of the print under way, kept across a restart of the agent."""

import json
import logging
from pathlib import Path

from printreach.contract.sizes import MAX_TEXT_CHARS
from printreach.printers import loose

from .stopwatch import Stopwatch, job_of, resumed

log = logging.getLogger(__name__)

FILE = "bambu-print.json"
MAX_BYTES = 16 * 1024
SAVE_EVERY_S = 60.0
MAX_GAP_S = 86_400.0
"""Seconds after which a restarted agent can't know what happened in between."""


class ClockFile:
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
