"""A flash message belongs to what was done: it appears once, and no address holds it."""

import pytest

from printreach.contract.status import State
from printreach.hub.printers import own as own_printers
from tests.web.operators.conftest import office as office
from tests.web.printers.conftest import Home, printing
from tests.web.printers.conftest import home as home
from tests.web.world import send, sign_in

SAVED = "The name is saved."
NOT_YET = {
    "/pause": State.PRINTING,
    "/resume": State.PAUSED,
    "/stop": State.PRINTING,
    "/files/start": State.IDLE,
}


def test_a_page_says_once_what_its_form_did(home: Home) -> None:
    where = home.send("/settings", name="Lathe").headers["location"]

    first, again = home.browser.get(where).text, home.browser.get(where).text

    assert SAVED in first
    assert SAVED not in again
    assert "Lathe" in again


def test_a_bookmark_of_such_an_address_says_nothing(home: Home) -> None:
    assert SAVED not in home.get("/settings?said=name").text


def test_an_address_that_spells_the_field_otherwise_says_nothing(home: Home) -> None:
    for field in ("%73aid", "sai%64", "%73%61%69%64"):
        assert (
            "Remote control is unlocked" not in home.browser.get(f"/printers?{field}=unlocked").text
        )


def test_a_script_that_loads_the_page_leaves_the_words_for_the_person(home: Home) -> None:
    where = home.send("/settings", name="Lathe").headers["location"]

    home.browser.get(where, headers={"sec-fetch-dest": "empty"})

    assert SAVED in home.browser.get(where).text


def test_a_page_that_the_service_worker_passes_on_has_shown_the_words(home: Home) -> None:
    where = home.send("/settings", name="Lathe").headers["location"]
    by_the_worker = {"sec-fetch-dest": "empty", "sec-fetch-mode": "navigate"}

    assert SAVED in home.browser.get(where, headers=by_the_worker).text
    assert SAVED not in home.browser.get(where).text


def test_no_address_names_what_was_done(home: Home) -> None:
    for path, fields in (("/pause", {}), ("/settings", {"name": "Lathe"})):
        assert "?" not in home.send(path, **fields).headers["location"]


def test_the_words_of_one_form_are_not_said_for_another(home: Home) -> None:
    home.send("/settings", name="Lathe")

    for path in ("", "/control", "?said=stop", "?said=name"):
        page = home.get(path).text
        assert "Stopping the print." not in page
        assert SAVED not in page


def test_a_script_that_shows_the_answer_in_place_has_shown_the_words(home: Home) -> None:
    where = home.send("/settings", name="Lathe").headers["location"]
    as_script = {"sec-fetch-dest": "empty", "x-in-place": where}

    assert SAVED in home.browser.get(where, headers=as_script).text
    assert SAVED not in home.browser.get(where).text


@pytest.mark.parametrize("open_page", ["", "yes", "/printers", "/"])
def test_a_page_that_a_script_goes_to_keeps_the_words_for_a_person(
    home: Home, open_page: str
) -> None:
    where = home.send("/settings", name="Lathe").headers["location"]
    home.browser.get(where, headers={"sec-fetch-dest": "empty", "x-in-place": open_page})

    assert SAVED in home.browser.get(where).text


def test_a_refusal_that_is_shown_in_place_is_no_error_in_the_browsers_console(home: Home) -> None:
    alone = home.send("/heat", hotend="999")
    home.browser.headers["X-In-Place"] = f"{home.path}/control"
    in_place = home.send("/heat", hotend="999")

    assert (alone.status_code, in_place.status_code) == (400, 200)
    assert in_place.text == alone.text
    assert "aria-invalid" in in_place.text


@pytest.mark.parametrize(
    ("path", "state", "words"),
    [
        ("/pause", State.PAUSED, "Paused."),
        ("/pause", State.COMPLETE, "Pausing. It may take a moment."),
        ("/resume", State.PRINTING, "Resumed."),
        ("/stop", State.CANCELLED, "The print is stopped."),
        ("/files/start", State.WARMING_UP, "The print has begun."),
    ],
)
def test_a_message_claims_what_the_printer_shows(
    home: Home, path: str, state: State, words: str
) -> None:
    home.says(printing(state=state))
    where = home.send(path, path="gcode/vase.gcode").headers["location"]

    assert f'<p class="toast">{words}</p>' in home.browser.get(where).text


@pytest.mark.parametrize(
    ("path", "fields", "words"),
    [
        ("/heat", {"bed": "0"}, "was sent to the printer"),
        ("/light", {"name": "case", "on": "no"}, "was sent to the printer"),
        ("/move", {"step": "X+10"}, "was sent to the printer"),
        ("/home", {}, "The printer was told to home."),
    ],
)
def test_nothing_is_claimed_that_the_printer_does_not_show(
    home: Home, path: str, fields: dict[str, str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_printers, "EFFECT_S", 0.1)
    where = home.send(path, **fields).headers["location"]

    assert words in home.browser.get(where).text


@pytest.mark.parametrize("path", ["/pause", "/resume", "/stop", "/files/start"])
def test_an_order_that_the_printer_does_not_show_yet_may_take_a_moment(
    home: Home, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_printers, "EFFECT_S", 0.1)
    home.says(printing(state=NOT_YET[path]))
    where = home.send(path, path="gcode/vase.gcode").headers["location"]

    assert "It may take a moment." in home.browser.get(where).text


def test_words_stay_until_a_page_shows_them(home: Home) -> None:
    where = home.send("/settings", name="Lathe").headers["location"]
    send(home.browser, "/signout")
    sent_away = home.browser.get(where, follow_redirects=False)
    sign_in(home.browser)

    assert sent_away.status_code == 303
    assert SAVED in home.browser.get(where).text


def test_a_link_to_the_sign_in_names_no_words_for_the_page_behind_it(home: Home) -> None:
    send(home.browser, "/signout")
    for path in ("/printers?said=removed", "/printers?%73aid=removed"):
        led_to = sign_in(home.browser, next=path).headers["location"]

        assert "The printer was removed" not in home.browser.get(led_to).text
        assert led_to == "/printers"


def test_head_leaves_the_words_for_the_person(home: Home) -> None:
    where = home.send("/settings", name="Lathe").headers["location"]

    home.browser.head(where)

    assert SAVED in home.browser.get(where).text


def test_an_address_with_two_words_says_neither(home: Home) -> None:
    assert SAVED not in home.get("/settings?said=name&said=stop").text
