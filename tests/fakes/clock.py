"""A clock that goes only when it is told to."""

from datetime import UTC, datetime, timedelta

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


class FakeClock:
    """ports.Clock, standing at noon of the first of May."""

    def __init__(self, at: datetime = NOON) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at

    def advance(self, by: timedelta) -> datetime:
        """Go forward; the new time."""
        self.at += by
        return self.at
