"""The page of all printers."""

from datetime import timedelta

import pytest

from printreach.contract.status import State
from tests.fakes.printer_http import OFFLINE
from tests.web.printers.conftest import Home, printing


def test_a_printer_is_shown_with_what_it_does(home: Home) -> None:
    page = home.browser.get("/printers").text

    assert "Workbench" in page
    assert "vase.gcode" in page
    assert "1 h 12 min left" in page
    assert f'action="{home.path}/pause"' in page


def test_nobody_sees_printers_without_signing_in(home: Home) -> None:
    home.browser.cookies.clear()
    answer = home.browser.get("/printers", follow_redirects=False)

    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/signin?next=/printers")


def test_a_filter_that_finds_nothing_says_so(home: Home, bobs_printer: str) -> None:
    home.world.printers.statuses.clear()
    page = home.browser.get("/printers?show=working").text
    assert "No matching printers." in page
    assert bobs_printer not in page


def test_another_accounts_printers_are_not_listed(home: Home, bobs_printer: str) -> None:
    assert bobs_printer not in home.browser.get("/printers").text


def test_what_needs_somebody_comes_first(home: Home) -> None:
    paused = home.add_printer("Zebra")
    home.world.printers.statuses[paused] = printing(state=State.PAUSED)
    home.add_printer("Aardvark", is_online=False)
    page = home.browser.get("/printers").text

    assert page.index("Zebra") < page.index("Workbench") < page.index("Aardvark")


def test_filters_and_search_are_links_that_find(home: Home) -> None:
    home.add_printer("Aardvark", is_online=False)

    def names(query: str) -> set[str]:
        page = home.browser.get(f"/printers{query}").text
        return {name for name in ("Workbench", "Aardvark") if f">{name}</a>" in page}

    assert names("") == {"Workbench", "Aardvark"}
    assert names("?show=working") == {"Workbench"}
    assert names("?show=offline") == {"Aardvark"}
    assert names("?show=attention") == set()
    assert names("?q=AARD") == {"Aardvark"}
    assert names("?q=vase") == {"Workbench"}
    assert names("?show=nonsense&page=-7") == {"Workbench", "Aardvark"}


def test_the_more_printers_the_smaller_they_are(home: Home) -> None:
    def layout() -> str:
        page = home.browser.get("/printers").text
        found = [name for name in ("wide-cards", "upright", 'class="farm"') if name in page]
        assert len(found) == 1
        return found[0]

    layouts = [layout()]
    for number in range(4):
        home.add_printer(f"P{number}", is_online=False)
    layouts.append(layout())
    for number in range(4, 24):
        home.add_printer(f"P{number}", is_online=False)

    assert [*layouts, layout()] == ["wide-cards", "upright", 'class="farm"']


def test_a_row_of_many_has_the_reason_the_last_contact_and_an_action(home: Home) -> None:
    home.world.printers.statuses[home.printer_id] = printing()
    for number in range(25):
        home.add_printer(f"P{number}", is_online=False)
    page = home.browser.get("/printers").text

    rows = {row.partition('"')[0]: row for row in page.split('<li id="printer-')[1:]}
    working = rows.pop(home.printer_id)
    assert f'action="{home.path}/pause"' in working
    assert "left" in working
    assert all("It has not connected yet." in row for row in rows.values())
    assert page.count('role="search"') == 2


@pytest.mark.slow
def test_a_farm_of_two_hundred_comes_in_pages_of_a_hundred(home: Home) -> None:
    for number in range(200):
        printer_id = home.add_printer(f"Printer {number:03}")
        home.world.printers.statuses[printer_id] = printing()
    first = home.browser.get("/printers")
    second = home.browser.get("/printers?page=2")
    last = home.browser.get("/printers?page=3")

    assert [page.text.count('<li id="printer-') for page in (first, second, last)] == [100, 100, 1]
    assert "Page 1 of 3, 201 printers" in first.text
    assert "/printers?page=2" in first.text
    assert home.browser.get("/printers?page=99").text.count('<li id="printer-') == 1


def test_script_in_names_is_text(home: Home) -> None:
    evil = "<script>alert(1)</script>"
    printer_id = home.add_printer(evil)
    home.world.printers.statuses[printer_id] = printing(file_name=f"{evil}.gcode")
    for path in ("/printers", f"/printers/{printer_id}", f"/printers/{printer_id}/control"):
        page = home.browser.get(path).text
        assert evil not in page
        assert "&lt;script&gt;alert(1)" in page


def test_apostrophes_of_a_printers_card_are_typeset(home: Home) -> None:
    home.browser.get("/printers")
    home.world.printers.statuses[home.printer_id] = OFFLINE
    home.world.clock.advance(timedelta(seconds=10))
    page = home.browser.get("/printers").text

    assert "It can\N{RIGHT SINGLE QUOTATION MARK}t be seen or stopped from here." in page
