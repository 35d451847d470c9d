"""How the service's log tells of storage that gives no answer."""

import logging

import pytest

from printreach.ports import StoreUnavailable
from printreach.ports.snapshots import SnapshotsUnavailable
from printreach.run.serve import SAID_EVERY_S, OutageFilter


@pytest.mark.parametrize(
    ("error", "level", "has_stack"),
    [
        (StoreUnavailable("Connection refused."), "WARNING", False),
        (SnapshotsUnavailable("Connection refused."), "WARNING", False),
        (OSError("Disk"), "ERROR", True),
    ],
)
def test_storage_that_is_away_is_logged_in_one_line(
    error: Exception, level: str, has_stack: bool
) -> None:
    fault = (type(error), error, None)
    record = logging.LogRecord("run", logging.ERROR, "", 1, "%s: a pass failed", ("x",), fault)

    assert OutageFilter().filter(record)
    assert record.levelname == level
    assert bool(record.exc_info) is has_stack
    assert record.getMessage().startswith("x: a pass failed")
    assert ("Connection refused." in record.getMessage()) is not has_stack


def test_what_goes_on_is_said_once_a_minute_by_each_part(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    outage = OutageFilter()
    written = []

    def log(name: str) -> None:
        error = StoreUnavailable("Connection refused.")
        record = logging.LogRecord(
            name, logging.WARNING, "", 1, "came to nothing: %s", (error,), None
        )
        if outage.filter(record):
            written.append(record.getMessage())

    for _ in range(5):
        log("worker")
        log("bus")
    assert written == ["came to nothing: Connection refused."] * 2
    now[0] += SAID_EVERY_S
    log("worker")
    assert written[2:] == ["came to nothing: Connection refused. (4 more of these since)"]
