"""A printer's page is hostile, in a browser that is signed in to another printer beside it.

Both printers have hosts below one domain, or ports of one host, so to the browser they are the same
site: its SameSite rules protect nothing here. On plain http it says nothing by Sec-Fetch fields
either, and ports share their cookies.
"""

import json
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page

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
from tests.rigs.behaviour.rig import behaviour_printer, fresh_key
from tests.rigs.chromium import wait_until
from tests.rigs.failure_logs import pytest_runtest_makereport, pytest_runtest_protocol
from tests.rigs.peers import LOOPBACK_NAMES
from tests.rigs.proxies import DOMAIN
from tests.rigs.service import Service

__all__ = [
    "browser",
    "evil",
    "page",
    "pytest_runtest_makereport",
    "pytest_runtest_protocol",
    "victim",
]

pytestmark = [pytest.mark.slow, pytest.mark.peer, pytest.mark.browser]


@pytest.fixture(scope="module", params=["http", "https", "ports"])
def relay(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    with relay_of(request.param, tmp_path_factory.mktemp("hostile")) as running:
        yield running


def test_the_browser_is_signed_in_to_both(page: Page, victim: Home, evil: Home) -> None:
    for home in (victim, evil):
        answer = visit(page, f"{home.url}/any")
        assert json.loads(answer.text())["target"] == "/any"


WRITES = {
    "fetch": "fetch(URL, {method: 'POST', mode: 'no-cors', credentials: 'include', body: 'G28'})",
    "fetch with cors": "fetch(URL, {method: 'POST', credentials: 'include', body: 'G28'})",
    "fetch of JSON": """fetch(URL, {method: 'PUT', credentials: 'include', body: '{}',
        headers: {'Content-Type': 'application/json'}})""",
    "beacon": """new Promise(done => {
        navigator.sendBeacon(URL, 'G28'); setTimeout(done, 100) })""",
    "form": """new Promise(done => {
        const frame = document.createElement('iframe'); frame.name = 'hidden'
        document.documentElement.append(frame)
        const form = document.createElement('form')
        form.action = URL; form.method = 'POST'; form.target = 'hidden'
        document.documentElement.append(form); form.submit(); setTimeout(done, 100) })""",
}


@pytest.mark.parametrize("how", WRITES)
def test_a_write_to_another_printer_never_reaches_it(
    page: Page, victim: Home, evil: Home, how: str
) -> None:
    key = fresh_key()
    url = f"{victim.url}/sink?key={key}"
    script = f"const URL = {json.dumps(url)}; "
    script += f"Promise.resolve({WRITES[how]}).catch(() => 0).then(() => {{ isDone = true }})"

    status = attack(page, evil, script, victim.url)

    assert status in (REFUSED, None)
    assert victim.printer.entries(key) == []


def test_a_websocket_to_another_printer_is_refused(page: Page, victim: Home, evil: Home) -> None:
    key = fresh_key()
    url = f"{victim.url.replace('http', 'ws', 1)}/ws-echo?key={key}"
    script = f"""
        window.heard = []
        const socket = new WebSocket({json.dumps(url)})
        for (const name of ['open', 'error', 'close'])
            socket.addEventListener(name, () => heard.push(name))
        socket.addEventListener('close', () => {{ window.isDone = true }})"""
    visit(page, evil.page(script))
    wait_until(page, "window.isDone === true")

    assert page.evaluate("heard") == ["error", "close"]
    assert victim.printer.entries(key) == []


def test_a_websocket_of_the_printers_own_page_works(page: Page, victim: Home) -> None:
    url = f"{victim.url.replace('http', 'ws', 1)}/ws-echo?key={fresh_key()}"
    script = f"""
        const socket = new WebSocket({json.dumps(url)})
        socket.addEventListener('open', () => socket.send('hello'))
        socket.addEventListener('message', event => {{
            window.heard = event.data; window.isDone = true }})"""
    visit(page, victim.page(script))
    wait_until(page, "window.isDone === true")

    assert page.evaluate("heard") == "hello"


def test_a_write_to_the_service_in_the_persons_name_is_refused(
    page: Page, relay: Service, evil: Home
) -> None:
    script = f"""
        document.cookie = 'printreach_session=planted; domain={DOMAIN}; path=/'
        const form = document.createElement('form')
        form.action = {json.dumps(relay.base_url + "/")}; form.method = 'POST'
        document.documentElement.append(form)
        form.submit()"""

    status = attack(page, evil, script, relay.base_url)

    assert status in (403, 405)  # 405: there is nothing yet that could be changed


def test_planted_cookies_neither_sign_out_nor_reach_another_printer(
    page: Page, victim: Home, evil: Home
) -> None:
    script = f"""
        const own = ['printreach_own', 'Printreach_Own', '__Host-printreach_own',
            'printreach_own_{urlsplit(victim.url).port}']
        for (const name of own)
            for (const path of ['/', '/any'])
                document.cookie = `${{name}}=planted; domain={DOMAIN}; path=${{path}}`
        document.cookie = '=printreach_own=planted; domain={DOMAIN}; path=/'
        window.isDone = true"""
    visit(page, evil.page(script))
    wait_until(page, "window.isDone === true")

    answer = visit(page, f"{victim.url}/any")

    seen = json.loads(answer.text())
    cookies = [value for name, value in seen["headers"] if name.lower() == "cookie"]
    assert seen["target"] == "/any"
    assert "printreach" not in "".join(cookies).lower()


def test_a_printers_cookie_stays_on_its_own_host(
    page: Page, browser: BrowserContext, relay: Service, victim: Home, evil: Home
) -> None:
    fields = f"wide=1; Domain={DOMAIN}; Path=/; HttpOnly"
    visit(page, evil.page("isDone = true", Set_Cookie=fields))

    wide = [one for one in browser.cookies() if one.get("name", "").endswith("wide")]
    answer = visit(page, f"{victim.url}/any")

    assert [one.get("domain") for one in wide] == [urlsplit(evil.url).hostname]
    assert "wide" not in answer.text()


def test_a_script_cannot_read_what_signed_the_browser_in(
    page: Page, browser: BrowserContext, evil: Home
) -> None:
    visit(page, evil.page("window.isDone = true"))
    ours = [one for one in browser.cookies(evil.url) if "printreach_own" in one.get("name", "")]

    assert any(one.get("httpOnly") for one in ours)
    readable = page.evaluate("document.cookie")
    assert not any(one.get("httpOnly") and one.get("value", "") in readable for one in ours)


def test_an_answer_of_another_printer_cannot_be_read(page: Page, victim: Home, evil: Home) -> None:
    script = f"""
        fetch({json.dumps(victim.url + "/any")}, {{credentials: 'include'}})
            .then(answer => answer.text()).then(text => {{ window.stolen = text }})
            .catch(() => {{ window.stolen = null }}).then(() => {{ window.isDone = true }})"""
    visit(page, evil.page(script))
    wait_until(page, "window.isDone === true")

    assert page.evaluate("stolen") is None


FETCHES = {
    "a picture": "new Image().src = URL",
    "a script": "document.head.append(Object.assign(document.createElement('script'), {src: URL}))",
    "fetch": "fetch(URL, {mode: 'no-cors', credentials: 'include'})",
    "a frame": """document.documentElement.append(
        Object.assign(document.createElement('iframe'), {src: URL}))""",
}


on_https = pytest.mark.parametrize("relay", ["https"], indirect=True, scope="module")
"""Browsers say where a request comes from on https alone."""


@on_https
@pytest.mark.parametrize("how", FETCHES)
def test_an_address_of_another_printer_is_not_fetched(
    page: Page, victim: Home, evil: Home, how: str
) -> None:
    key = fresh_key()
    script = f"const URL = {json.dumps(f'{victim.url}/sink?key={key}')}; {FETCHES[how]}"

    assert attack(page, evil, script, victim.url) in (REFUSED, None)
    assert victim.printer.entries(key) == []


@on_https
def test_a_link_to_another_printer_that_may_act_is_followed_once_a_person_agrees(
    page: Page, victim: Home, evil: Home
) -> None:
    """Some printers act when an address is opened: Duet's `/rr_gcode?gcode=M112`."""
    target = "/any?gcode=M112"
    assert (
        attack(page, evil, f"location = {json.dumps(victim.url + target)}", victim.url) == REFUSED
    )

    page.wait_for_url(victim.url + target)
    page.get_by_text("Another site sent you here").wait_for()
    with page.expect_navigation() as opened:
        page.get_by_role("link", name="Open it").click()

    assert json.loads(opened.value.text())["target"] == target


@on_https
def test_a_printer_that_was_opened_from_another_site_may_redirect_to_an_address_with_a_query(
    page: Page, relay: Service, evil: Home
) -> None:
    """OctoPrint leads from / to /login/ with a query; redirects keep where they came from."""
    with (
        behaviour_printer(relay.folder, name="printer-that-redirects") as printer,
        relay.printer("redirecting", printer.url, env=LOOPBACK_NAMES) as linked,
    ):
        link = relay.own_link(linked)
        parts = urlsplit(link)
        first = f"{parts.scheme}://{parts.netloc}/"
        with page.expect_response(first) as opened:
            visit(page, evil.page(f"location = {json.dumps(link)}"))

        assert opened.value.status == 200
        assert opened.value.request.all_headers()["sec-fetch-site"] == "same-origin"
