"""The pages between a printer's page and its own interface."""

import pytest
from playwright.sync_api import Page

from tests.look.gallery import forward
from tests.look.test_webhook_pages import home
from tests.rigs.chromium import watch
from tests.rigs.looks import look_at
from tests.web.printers.conftest import Home
from tests.web.printers.test_settings import with_ports
from tests.web.world import BASE_URL, send

__all__ = ["home"]

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_the_pages_that_open_a_printer_are_accessible_and_fit(page: Page, home: Home) -> None:
    with_ports(home, range(18000, 18001))
    other = home.add_printer("Another one")
    send(home.browser, f"/printers/{other}/open")  # takes the only port
    page.route(f"{BASE_URL}/**", lambda route: forward(route, home.browser))
    seen = watch(page)

    page.goto(f"{BASE_URL}{home.path}/open")
    look_at(page, "ask-to-open")
    page.get_by_role("button", name="Open OctoPrint").click()
    page.get_by_role("heading", name="Workbench can").wait_for()
    look_at(page, "no-port")

    assert [error for error in seen.errors if "409" not in error] == []
