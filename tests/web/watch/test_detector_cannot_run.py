"""A service on which failure detection can't run says so wherever it would say that it runs."""

import pytest

from printreach.contract.events import EventType
from printreach.rules.detection.detector import DetectorOff
from printreach.web.wording import typeset
from tests.web.printers.conftest import Home
from tests.web.prints.test_history import hear, told
from tests.web.watch.detector_form import FORM
from tests.web.watch.watching import chosen, under_watch

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
        assert "Stop watching this print" not in shown, page
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
