"""Durations in words, the same on pages and in notifications."""

from collections.abc import Callable
from typing import Final

from printreach.languages import _, ngettext

_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR


def duration(seconds: float) -> str:
    """Format a duration by its two greatest units: "1 h 12 min", "48 min", "2 days 3 h"."""
    whole = max(0, int(seconds))
    if whole < _MINUTE:
        return _("%(seconds)s s", seconds=whole)
    if whole < _HOUR:
        return _minutes(whole // _MINUTE)
    if whole < _DAY:
        return _two(_hours(whole // _HOUR), whole % _HOUR // _MINUTE, _minutes)
    days = ngettext("%(num)s day", "%(num)s days", whole // _DAY)
    return _two(days, whole % _DAY // _HOUR, _hours)


def _minutes(count: int) -> str:
    return _("%(minutes)s min", minutes=count)


def _hours(count: int) -> str:
    return _("%(hours)s h", hours=count)


def _two(first: str, second: int, in_words: Callable[[int], str]) -> str:
    return f"{first} {in_words(second)}" if second else first
