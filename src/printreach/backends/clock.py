"""The wall clock and the time zones of this machine."""

import zoneinfo
from datetime import UTC, datetime, tzinfo
from functools import cache


class SystemClock:
    """ports.Clock of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)


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
