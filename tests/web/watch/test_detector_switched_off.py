"""A service whose operator has switched failure detection off says so on its pages."""

from collections.abc import Mapping

import pytest

from printreach.contract.events import EventType
from tests.web.printers.conftest import Home
from tests.web.prints.test_history import hear, told
from tests.web.watch.detector_form import FORM
from tests.web.watch.watching import chosen, failing, saw, under_watch

SWITCHED_OFF = "Failure detection is switched off on this service"


@pytest.fixture
def world_settings() -> Mapping[str, str]:
    return {"DETECTOR_WATCH": "false"}


@pytest.fixture
def home(home: Home) -> Home:
    home.says(under_watch())
    return home


def test_the_page_of_a_printer_says_that_nobody_looks_at_its_print(home: Home) -> None:
    page = home.get().text

    assert SWITCHED_OFF in page
    assert "Not checked yet" not in page
    assert "First check" not in page
    assert "Stop watching this print" not in page
    assert "About failure detection" not in page
    assert "notified" not in page


def test_the_settings_say_that_nobody_looks_and_keep_what_is_chosen(home: Home) -> None:
    page = home.get("/detector").text
    assert SWITCHED_OFF in page
    assert "Stop watching this print" not in page
    assert "switched off on this service" in home.get("/settings").text

    home.send("/detector", **FORM | {"warning_level": "3"})
    assert chosen(home).warning_level == 3


def test_the_history_says_why_nothing_is_kept_of_a_print(home: Home) -> None:
    hear(home, told(home, EventType.STARTED, 1))
    page = home.get("/history/print?id=print-1").text

    assert SWITCHED_OFF in page
    assert "is kept for a week" not in page


def test_what_was_seen_before_it_was_switched_off_is_still_shown(home: Home) -> None:
    saw(home, *failing(home))
    page = home.get().text

    assert "Quality from" in page
    assert SWITCHED_OFF in page
