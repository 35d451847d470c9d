"""Names of printers, shares, apps and keys: what is invisible is refused, but within an emoji."""

import pytest

from printreach.rules.printers import parse_printer_name
from printreach.rules.safe_text import is_printable_name

ZWJ = "\u200d"
ASTRONAUT = f"\U0001f469{ZWJ}\U0001f680"
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@pytest.mark.parametrize(
    "name",
    [
        "Workbench",
        f"Sam {ASTRONAUT} \u05e9\u05dd",
        f"\U0001f469\U0001f3fd{ZWJ}\U0001f680 Ada",
        f"\u2764\ufe0f{ZWJ}\U0001f525",
        f"\U0001f9d1{ZWJ}\U0001f91d{ZWJ}\U0001f9d1",
        f"\U0001f642{ZWJ}\u2194\ufe0f",
        ENGLAND,
    ],
)
def test_a_name_may_have_any_emoji(name: str) -> None:
    assert parse_printer_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        f"a{ZWJ}b",
        f"{ZWJ}\U0001f680",
        f"\U0001f680{ZWJ}",
        f"\U0001f680{ZWJ}{ZWJ}\U0001f680",
        "a\u202eb",
        "a\nb",
        "a\u200bb",
        "a\U000e0067\U000e007f",
    ],
)
def test_nothing_else_in_a_name_is_invisible(name: str) -> None:
    assert not is_printable_name(name)
