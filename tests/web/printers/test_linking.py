"""A printer that was linked by its code."""

from tests.web.portal.people import show_code
from tests.web.printers.conftest import Home
from tests.web.world import send


def test_who_linked_a_printer_by_its_code_is_told_that_it_is_linked(home: Home) -> None:
    code = show_code(home.world, home.browser)
    answer = send(home.browser, "/link", code=code, name="Garage")

    assert "The printer is linked." in home.browser.get(answer.headers["location"]).text
