"""The look of Live Links, for strangers and for their owner."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from litestar.testing import TestClient
from PIL import Image
from playwright.sync_api import Page

from printreach.contract.status import State
from printreach.hub.connections.live_links import LiveWish
from tests.fakes.clock import FakeClock
from tests.look.gallery import forward
from tests.rigs.chromium import watch
from tests.rigs.looks import DESKTOP, PHONE, Size, look_at
from tests.web.connections.conftest import SNAPSHOT, Shown, at_print, make_link
from tests.web.printers.conftest import Home, printing
from tests.web.world import BASE_URL, WebWorld, sign_in

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def photograph() -> bytes:
    """A picture in the shape of a webcam's."""
    drawn = Image.linear_gradient("L").resize((1280, 720)).convert("RGB")
    out = io.BytesIO()
    drawn.save(out, "JPEG")
    return out.getvalue()


@pytest.fixture
def home(database: Path) -> Iterator[Home]:
    world = WebWorld(database, FakeClock())
    with TestClient(world.app, base_url=BASE_URL) as opened:
        account = world.add_account(opened)
        here = Home(world, opened, account.account_id, "")
        here.printer_id = here.add_printer("Workbench")
        here.says(at_print("print-1"))
        world.printers.raw[SNAPSHOT] = ("image/jpeg", photograph())
        yield here


@pytest.fixture
def own_page(page: Page, home: Home) -> Page:
    """A page of the installation, in this process; its stream says nothing."""
    page.route(f"{BASE_URL}/**", lambda route: forward(route, home.browser))
    page.route(f"{BASE_URL}/**/events*", lambda _: None)
    return page


def test_a_live_page_is_accessible_and_fits(own_page: Page, home: Home) -> None:
    link = make_link(home, LiveWish(shows_names=True, ends_with_print=True))
    seen = watch(own_page)
    own_page.goto(f"{BASE_URL}/live/{link.live_id}")
    own_page.get_by_text("Layer 148 of 240").wait_for()

    look_at(own_page, "live")

    assert seen.errors == []


def test_values_of_a_lost_stream_look_old_and_can_be_read(own_page: Page, home: Home) -> None:
    own_page.route(f"{BASE_URL}/**/events*", lambda route: route.abort())
    link = make_link(home, LiveWish(shows_names=True))
    own_page.goto(f"{BASE_URL}/live/{link.live_id}")
    own_page.get_by_text("Reconnecting").wait_for()

    look_at(own_page, "live-lost")

    left = own_page.locator("[data-ages] b").first
    assert left.evaluate("each => getComputedStyle(each).fontStyle") == "italic"


def test_the_page_of_an_ended_link_is_accessible_and_fits(own_page: Page, home: Home) -> None:
    sign_in(home.browser)
    link = make_link(home, LiveWish(shows_names=True))
    home.get()
    Shown(home, link).end()
    own_page.goto(f"{BASE_URL}/live/{link.live_id}")
    own_page.get_by_text("This live view has ended").wait_for()

    look_at(own_page, "live-ended")


def test_the_pages_of_ones_own_links_are_accessible_and_fit(own_page: Page, home: Home) -> None:
    sign_in(home.browser)
    make_link(home)
    make_link(home, LiveWish(ends_with_print=True))
    own_page.goto(f"{BASE_URL}/connections")
    own_page.get_by_text("Create a Live Link").wait_for()
    look_at(own_page, "live-links")
    own_page.goto(f"{BASE_URL}/connections/live")

    look_at(own_page, "live-link-form")


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=lambda size: size.name)
def test_the_line_about_the_link_stands_apart(own_page: Page, home: Home, size: Size) -> None:
    home.says(printing(state=State.IDLE))
    link = make_link(home, LiveWish())
    own_page.set_viewport_size({"width": size.width, "height": size.height})
    own_page.goto(f"{BASE_URL}/live/{link.live_id}")
    line = own_page.get_by_text("Somebody is sharing this view").bounding_box()
    above = own_page.locator(".quick-view").bounding_box()

    assert line is not None
    assert above is not None
    assert line["y"] - (above["y"] + above["height"]) >= 16
