"""A tab that the tests of a file take turns with.

Chromium takes a third of a second of CPU to open a tab, to start the process of its first page and
to close it: more than it takes for most pages.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, Route
from playwright.sync_api import Error as PlaywrightError

from tests.rigs.chromium import close_page

_LEFT: Final = "/left-by-a-test"
_FOR_GOOD: Final[tuple[tuple[type, str], ...]] = (
    (BrowserContext, "new_cdp_session"),
    (Page, "add_init_script"),
    (Page, "add_locator_handler"),
    (Page, "expose_binding"),
    (Page, "expose_function"),
    (Page, "once"),
    (Page, "route_web_socket"),
    (Page, "set_default_navigation_timeout"),
    (Page, "set_default_timeout"),
)
"""What nothing undoes: the next test gets another tab."""

_Listener = tuple[str, Callable[..., None]]


class SharedTab:
    """Its cookies are those of its profile; each turn ends with all else as it was found."""

    def __init__(self, context: BrowserContext) -> None:
        self._context = context
        self._page: Page | None = None

    @contextmanager
    def turn(self) -> Iterator[Page]:
        """A test has it, in a window of a phone's size."""
        page, self._page = self._page or self._context.new_page(), None
        page.set_viewport_size({"width": 390, "height": 844})
        listeners: list[_Listener] = []
        changes: list[str] = []
        with pytest.MonkeyPatch.context() as patch:
            _note_listeners(patch, listeners)
            _note_changes(patch, page, changes)
            yield page
        if not changes and _is_put_back(page, listeners):
            self._page = page
        elif not page.is_closed():
            close_page(page)


def _note_listeners(patch: pytest.MonkeyPatch, listeners: list[_Listener]) -> None:
    listen: Callable[..., None] = Page.on

    def on(page: Page, event: str, f: Callable[..., None]) -> None:
        listeners.append((event, f))
        listen(page, event, f)

    patch.setattr(Page, "on", on)


def _note_changes(patch: pytest.MonkeyPatch, page: Page, changes: list[str]) -> None:
    clock = [(type(page.clock), name) for name in ("install", "set_fixed_time", "set_system_time")]
    pressed = [(type(page.keyboard), "down"), (type(page.mouse), "down")]
    for owner, name in (*_FOR_GOOD, *clock, *pressed):
        patch.setattr(owner, name, _noting(getattr(owner, name), changes))


def _noting(method: Callable[..., object], changes: list[str]) -> Callable[..., object]:
    def call(*words: object, **named: object) -> object:
        changes.append(method.__name__)
        return method(*words, **named)

    return call


def _is_put_back(page: Page, listeners: list[_Listener]) -> bool:
    """Leave what the tab shows, and undo what the test did to it. False where that fails."""
    address = urlsplit(page.url)
    if page.is_closed() or address.scheme not in ("http", "https"):
        return False
    left = f"{address.scheme}://{address.netloc}{_LEFT}"
    try:
        page.mouse.move(0, 0)
        page.route(left, _answer_with_nothing)
        page.goto(left)  # on the same site: for about:blank and back Chromium starts processes
        page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        page.unroute_all(behavior="ignoreErrors")
        page.set_extra_http_headers({})
        page.emulate_media(
            media="null",
            color_scheme="null",
            reduced_motion="null",
            forced_colors="null",
            contrast="null",
        )
        for event, listener in listeners:
            page.remove_listener(event, listener)
    except PlaywrightError:
        return False
    return True


def _answer_with_nothing(route: Route) -> None:
    route.fulfill(content_type="text/html", body="<!doctype html><title>Left</title>")
