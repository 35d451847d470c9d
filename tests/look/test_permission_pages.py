"""The look of a connection's permissions: in the portal, on its page, and when sharing."""

import pytest
from playwright.sync_api import Page, expect

from tests.look.gallery import forward
from tests.look.test_webhook_pages import home
from tests.rigs.chromium import watch
from tests.rigs.looks import look_at
from tests.web.connections.test_connections import connect_app
from tests.web.printers.conftest import Home
from tests.web.world import BASE_URL, send

__all__ = ["home"]

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_an_owner_takes_the_camera_from_a_connection(page: Page, home: Home) -> None:
    connection_id = connect_app(home)
    page.route(f"{BASE_URL}/**", lambda route: forward(route, home.browser))
    seen = watch(page)
    page.goto(f"{BASE_URL}/connections/{connection_id}")
    page.get_by_label("See the camera").uncheck()
    page.get_by_label("own web page").uncheck()  # which includes the camera
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved. The change applies now.").wait_for()

    look_at(page, "connection-permissions")

    assert not page.get_by_label("See the camera").is_checked()
    assert page.get_by_label("Control prints").is_checked()
    page.goto(f"{BASE_URL}/connections")
    page.get_by_text("without camera and its web page").wait_for()
    look_at(page, "connections-limited")
    assert seen.errors == []


def test_an_owner_chooses_what_a_share_may_do(page: Page, home: Home) -> None:
    page.route(f"{BASE_URL}/**", lambda route: forward(route, home.browser))
    page.goto(f"{BASE_URL}/connections/share")

    look_at(page, "share-permissions")

    expect(page.get_by_label("own web page")).not_to_be_checked()
    page.get_by_role("button", name="Share").click()
    page.get_by_text("Your printer is shared").wait_for()
    send(home.browser, "/connections/done")
