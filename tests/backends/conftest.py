"""No timeout of a backend passes in a test, and each test has a database file of its own."""

import pytest

from printreach.backends import mail_smtp, printer_http, webhook_http
from tests.rigs.databases import (
    database,
    migrated,
    migrated_postgresql,
    postgresql,
    postgresql_location,
)

__all__ = [
    "database",
    "migrated",
    "migrated_postgresql",
    "patient",
    "postgresql",
    "postgresql_location",
]

DEADLINES = [
    *((webhook_http, name) for name in ("TIMEOUT_S", "LOOKUP_TIMEOUT_S", "BODY_TIMEOUT_S")),
    (webhook_http, "CONNECT_TIMEOUT_S"),
    *((printer_http, name) for name in ("ASK_TIMEOUT_S", "ORDER_TIMEOUT_S")),
    (mail_smtp, "TIMEOUT_S"),
]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No deadline passes because the machine stood still. A test of one sets its own."""
    for module, name in DEADLINES:
        monkeypatch.setattr(module, name, 60.0)
