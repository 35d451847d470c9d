"""Readings in words: the filters of every template.

A time of day depends on the reader's time zone, which a server does not know. So `clock` and others
write UTC and mark it, and the script replaces it by the reader's own time.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

from markupsafe import Markup, escape

from printreach.languages import N_, _, grouped, ngettext, punctuated, translate
from printreach.languages.values import (
    day_in_words,
    day_of_year_in_words,
    decimal,
    duration,
    month_in_words,
)
from printreach.rules.detection.detector import quality_in_words

_NAME_PARTS: Final = re.compile(r"\.?[^_.=-]+(?:\.\d[^_.=-]*)*[_=-]*|[_.=-]+")
"""The words of a name: "part_", "0.2mm", ".gcode", "PRINTREACH_", "SUPPORTERS=". """
_OPENING_QUOTE: Final = re.compile(r"(?<![^\s(])'(?=\S)")
_UNITS: Final = (N_("kB"), N_("MB"), N_("GB"), N_("TB"))


def typeset(text: str) -> str:
    """Translate a sentence that also goes into logs and JSON, and curl its apostrophes and
    quotation marks."""
    opened = _OPENING_QUOTE.sub("\N{LEFT SINGLE QUOTATION MARK}", translate(text))
    return opened.replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")


def size(byte_count: int) -> str:
    """Format a file's size as file lists do: "512 bytes", "1.4 MB"; a kB is 1000 bytes."""
    if byte_count < 1000:
        return ngettext("%(num)s byte", "%(num)s bytes", byte_count)
    power = 1
    while power < len(_UNITS) and byte_count >= 999.5 * 1000**power:
        power += 1
    amount = byte_count / 1000**power
    return f"{decimal(amount, 1 if amount < 9.95 else 0)} {translate(_UNITS[power - 1])}"


def filament_words(length_mm: int, weight_mg: int) -> str:
    """Return the weight if known, else the length; "" if neither is known."""
    if weight_mg > 0:
        grams = weight_mg / 1000
        return f"{decimal(grams / 1000, 1)} kg" if grams >= 1000 else f"{grams:.0f} g"
    return f"{decimal(length_mm / 1000, 1)} m" if length_mm > 0 else ""


def degrees(celsius: float) -> str:
    """Format a temperature in whole degrees: "215°"."""
    return f"{celsius:.0f}°"


def target_range(maximum_c: float) -> str:
    """Say which targets a heater takes: "0 to 260 whole degrees"."""
    return _("0 to %(maximum)s whole degrees", maximum=punctuated(f"{maximum_c:g}"))


HEATERS: Final[Mapping[str, str]] = MappingProxyType(
    {"hotend": N_("Hotend"), "bed": N_("Bed"), "chamber": N_("Chamber")}
)


def heater(name: str) -> str:
    """Return the label of a heater. name: "hotend", "bed" or "chamber"."""
    return translate(HEATERS[name])


def percent(value: float) -> str:
    """Format a progress; it is 100 only when complete."""
    return _("%(number)s%%", number=int(value))


def breakable(name: str) -> Markup:
    """Let a long name go on in the next line between its words, not within one."""
    return Markup("<wbr>").join(_NAME_PARTS.findall(name))


def with_settings(sentence: str) -> Markup:
    """Let the name of a setting go on in the next line only where it is longer than a line."""
    whole = Markup('<span class="whole">{}</span>')
    words = sentence.split()
    return Markup(" ").join(
        whole.format(breakable(word)) if "_" in word else escape(word) for word in words
    )


def clock(at: datetime) -> Markup:
    """Format a time of day: "14:02", once the reader's zone is known."""
    return _time(at, "clock", f"{at.astimezone(UTC):%H:%M} UTC")


def near(at: datetime) -> Markup:
    """Format a time around now: "14:02" if it is today where the reader is, else with the date."""
    utc = at.astimezone(UTC)
    return _time(at, "near", f"{day_of_year_in_words(utc)}, {utc:%H:%M} UTC")


def day(at: datetime) -> Markup:
    """Format a date: "20 December 2026"."""
    utc = at.astimezone(UTC)
    return _time(at, "day", day_in_words(utc))


def moment(at: datetime) -> Markup:
    """Format a date with its time of day: "20 December 2026, 18:00"."""
    utc = at.astimezone(UTC)
    return _time(at, "moment", f"{day_in_words(utc)}, {utc:%H:%M} UTC")


def _time(at: datetime, kind: str, text: str) -> Markup:
    return Markup('<time datetime="{}" data-time="{}">{}</time>').format(
        at.astimezone(UTC).isoformat(timespec="seconds"), kind, text
    )


FILTERS: Final[Mapping[str, Callable[..., str]]] = MappingProxyType(
    {
        "typeset": typeset,
        "breakable": breakable,
        "with_settings": with_settings,
        "number": grouped,
        "punctuated": punctuated,
        "duration": duration,
        "quality": quality_in_words,
        "size": size,
        "degrees": degrees,
        "heater": heater,
        "target_range": target_range,
        "percent": percent,
        "clock": clock,
        "near": near,
        "day": day,
        "moment": moment,
        "plain_day": day_in_words,
        "calendar_day": day_of_year_in_words,
        "month": month_in_words,
    }
)
"""From a filter's name in templates to its function."""
