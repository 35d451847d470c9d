"""Pages that hold every component with sample readings, behind the policy of the real ones.

No socket is opened: the browser's requests are answered by the application in this process.
"""

import io
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from litestar import Litestar, MediaType, Response, get
from litestar.params import FromPath
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.response import Template
from litestar.template import TemplateConfig
from litestar.testing import TestClient
from litestar.types import ControllerRouterHandler
from playwright.sync_api import BrowserContext, Page, Route

from printreach.printers.simulated.scenery import room
from printreach.web.languages import InTheReadersLanguage
from printreach.web.security import hardening
from printreach.web.templating import static_files, template_environment
from tests.fakes.clock import NOON
from tests.look import samples

HOST = "http://gallery.localhost"
TIMEOUT_S = 60.0
WRONG_CODE = {"code": "That code has run out. Get a new one from the agent."}
NO_PASSWORD = {"password": "Enter your password."}

# A bird on its nest, for an app that there is not.
_APP_LOGO = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" stroke="#3a2708"'
    ' stroke-width="7" stroke-linecap="round"><circle cx="50" cy="50" r="50" fill="#eaa23b"'
    ' stroke="none"/><path d="M28 56h44M24 66h50M32 76h36M58 40l14-12"/>'
    '<circle cx="48" cy="40" r="8" fill="#3a2708"/></svg>'
)

# Page by name: its template, and what it is given.
PAGES: dict[str, tuple[str, dict[str, object]]] = {
    "dashboard": ("dashboard.html", {"printers": samples.FOUR, "layout": "wide-cards"}),
    "dashboard-eight": ("dashboard.html", {"printers": samples.EIGHT, "layout": "upright"}),
    "farm": ("dashboard.html", {"printers": samples.farm(100), "layout": "farm"}),
    "printer": ("printer.html", {"units": [samples.UNIT], "tools": [samples.TOOL]}),
    "printer-two-units": ("printer.html", {"units": samples.TWO_UNITS, "tools": samples.TWO_TOOLS}),
    "permission": ("permission.html", {}),
    "portal-link": ("portal_link.html", {"errors": {}}),
    "portal-link-wrong": ("portal_link.html", {"errors": WRONG_CODE}),
    "portal-supporter": ("portal_supporter.html", {}),
    "once": ("once.html", {}),
    "form": ("form.html", {"errors": {}}),
    "form-wrong": ("form.html", {"errors": NO_PASSWORD}),
    "decision": ("decision.html", {}),
    "live": ("live.html", {}),
}


def gallery_app() -> Litestar:
    """Serve the pages of the gallery."""
    return application([gallery_page, picture, app_logo, events])


def application(routes: Sequence[ControllerRouterHandler], **more: Any) -> Litestar:
    """An application with our templates, built files and security headers."""
    environment = template_environment(HOST, Path(__file__).parent / "pages")
    app = Litestar(
        [*routes, static_files()],
        before_send=[hardening(requires_https=False)],
        template_config=TemplateConfig(engine=JinjaTemplateEngine.from_environment(environment)),
        openapi_config=None,
        logging_config=None,
        **more,
    )
    app.asgi_handler = InTheReadersLanguage(app.asgi_handler)
    return app


@get("/{name:str}", media_type=MediaType.HTML, sync_to_thread=False)
def gallery_page(name: FromPath[str]) -> Template:
    template, context = PAGES[name]
    return Template(template, context={"s": samples, **context})


@get("/picture.jpg", sync_to_thread=False)
def picture() -> Response[bytes]:
    return Response(picture_of_the_room(), media_type="image/jpeg")


@get("/app-logo.svg", sync_to_thread=False)
def app_logo() -> Response[str]:
    return Response(_APP_LOGO, media_type="image/svg+xml")


@get("/events", sync_to_thread=False)
def events() -> Response[str]:
    """A stream that has nothing to tell; a test that needs one answers the page itself."""
    return Response("event: beat\ndata: {}\n\n", media_type="text/event-stream")


@cache
def picture_of_the_room() -> bytes:
    """The room of the simulated printer: a webcam's picture without a webcam."""
    written = io.BytesIO()
    room().convert("RGB").save(written, "JPEG")
    return written.getvalue()


def answer_in_process(context: BrowserContext, app: TestClient[Litestar]) -> None:
    """Let the application answer what this browser asks of the gallery."""

    context.route(f"{HOST}/**", lambda route: forward(route, app))


def forward(route: Route, app: TestClient[Litestar]) -> None:
    """Let the application answer one request of a browser; the client keeps the cookies."""
    asked = route.request
    path = "/" + asked.url.split("/", 3)[3]
    answered = app.request(
        asked.method,
        path,
        headers=_without(asked.headers, "cookie"),
        content=asked.post_data_buffer,
        follow_redirects=False,
    )
    headers = _without(dict(answered.headers), "set-cookie")
    route.fulfill(status=answered.status_code, headers=headers, body=answered.content)


def _without(headers: Mapping[str, str], name: str) -> dict[str, str]:
    return {key: value for key, value in headers.items() if key.lower() != name}


def stay(route: Route) -> None:
    """Have the browser stay where it is."""
    route.fulfill(status=204)


def show_tab(page: Page, state: str) -> None:
    """Tell the page that its tab is "hidden" or "visible": no browser without a window does."""
    page.evaluate(
        """state => {
            const value = state == "hidden";
            Object.defineProperty(document, "hidden", {value, configurable: true});
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        state,
    )


def stop_clock(page: Page) -> None:
    """Have the page's clock stand: whatever it times waits for run_until or page.clock.run_for."""
    page.clock.install(time=NOON)
    page.clock.pause_at(NOON + timedelta(hours=1))


def until(page: Page, is_so: Callable[[], bool]) -> None:
    """Wait for what this process notes; the waits of Playwright see only what is in the page."""
    _until(is_so, lambda: page.wait_for_timeout(20))


def run_until(page: Page, is_so: Callable[[], bool]) -> None:
    """Let a clock that stands run on, second by second, until it is so."""

    def run() -> None:
        page.clock.run_for(1000)
        page.wait_for_timeout(20)

    _until(is_so, run)


def let_requests_arrive(page: Page) -> None:
    """Return when this process has seen what the page has asked for by now: they come in turn."""
    page.evaluate("fetch('/app-logo.svg').then((answer) => answer.blob()).then(() => null)")


def _until(is_so: Callable[[], bool], go_on: Callable[[], None]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not is_so():
        assert time.monotonic() < deadline, "gave up waiting"
        go_on()
