"""Numbers, dates and durations in the reader's language. English needs no library for them."""

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Final

from printreach.languages import ENGLISH, _, language, ngettext, punctuated

_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR


def decimal(number: float | Decimal, digits: int) -> str:
    """Format a number with so many digits behind the point: "1,204.5", in German "1.204,5"."""
    return punctuated(f"{number:,.{digits}f}")


def day_in_words(day: date) -> str:
    """Format a date: "20 December 2026"."""
    current = language()
    if current == ENGLISH:
        return f"{day.day} {day:%B %Y}"
    from printreach.languages.formats import day_in  # loads Babel

    return day_in(day, current)


def day_of_year_in_words(day: date) -> str:
    """Format a date without its year: "20 December"."""
    current = language()
    if current == ENGLISH:
        return f"{day.day} {day:%B}"
    from printreach.languages.formats import day_of_year_in  # loads Babel

    return day_of_year_in(day, current)


def month_in_words(day: date) -> str:
    """Format the month of a date: "December 2026"."""
    current = language()
    if current == ENGLISH:
        return f"{day:%B %Y}"
    from printreach.languages.formats import month_in  # loads Babel

    return month_in(day, current)


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
