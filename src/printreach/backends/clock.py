"""The wall clock."""

from datetime import UTC, datetime


class SystemClock:
    """ports.Clock of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)
