"""Numbers and dates as other languages write them, by the data of Unicode's CLDR, which Babel has.

Only for languages other than English, so that a service that speaks English alone never loads it.
"""

from datetime import date
from functools import cache

from babel import Locale
from babel.dates import format_date, format_skeleton


@cache
def _locale(language: str) -> Locale:
    return Locale.parse(language, sep="-")


def decimal_in(number: str, language: str) -> str:
    """Put a number's own marks into one that is written in English: "1,204.50"."""
    symbols = _locale(language).number_symbols["latn"]
    marks = {",": symbols["group"], ".": symbols["decimal"]}
    return "".join(marks.get(character, character) for character in number)


def day_in(day: date, language: str) -> str:
    """Format a date: "20. Dezember 2026" in German."""
    return format_date(day, "long", locale=_locale(language))


def day_of_year_in(day: date, language: str) -> str:
    """Format a date without its year: "20. Dezember" in German."""
    return format_skeleton("MMMMd", day, locale=_locale(language))


def month_in(day: date, language: str) -> str:
    """Format a month: "Dezember 2026" in German."""
    return format_skeleton("yMMMM", day, locale=_locale(language))
