"""Which picture is called live: one that is brought up to date, and no other."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.look.camera_pages import PICTURE, home, show
from tests.look.gallery import run_until, stop_clock
from tests.web.printers.conftest import Home

__all__ = ["home"]

pytestmark = [pytest.mark.slow, pytest.mark.browser]


class Camera:
    """A printer's stream, whose picture is the same each time. It comes while it is on."""

    def __init__(self, page: Page, home: Home) -> None:
        self.is_on = False
        self.asked = 0
        show(page, home, events=_beat)
        page.route("**/webcam/stream*", self._answer)
        stop_clock(page)
        page.reload()
        self.label = page.locator(".picture > .webcam .age")

    def _answer(self, route: Route) -> None:
        self.asked += 1
        if self.is_on:
            route.fulfill(body=PICTURE, content_type="image/jpeg")
        else:
            route.fulfill(status=404)


def _beat(route: Route) -> None:
    body = "retry: 200\n\nevent: beat\ndata: {}\n\n"
    route.fulfill(content_type="text/event-stream", body=body)


def test_before_the_first_picture_it_says_that_it_connects(page: Page, home: Home) -> None:
    camera = Camera(page, home)
    page.clock.run_for(5_000)
    expect(camera.label).to_have_text("Connecting…", use_inner_text=True)

    camera.is_on = True
    run_until(page, lambda: camera.label.inner_text() == "Live")


def test_a_picture_at_rest_stays_live_while_new_streams_bring_it(page: Page, home: Home) -> None:
    camera = Camera(page, home)
    camera.is_on = True
    run_until(page, lambda: camera.label.inner_text() == "Live")
    for asked in range(2, 6):
        run_until(page, lambda: camera.asked > asked)  # noqa: B023 - it is called at once
        page.wait_for_timeout(50)

        expect(camera.label).to_have_text("Live", use_inner_text=True)


def test_of_a_stream_that_stopped_it_says_since_when(page: Page, home: Home) -> None:
    camera = Camera(page, home)
    camera.is_on = True
    run_until(page, lambda: camera.label.inner_text() == "Live")

    def says(pattern: str) -> bool:
        return re.fullmatch(pattern, camera.label.inner_text()) is not None

    camera.is_on = False
    run_until(page, lambda: says(r"Picture from \d\d s ago"))
    run_until(page, lambda: says(r"No picture since \d\d:\d\d"))

    camera.is_on = True
    run_until(page, lambda: camera.label.inner_text() == "Live")


def test_without_scripts_nothing_is_called_live(home: Home) -> None:
    page = home.get().text

    assert '<html lang="en" class="no-script">' in page
    assert 'class="age of-live"' in page
