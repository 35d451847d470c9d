"""Numbers as a language writes them, by the data of Unicode's CLDR that Babel carries.

Only for languages other than English, so that a service that speaks English alone never loads it.
"""

from functools import cache

from babel import Locale
from babel.numbers import format_decimal


@cache
def _locale(language: str) -> Locale:
    return Locale.parse(language, sep="-")


def grouped_in(number: int, language: str) -> str:
    """Format a whole number: "1.204" in German."""
    return format_decimal(number, locale=_locale(language))
