"""Numbers and dates in the reader's language. English needs no library for them."""

from datetime import date
from decimal import Decimal

from printreach.languages import ENGLISH, language, punctuated


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
