"""Pages of a printer with cameras, in a browser on a phone or a desktop."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from litestar.testing import TestClient
from msgspec.structs import replace as replaced
from playwright.sync_api import Locator, Page, Route, ViewportSize

from printreach.contract.status import StatusResult, WebcamEntry, WebcamList
from tests.fakes.clock import FakeClock
from tests.look.gallery import forward, picture_of_the_room, stay
from tests.rigs.looks import PHONE, Size
from tests.web.printers.conftest import Home, printing
from tests.web.world import BASE_URL, WebWorld, sign_in

SMALL_PHONE = Size("small-phone", 320, 568)
ON_ITS_SIDE = Size("phone-on-its-side", 844, 390)
TWO_NAMES = ("Over the plate", "Nozzle")
PICTURE = picture_of_the_room()


def with_cameras(status: StatusResult, *cameras: WebcamEntry) -> StatusResult:
    return replaced(status, list_webcams=WebcamList(webcams=list(cameras)))


def two_cameras(status: StatusResult | None = None) -> StatusResult:
    return with_cameras(status or printing(), *(WebcamEntry(name=name) for name in TWO_NAMES))


@pytest.fixture
def home(database: Path) -> Iterator[Home]:
    world = WebWorld(database, FakeClock())
    with TestClient(world.app, base_url=BASE_URL) as opened:
        account = world.add_account(opened)
        assert sign_in(opened).status_code == 303
        here = Home(world, opened, account.account_id, "")
        here.printer_id = here.add_printer("Workbench")
        here.says(printing())
        yield here


def show(
    page: Page,
    home: Home,
    path: str = "",
    size: Size = PHONE,
    events: Callable[[Route], None] = stay,
) -> Locator:
    """Open a page of the printer, and return its pictures. events: answers the page's stream."""
    page.set_viewport_size(window(size))
    page.route(f"{BASE_URL}/**", lambda route: forward(route, home.browser))
    page.route("**/events*", events)
    for pictures in ("**/webcam/**", "**/picture*"):
        page.route(pictures, send_picture)
    page.goto(f"{BASE_URL}{path if path.startswith('/live') else home.path + path}")
    return page.locator(".picture")


class Stream:
    """Answers a page's event stream: each connection gets what was said since the one before, and
    the page doesn't connect again by itself.
    """

    def __init__(self) -> None:
        self._said = ""

    def says(self, event: str, **data: str) -> None:
        self._said += f"event: {event}\ndata: {json.dumps(data)}\n\n"

    def answer(self, route: Route) -> None:
        said, self._said = self._said, ""
        body = f"retry: 600000\n\n{said}"
        route.fulfill(content_type="text/event-stream", body=body)


def window(size: Size) -> ViewportSize:
    return {"width": size.width, "height": size.height}


def send_picture(route: Route) -> None:
    route.fulfill(body=PICTURE, content_type="image/jpeg")
