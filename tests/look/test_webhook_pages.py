"""The look of the pages of deliveries."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from litestar.testing import TestClient
from playwright.sync_api import Page

from tests.fakes.clock import FakeClock
from tests.look.gallery import forward
from tests.rigs.chromium import watch
from tests.rigs.looks import look_at
from tests.web.connections.test_connections import connect_app
from tests.web.printers.conftest import Home
from tests.web.webhooks.webhook_days import a_mixed_day
from tests.web.world import BASE_URL, WebWorld, sign_in

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture
def home(database: Path) -> Iterator[Home]:
    world = WebWorld(database, FakeClock())
    with TestClient(world.app, base_url=BASE_URL) as opened:
        account = world.add_account(opened)
        sign_in(opened)
        here = Home(world, opened, account.account_id, "")
        here.printer_id = here.add_printer("Workbench")
        yield here


def test_the_page_of_an_apps_connection_is_accessible_and_fits(page: Page, home: Home) -> None:
    connection_id = connect_app(home)
    a_mixed_day(home.world, home.browser, connection_id, home.printer_id)
    page.route(f"{BASE_URL}/**", lambda route: forward(route, home.browser))
    seen = watch(page)
    page.goto(f"{BASE_URL}/connections/{connection_id}")
    page.get_by_text("Failed, trying again").wait_for()

    look_at(page, "connection")

    assert seen.errors == []
