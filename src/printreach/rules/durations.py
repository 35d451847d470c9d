"""Durations in words, the same on pages and in notifications."""

from typing import Final

_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR


def duration(seconds: float) -> str:
    """Format a duration by its two greatest units: "1 h 12 min", "48 min", "2 days 3 h"."""
    whole = max(0, int(seconds))
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min"
    if whole < _DAY:
        return _two(f"{whole // _HOUR} h", whole % _HOUR // _MINUTE, "min")
    days = whole // _DAY
    return _two(f"{days:,} day{'s' * (days > 1)}", whole % _DAY // _HOUR, "h")


def _two(first: str, second: int, unit: str) -> str:
    return f"{first} {second} {unit}" if second else first
