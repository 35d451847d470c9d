"""A person opens OctoPrint's own interface from the service and prints with it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.conftest import goes_straight
from tests.rigs.chromium import chromium, screenshot, watch
from tests.rigs.octoprint import LONG_MOVES, PASSWORD, USER, OctoPrint, gcode
from tests.rigs.peers import LOOPBACK_NAMES
from tests.rigs.proxies import DOMAIN, service_behind
from tests.rigs.service import Service, service_at_home
from tests.rigs.waiting import TIMEOUT_S, free_ports, wait_for

# Browsers fetch a page's manifest without cookies, so nobody can tell who asks: 606 is right.
ASKED_WITHOUT_COOKIES = "/static/manifest.json"

pytestmark = [pytest.mark.slow, pytest.mark.peer, pytest.mark.browser]


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    with chromium(tmp_path / "profile", resolve=f"*{DOMAIN}") as browser:
        yield browser.new_page()


@pytest.fixture(params=["http", "https", "ports"])
def address(request: pytest.FixtureRequest, octoprint: OctoPrint, tmp_path: Path) -> Iterator[str]:
    """Where the person begins: the single-use link to the printer's own host.

    http: on localhost. https: behind Caddy, on a domain. ports: at a port of its own, as at home.
    """
    if goes_straight():
        yield octoprint.url
    elif request.param == "http":
        running: Service = request.getfixturevalue("relay")
        yield running.own_link(request.getfixturevalue("octoprint_linked"))
    elif request.param == "https":
        yield from link_to(octoprint, service_behind("caddy", tmp_path))
    else:
        yield from link_to(octoprint, service_at_home(tmp_path, DOMAIN, free_ports(1)))
    octoprint.reset()


def link_to(octoprint: OctoPrint, service: AbstractContextManager[Service]) -> Iterator[str]:
    key = {"PRINTREACH_PRINTER_API_KEY": octoprint.api_key, **LOOPBACK_NAMES}
    with (
        service as running,
        running.printer("octoprint", octoprint.url, platform="octoprint", env=key) as linked,
    ):
        yield running.own_link(linked)


def log_in(page: Page) -> None:
    page.fill("#login-user", USER)
    page.fill("#login-password", PASSWORD)
    page.click("#login-button")
    expect(page.locator("#state")).to_contain_text("Operational")


def upload(page: Page, path: Path) -> None:
    page.set_input_files("#gcode_upload", path)
    expect(page.locator("#files")).to_contain_text(path.name)


def start(page: Page, name: str) -> None:
    entry = page.locator("#files .entry", has_text=name)
    entry.get_by_title("Load and Print").click()
    expect(page.locator("#state")).to_contain_text("Printing")


def hotend_c(page: Page) -> float | None:
    """What the page shows, once it knows."""
    shown = page.locator("#temperature-table td.temperature_actual").first.inner_text()
    return float(shown.removesuffix("°C")) if shown.endswith("°C") else None


def cancel(page: Page) -> None:
    page.click("#job_cancel")
    page.locator(".modal.in .btn-danger, .modal.in .btn-primary").last.click()
    expect(page.locator("#state")).to_contain_text("Operational")


def test_the_whole_interface_works_in_a_browser(
    page: Page, address: str, octoprint: OctoPrint, tmp_path: Path
) -> None:
    seen = watch(page)
    page.goto(address)
    log_in(page)
    cold = wait_for("the page to show a temperature", lambda: hotend_c(page), TIMEOUT_S)
    sliced = tmp_path / "journey.gcode"
    sliced.write_bytes(gcode(LONG_MOVES, hotend_c=int(cold) + 40))
    upload(page, sliced)
    frames = seen.frames_received
    start(page, sliced.name)
    assert octoprint.state() == "Printing"
    wait_for("the page to show it hot", lambda: (hotend_c(page) or 0) > cold + 30, TIMEOUT_S)
    screenshot(page, f"octoprint-{page.url.split(':')[0]}")
    assert seen.frames_received > frames
    assert any("/sockjs/" in socket for socket in seen.sockets)

    cancel(page)
    assert octoprint.state() == "Operational"
    wait_for("the job to be put away", lambda: octoprint.completion() is None, TIMEOUT_S)
    assert [error for error in seen.errors if ASKED_WITHOUT_COOKIES not in error] == []
    assert seen.hosts == {page.url.split("/")[2]}
