"""Webcams and uploads, as scripts refresh them."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.look.gallery import HOST, let_requests_arrive, run_until, show_tab, stop_clock, until
from tests.rigs.chromium import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.browser]

PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"/>'
TOO_LARGE = '<main><h1>No</h1><p class="lead">Files may have up to 1 GB.</p></main>'


class Camera:
    """Counts who asks for the picture; covered, it has none to give."""

    def __init__(self, page: Page) -> None:
        self.asked = 0
        self.is_covered = False
        page.route(f"{HOST}/picture.jpg?*", self._answer)

    def _answer(self, route: Route) -> None:
        self.asked += 1
        if self.is_covered:
            route.fulfill(status=502)
        else:
            route.fulfill(content_type="image/svg+xml", body=PICTURE)


def test_a_still_is_asked_for_again_and_then_replaced(page: Page) -> None:
    camera = Camera(page)
    stop_clock(page)
    page.goto(f"{HOST}/printer")
    page.clock.run_for(11_000)  # a second until it is found, and the ten of this picture
    until(page, lambda: camera.asked > 0)  # not run_until: more seconds would ask once more
    wait_until(page, "document.querySelector('.webcam img').naturalWidth == 4")

    assert camera.asked == 1
    expect(page.locator(".age")).to_have_text("Live", use_inner_text=True)


def test_a_picture_that_does_not_come_says_its_age(page: Page) -> None:
    camera = Camera(page)
    camera.is_covered = True
    stop_clock(page)
    page.goto(f"{HOST}/printer")
    page.clock.run_for(25_000)

    expect(page.locator(".age")).to_have_text("Picture from 25 s ago", use_inner_text=True)


def test_nothing_is_asked_for_while_the_tab_is_hidden(page: Page) -> None:
    camera = Camera(page)
    stop_clock(page)
    page.goto(f"{HOST}/printer")
    show_tab(page, "hidden")
    page.clock.run_for(25_000)
    let_requests_arrive(page)
    assert camera.asked == 0

    show_tab(page, "visible")
    run_until(page, lambda: camera.asked > 0)


@pytest.fixture
def gcode(tmp_path: Path) -> Path:
    path = tmp_path / "vase.gcode"
    path.write_text("G28\n" * 1000)
    return path


def test_an_upload_ends_on_the_page_that_the_server_names(page: Page, gcode: Path) -> None:
    page.route(f"{HOST}/files", lambda route: route.fulfill(content_type="text/html", body="Here"))
    page.goto(f"{HOST}/form")
    page.set_input_files("#upload", gcode)
    page.get_by_role("button", name="Upload", exact=True).click()

    expect(page).to_have_url(f"{HOST}/files")
    expect(page.locator("body")).to_have_text("Here")


def test_a_refused_upload_says_why_and_can_be_tried_again(page: Page, gcode: Path) -> None:
    def refuse(route: Route) -> None:
        route.fulfill(status=413, content_type="text/html", body=TOO_LARGE)

    page.route(f"{HOST}/files", refuse)
    page.goto(f"{HOST}/form")
    page.set_input_files("#upload", gcode)
    page.get_by_role("button", name="Upload", exact=True).click()

    expect(page.locator(".upload-state")).to_contain_text("Files may have up to 1 GB.")
    expect(page.get_by_role("button", name="Upload", exact=True)).to_be_enabled()
    expect(page).to_have_url(f"{HOST}/form")
