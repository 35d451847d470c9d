"""The wall clock and the time zones of this machine."""

import logging
import zoneinfo
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from typing import Final

log = logging.getLogger(__name__)

TOLERANCE: Final = timedelta(seconds=2)
"""Clocks that differ by less are taken for alike: SQLite tells whole seconds, and answers take
their time."""


class SystemClock:
    """ports.Clock of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class ServiceClock(SystemClock):
    """This machine's clock, corrected by that of the database, which all nodes of a service share.

    Nodes store when leases, codes and sessions end. A node whose machine has the wrong time would
    take the leases of others for ended, and refuse codes that are valid.
    """

    def __init__(self) -> None:
        self._ahead = timedelta(0)

    def now(self) -> datetime:
        return super().now() - self._ahead

    async def follow(self, database_time: Callable[[], Awaitable[datetime]]) -> None:
        """Ask the database for its time, and correct the clock by it."""
        asked_at = super().now()
        said = await database_time()
        self.correct(said, asked_at, super().now())

    def correct(self, said: datetime, asked_at: datetime, answered_at: datetime) -> None:
        """Correct the clock by what the database said between these times of this machine."""
        half = (answered_at - asked_at) / 2
        ahead = asked_at + half - said
        if abs(ahead - self._ahead) <= TOLERANCE + half:
            return
        self._ahead = ahead if abs(ahead) > TOLERANCE + half else timedelta(0)
        seconds = round(self._ahead.total_seconds())
        if seconds:
            log.warning(
                "this machine's clock is %d s %s the database's, which the service goes by",
                abs(seconds),
                "ahead of" if seconds > 0 else "behind",
            )
        else:
            log.info("this machine's clock agrees with the database's again")


class SystemZones:
    """ports.Zones, from the machine or from the package that carries them."""

    def zone(self, name: str) -> tzinfo | None:
        return zoneinfo.ZoneInfo(name) if name in _names() else None

    def names(self) -> list[str]:
        return sorted(_names())


@cache
def _names() -> frozenset[str]:
    """Return the zones named after a place, and UTC; the others are for old programs."""
    known = zoneinfo.available_timezones()
    return frozenset({"UTC", *(name for name in known if "/" in name and not _is_old(name))})


def _is_old(name: str) -> bool:
    return name.startswith(("Etc/", "SystemV/", "US/", "posix/", "right/"))
