"""Time zones, from the machine or from the package that carries them."""

import zoneinfo
from datetime import tzinfo
from functools import cache


class SystemZones:
    """ports.Zones."""

    def zone(self, name: str) -> tzinfo | None:
        return zoneinfo.ZoneInfo(name) if name in _names() else None

    def names(self) -> list[str]:
        return sorted(_names())


@cache
def _names() -> frozenset[str]:
    """Return the zones named after a place, and UTC; the others are for old programs."""
    known = zoneinfo.available_timezones()
    return frozenset({"UTC", *(one for one in known if "/" in one and not _is_old(one))})


def _is_old(name: str) -> bool:
    return name.startswith(("Etc/", "SystemV/", "US/", "posix/", "right/"))
