"""A service whose failure detection can't run, or is switched off, says so on its pages."""

from collections.abc import Mapping

import pytest

from printreach.contract.events import EventType
from printreach.rules.detector import DetectorOff
from printreach.web.wording import typeset
from tests.web.dashboard.conftest import Home
from tests.web.dashboard.detector_form import FORM
from tests.web.dashboard.watching import chosen, failing, saw, under_watch
from tests.web.history.test_history import hear, told

CANNOT_RUN = [DetectorOff.NOT_INSTALLED, DetectorOff.BROKEN, DetectorOff.NO_NODE]


@pytest.fixture(params=CANNOT_RUN)
def off(request: pytest.FixtureRequest, home: Home) -> DetectorOff:
    why = request.param
    assert isinstance(why, DetectorOff)
    home.world.scorer.off = why
    home.says(under_watch())
    return why


def test_every_page_of_a_printer_says_why_nothing_is_looked_at(
    home: Home, off: DetectorOff
) -> None:
    hear(home, told(home, EventType.STARTED, 1))
    words = str(typeset(off.value))

    for page in ("", "/detector", "/settings", "/history/print?id=print-1"):
        shown = home.get(page).text
        assert words in shown, page
        assert "Off for this print" not in shown, page
        assert "is kept for a week" not in shown, page


def test_choices_are_not_saved_as_if_it_ran(home: Home, off: DetectorOff) -> None:
    answer = home.send("/detector", **FORM | {"warning_level": "3"})
    shown = home.browser.get(answer.headers["location"]).text

    assert chosen(home).warning_level == 3
    assert "Saved for later: failure detection is off on this service." in shown


def test_the_choice_of_notifications_says_that_none_comes_of_it(
    home: Home, off: DetectorOff
) -> None:
    words = str(typeset(off.value))

    assert words in home.browser.get("/notifications").text
    assert words in home.browser.get(f"/notifications{home.path}").text


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
    assert "Not looked yet" not in page
    assert "has not looked" not in page
    assert "Off for this print" not in page
    assert "Nobody is told when it warns" not in page


def test_the_settings_say_that_nobody_looks_and_keep_what_is_chosen(home: Home) -> None:
    page = home.get("/detector").text
    assert SWITCHED_OFF in page
    assert "Off for this print" not in page
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
