"""A printer is shared with a person, by two accounts on a phone; and how the pages look."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from printreach.contract.status import State
from printreach.rules.printers.members import Role
from tests.look.gallery import forward, stay
from tests.look.test_webhook_pages import home
from tests.rigs.chromium import watch
from tests.rigs.looks import SIZES, Size, look_at
from tests.web.printers.conftest import Home, printing
from tests.web.printers.members import CLEO, EVE, browser_of, invitation, let_in, path_of
from tests.web.world import ADA, BASE_URL, Browser, send

__all__ = ["home"]

pytestmark = [pytest.mark.slow, pytest.mark.browser]

EVERY_SIZE = (*SIZES, Size("small", 320, 568), Size("landscape", 844, 390))
LONG = f"{'a-name-as-long-as-some-are.' * 2}eve@mail.a-company-of-some-length.example"


class Answers:
    """Whoever is signed in there now gets the page's requests; no stream of events is opened."""

    def __init__(self, page: Page, browser: Browser) -> None:
        self.browser = browser
        page.route(f"{BASE_URL}/**", self._answer)

    def _answer(self, route: Route) -> None:
        if "/events" in route.request.url:
            stay(route)
        else:
            forward(route, self.browser)


def test_a_person_is_let_in_and_their_access_ended_by_keyboard_on_a_phone(
    page: Page, home: Home
) -> None:
    home.says(printing())
    home.world.add_account(home.browser, EVE)
    seen = watch(page)
    answers = Answers(page, home.browser)
    page.goto(BASE_URL + home.path)
    page.get_by_role("link", name="Share", exact=True).press("Enter")
    page.get_by_label("Can control").press(" ")
    page.get_by_role("button", name="Share").press("Enter")
    link = page.locator("#once-1").inner_text()
    look_at(page, "people-link")

    with browser_of(home, EVE) as eve:
        answers.browser = eve
        page.goto(link)
        page.get_by_text(f"{ADA} shares this printer with you.").wait_for()
        page.get_by_role("button", name="Accept").press("Enter")
        expect(page.get_by_text("Shared by")).to_be_visible()
        assert page.get_by_role("button", name="Pause").is_visible()
        assert page.get_by_role("link", name="Settings").count() == 0
        send(eve, f"{home.path}/pause")
        page.goto(f"{BASE_URL}/printers")
        expect(page.get_by_text("Shared by ada@example.org")).to_be_visible()
        look_at(page, "people-list")

        answers.browser = home.browser
        page.goto(f"{BASE_URL}{home.path}/history")
        expect(page.get_by_text(f"by {EVE}")).to_be_visible()
        page.goto(f"{BASE_URL}{home.path}/people")
        expect(page.get_by_text("last here")).to_be_visible()
        page.get_by_role("link", name="End access").press("Enter")
        look_at(page, "people-end")
        page.get_by_role("button", name="End access").press("Enter")
        expect(page.get_by_text("Nobody but you.")).to_be_visible()

        answers.browser = eve
        page.goto(BASE_URL + home.path)
        expect(page.get_by_text(re.compile("isn.t in your account"))).to_be_visible()
    assert [error for error in seen.errors if "404" not in error] == []


def test_the_page_of_people_is_accessible_and_fits(page: Page, home: Home) -> None:
    home.says(printing(state=State.PAUSED))
    let_in(home, LONG, Role.CONTROL)
    let_in(home, EVE, Role.WATCH)
    invitation(home, Role.WATCH, CLEO)
    invitation(home, Role.CONTROL, uses=5)
    seen = watch(page)
    Answers(page, home.browser)
    page.goto(f"{BASE_URL}{home.path}/people")
    expect(page.get_by_text("A link for 5 people")).to_be_visible()

    look_at(page, "people", sizes=EVERY_SIZE)

    page.get_by_label("E-mail address").fill(ADA)
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_role("alert")).to_contain_text("This is your own address.")
    assert [error for error in seen.errors if "400" not in error] == []


def test_the_pages_of_an_invitation_are_accessible_and_fit(page: Page, home: Home) -> None:
    home.says(printing())
    home.world.add_account(home.browser, EVE)
    made, over = invitation(home, Role.WATCH), f"{BASE_URL}/shared?token=none"
    with browser_of(home, EVE) as eve:
        Answers(page, eve)
        page.goto(BASE_URL + path_of(made))
        look_at(page, "people-offer", sizes=EVERY_SIZE)
        page.goto(over)
        look_at(page, "people-offer-over")
        page.goto(BASE_URL + path_of(made))
        page.get_by_role("button", name="Accept").click()
        expect(page.get_by_text("Shared by")).to_be_visible()
        look_at(page, "people-shared-with-me", sizes=EVERY_SIZE)
        page.goto(f"{BASE_URL}{home.path}/leave")
        look_at(page, "people-leave")
        eve.cookies.clear()
        page.goto(BASE_URL + path_of(made))
        look_at(page, "people-offer-signed-out", sizes=EVERY_SIZE)
