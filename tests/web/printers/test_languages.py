"""All that the pages of a printer say can be translated; names and numbers are none of it."""

import re

import pytest

from tests.languages.conftest import known_brackets
from tests.web.printers.conftest import Home
from tests.web.test_languages import GERMAN, text_outside_brackets

__all__ = ["known_brackets"]

OF_A_PRINTER = (
    "",
    *("/control", "/files", "/history", "/settings", "/detector", "/people", "/remove", "/stop"),
    *("/emergency-stop", "/open"),
)
PAGES = (
    *("/printers", "/activity", "/connections", "/connections/share", "/connections/live"),
    *("/notifications", "/notifications/add", "/notifications/add?way=ntfy", "/link"),
    *("/stop-everything", "/remote-lock", "/account/presets", "/account/supporter"),
)
NAMES = (
    "Workbench",
    "vase",
    "gcode",
    "cam0",
    "Klipper",
    "PLA",
    "PETG",
    "TPU",
    "my-printers-x7f3",
    "ntfy.sh",
    "Bambu Lab",
    "Duet",
    "Elegoo",
    "PrusaLink",
    "Simulated printer",
    "Moonraker",
    "Mainsail",
    "ntfy",
    "Telegram",
)

GIVEN = ("Workbench", "vase", "cam0", "Europe/Berlin")
"""Names that people, their printers or others have given; a text may be the same."""
PLACEHOLDER = re.compile(r' placeholder="[^"]*"')


def names_made_texts(page: str) -> list[str]:
    """The names of things on a page that a catalogue was asked for."""
    shown = PLACEHOLDER.sub("", page).replace("<wbr>", "")
    return [name for name in GIVEN if f"⟦{name}⟧" in shown]


@pytest.mark.parametrize("page", OF_A_PRINTER)
def test_all_of_a_page_of_a_printer_can_be_translated(
    page: str, home: Home, known_brackets: str
) -> None:
    answer = home.browser.get(f"{home.path}{page}", headers=GERMAN)

    assert answer.status_code == 200
    assert text_outside_brackets(answer.text, NAMES) == []
    assert names_made_texts(answer.text) == []


@pytest.mark.parametrize("page", PAGES)
def test_all_of_a_page_of_the_account_can_be_translated(
    page: str, home: Home, known_brackets: str
) -> None:
    answer = home.browser.get(page, headers=GERMAN)

    assert answer.status_code == 200
    assert text_outside_brackets(answer.text, NAMES) == []
    assert names_made_texts(answer.text) == []
