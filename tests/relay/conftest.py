"""Checks of every test of the relay: no exception of ours stays unnoticed."""

import logging
from collections.abc import Iterator

import pytest

from printreach.wire import keepalive

OURS = ("asyncio", "printreach.tunnel.tunnel")
"""Loggers whose errors are faults in callbacks; an error of the store has its own."""


@pytest.fixture(autouse=True)
def no_fault_goes_by_unseen(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail if a callback raised and only the log shows it."""
    yield
    faults = [
        record.getMessage()
        for phase in ("setup", "call")
        for record in caplog.get_records(phase)
        if record.levelno >= logging.ERROR and record.name in OURS
    ]
    assert faults == []


@pytest.fixture
def patience_with_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent that reads nothing counts as connected, for as long as a busy machine needs."""
    monkeypatch.setattr(keepalive, "PING_TIMEOUT_S", 1000.0)
