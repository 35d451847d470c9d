"""What a hostile printer's page has a browser fetch from another printer, or show of it.

Not on plain http with host names: there a browser doesn't say which page fetches, and nothing but a
name that nobody can guess keeps others out.
"""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.isolation.hostile import (
    REFUSED,
    Home,
    attack,
    browser,
    evil,
    page,
    relay_of,
    victim,
    visit,
)
from tests.rigs.behaviour.rig import fresh_key
from tests.rigs.chromium import wait_until
from tests.rigs.failure_logs import pytest_runtest_makereport, pytest_runtest_protocol
from tests.rigs.service import Service
from tests.rigs.waiting import TIMEOUT_S, wait_for

__all__ = [
    "browser",
    "evil",
    "page",
    "pytest_runtest_makereport",
    "pytest_runtest_protocol",
    "victim",
]

pytestmark = [pytest.mark.slow, pytest.mark.peer, pytest.mark.browser]


@pytest.fixture(scope="module", params=["https", "ports"])
def relay(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    with relay_of(request.param, tmp_path_factory.mktemp("hostile")) as running:
        yield running


READS = {
    "image": "new Image().src = URL",
    "script": """const script = document.createElement('script'); script.src = URL
        document.documentElement.append(script)""",
    "frame": """const frame = document.createElement('iframe'); frame.src = URL
        document.documentElement.append(frame)""",
    "fetch": "fetch(URL, {mode: 'no-cors', credentials: 'include'}).catch(() => 0)",
    "fetch with cors": "fetch(URL, {credentials: 'include'}).catch(() => 0)",
    "fetch that seems to load a page": """fetch(URL, {credentials: 'include',
        headers: {'Upgrade-Insecure-Requests': '1', 'Accept': 'text/html'}}).catch(() => 0)""",
    "image without referrer": """const image = new Image(); image.referrerPolicy = 'no-referrer'
        image.src = URL""",
    "fetch without referrer": """fetch(URL, {mode: 'no-cors', credentials: 'include',
        referrerPolicy: 'no-referrer'}).catch(() => 0)""",
}


@pytest.mark.parametrize("how", READS)
def test_a_page_that_acts_on_being_fetched_is_not_fetched_for_another_printers(
    page: Page, victim: Home, evil: Home, how: str
) -> None:
    key = fresh_key()
    url = f"{victim.url}/sink?key={key}"

    status = attack(page, evil, f"const URL = {json.dumps(url)}; {READS[how]}", victim.url)

    assert status in (REFUSED, None)
    assert victim.printer.entries(key) == []


def test_a_person_is_asked_before_a_link_of_another_printer_acts(
    page: Page, victim: Home, evil: Home
) -> None:
    key = fresh_key()
    url = f"{victim.url}/sink?key={key}"
    visit(page, evil.page("window.isDone = true"))

    page.evaluate(f"location.href = {json.dumps(url)}")
    page.get_by_role("heading", name="Another site sent you here").wait_for()
    assert victim.printer.entries(key) == []
    page.get_by_role("link", name="Open it").click()

    wait_for("the page", lambda: victim.printer.entries(key) != [], TIMEOUT_S)


def test_no_page_of_another_printer_shows_a_printer_in_a_frame(
    page: Page, victim: Home, evil: Home
) -> None:
    script = f"""
        const frame = document.createElement('iframe')
        frame.src = {json.dumps(victim.url + "/any")}
        frame.onload = () => {{ window.isDone = true }}
        document.documentElement.append(frame)"""
    visit(page, evil.page(script))
    wait_until(page, "window.isDone === true")

    shown = page.frames[-1].content()
    assert '"target"' not in shown, "the printer has answered"
