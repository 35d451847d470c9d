"""A service as people meet it, and the one browser that a file of journeys shares.

Each test gets a page without cookies; what it keeps in the service is its own by other names.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.rigs.chromium import close_page
from tests.rigs.service import Service, service_on_localhost
from tests.rigs.straight import goes_straight
from tests.rigs.waiting import free_port


@contextmanager
def site(folder: Path, **settings: str) -> Iterator[Service]:
    """One with an owner and an app. settings: by their names, without PRINTREACH_."""
    _not_straight()
    with service_on_localhost(folder, more_env=_named(settings)) as running:
        yield running


@contextmanager
def fresh_site(folder: Path, **settings: str) -> Iterator[Service]:
    """One on its first start: there are no accounts."""
    _not_straight()
    port = free_port()
    env = {
        "PRINTREACH_DATA_DIR": str(folder / "service-data"),
        "PRINTREACH_LISTEN": f"127.0.0.1:{port}",
        "PRINTREACH_BASE_URL": f"http://localhost:{port}",
        "PRINTREACH_TUNNEL_DOMAIN": f"localhost:{port}",
        **_named(settings),
    }
    running = Service(folder, port, env)
    try:
        running.program.start()
        running.wait_ready()
        yield running
    finally:
        running.program.stop()


@contextmanager
def phone(browser: BrowserContext) -> Iterator[Page]:
    """A page on which nobody is signed in."""
    browser.clear_cookies()
    page = browser.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    yield page
    close_page(page)


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(text)


def press(page: Page, name: str) -> None:
    """A button, or a link that looks like one."""
    button = page.get_by_role("button", name=name, exact=True)
    button.or_(page.get_by_role("link", name=name, exact=True)).click()


def _named(settings: Mapping[str, str]) -> dict[str, str]:
    return {f"PRINTREACH_{name}": value for name, value in settings.items()}


def _not_straight() -> None:
    if goes_straight():
        pytest.skip("pages are the service's own")
