"""Journeys straight to the printers, without a relay: see tests/journeys/conftest.py."""

import os

DIRECT = "PRINTREACH_TEST_DIRECT"


def goes_straight() -> bool:
    """True when no relay stands between the tests and the printers."""
    return os.environ.get(DIRECT) == "1"
