"""The look of the pages that stop everything, show the outcome, and unlock remote control."""

import pytest
from playwright.sync_api import Page

from tests.look.gallery import forward
from tests.look.test_webhook_pages import home
from tests.rigs.chromium import watch
from tests.rigs.looks import look_at
from tests.web.printers.conftest import Home, printing
from tests.web.world import BASE_URL

__all__ = ["home"]

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_the_pages_of_the_lock_are_accessible_and_fit(page: Page, home: Home) -> None:
    home.says(printing())
    home.add_printer("A name that is about as long as one can be, and no longer")
    page.route(f"{BASE_URL}/**", lambda route: forward(route, home.browser))
    seen = watch(page)

    page.goto(f"{BASE_URL}/stop-everything")
    look_at(page, "stop-everything")
    page.get_by_role("button", name="Stop and lock").click()
    page.get_by_role("heading", name="Not everything stopped").wait_for()
    look_at(page, "stopped-everything")
    page.goto(f"{BASE_URL}/remote-lock")
    look_at(page, "remote-lock")

    assert seen.errors == []
