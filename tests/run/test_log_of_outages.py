"""How the service's log tells of storage that gives no answer."""

import logging

import pytest

from printreach.ports import StoreUnavailable
from printreach.ports.snapshots import SnapshotsUnavailable
from printreach.run.serve import shorten_outage


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

    assert shorten_outage(record)
    assert record.levelname == level
    assert bool(record.exc_info) is has_stack
    assert record.getMessage().startswith("x: a pass failed")
    assert ("Connection refused." in record.getMessage()) is not has_stack
