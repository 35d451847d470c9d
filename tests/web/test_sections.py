"""Wherever the sections of the signed-in pages lead, there is a page."""

import re

from tests.web.world import Browser, WebWorld, sign_in


def test_every_section_has_its_page(world: WebWorld, browser: Browser) -> None:
    world.add_account(browser)
    sign_in(browser)
    navigations = re.findall(r"<nav.*?</nav>", browser.get("/account").text, re.DOTALL)
    places = {place for one in navigations for place in re.findall(r'href="([^"]+)"', one)}

    assert {"/printers", "/connections", "/account"} <= places
    for place in places:
        assert browser.get(place).status_code == 200, place
