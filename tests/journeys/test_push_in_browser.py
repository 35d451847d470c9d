"""Notifications in a real browser, from the service over a push service to a button's act.

No push service of a browser maker is called: the test's own takes the messages, and the browser
gets each as its own push service would hand it over, by the DevTools protocol.
"""

import asyncio
import re
import secrets
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, CDPSession, Page, expect

from printreach.contract.events import EventType, PrintEvent
from printreach.store.store import Records, open_store
from tests.fakes.push import SubscribedBrowser
from tests.journeys.test_dashboard_in_browser import STOPPED, upload
from tests.rigs.calls import call
from tests.rigs.chromium import chromium, close_page, wait_until
from tests.rigs.push_receiver import decrypt
from tests.rigs.push_service import PushService, push_service
from tests.rigs.service import OWNER, PASSWORD, LinkedPrinter, Service
from tests.rigs.sites import site
from tests.rigs.stored_events import stored_events, wait_for_event
from tests.rigs.timed_walks import BeginWalk
from tests.rigs.waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.browser]

SHOWN = """async () => {
    const registration = await navigator.serviceWorker.getRegistration();
    return (await registration.getNotifications()).map((one) => ({
        title: one.title, body: one.body, tag: one.tag,
        actions: (one.actions ?? []).map((each) => each.title),
    }));
}"""
CLICK = """async ([title, action]) => {
    const shown = await self.registration.getNotifications();
    const notification = shown.find((one) => one.title.includes(title));
    self.dispatchEvent(new NotificationEvent("notificationclick", { notification, action }));
}"""
KEPT = """async () => {
    const kept = [];
    for (const name of await caches.keys()) {
        for (const request of await (await caches.open(name)).keys()) {
            kept.push(new URL(request.url).pathname);
        }
    }
    return kept;
}"""
ADD = """async (subscription) => {
    const answer = await fetch("/notifications/devices", {
        method: "POST", body: new URLSearchParams({ subscription }),
        headers: { Accept: "application/json" },
    });
    return answer.status;
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("push")


@pytest.fixture(scope="module")
def home(folder: Path) -> Iterator[Service]:
    with site(folder, WEBHOOK_ALLOW_PRIVATE="127.0.0.0/8") as running:
        yield running


@pytest.fixture(scope="module")
def workbench(home: Service) -> Iterator[LinkedPrinter]:
    with home.printer("Workbench", "", platform="simulated") as linked:
        yield linked


@pytest.fixture(scope="module")
def pushes() -> Iterator[PushService]:
    with push_service() as running:
        yield running


@pytest.fixture(scope="module")
def browser(folder: Path, home: Service) -> Iterator[BrowserContext]:
    with chromium(folder / "profile") as context:
        context.grant_permissions(["notifications"], origin=home.base_url)
        yield context


@pytest.fixture(scope="module")
def subscribed(pushes: PushService) -> SubscribedBrowser:
    return SubscribedBrowser(pushes.url)


@pytest.fixture(scope="module")
def page(
    home: Service, workbench: LinkedPrinter, browser: BrowserContext, subscribed: SubscribedBrowser
) -> Iterator[Page]:
    """The owner, signed in; this browser is on the list of those that are notified."""
    assert workbench.id
    page = browser.new_page()
    page.goto(f"{home.base_url}/printers")
    page.get_by_label("E-mail").fill(OWNER)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page).to_have_url(f"{home.base_url}/printers")
    # With a limit: without a worker, `navigator.serviceWorker.ready` waits for ever.
    wait_until(page, "navigator.serviceWorker.controller !== null")
    assert page.evaluate(ADD, subscribed.to_json()) == 201
    yield page
    close_page(page)


@pytest.fixture(scope="module")
def deliver(home: Service, page: Page) -> Callable[[str], None]:
    """Hand a message over to the browser, as a push service does."""
    session: CDPSession = page.context.new_cdp_session(page)
    ids = list[str]()

    def note(event: dict[str, Any]) -> None:
        ids.extend(
            one["registrationId"]
            for one in event["registrations"]
            if one["scopeURL"].startswith(home.base_url)
        )

    session.on("ServiceWorker.workerRegistrationUpdated", note)
    session.send("ServiceWorker.enable")
    page.wait_for_function("true")
    wait_for("the worker's registration", lambda: _has_some(page, ids), seconds=30)

    def deliver(payload: str) -> None:
        session.send(
            "ServiceWorker.deliverPushMessage",
            {"origin": home.base_url, "registrationId": ids[-1], "data": payload},
        )

    return deliver


def _has_some(page: Page, ids: list[str]) -> bool:
    page.evaluate("1")  # lets events of the protocol be read
    return bool(ids)


def shown(page: Page, title: str) -> dict[str, Any]:
    """The notification with such a title, once it is shown."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for one in page.evaluate(SHOWN):
            if title in one["title"]:
                found: dict[str, Any] = one
                return found
        page.wait_for_timeout(100)
    raise AssertionError(f"{title!r} is not among {page.evaluate(SHOWN)}")


def warn(home: Service, workbench: LinkedPrinter, print_id: str) -> None:
    """What failure detection does when it sees a problem."""

    async def store(records: Records) -> None:
        at = int(time.time())
        event = PrintEvent(
            event_id=secrets.token_hex(8),
            event_type=EventType.POSSIBLE_FAILURE,
            event_time_sec=at,
            print_id=print_id,
            file_name="slow_vase.gcode",
        )
        printer = await records.printers.linked(workbench.id)
        assert printer is not None
        await records.events.append(workbench.id, [event], printer.linked_at)

    async def main() -> None:
        path = Path(home.env["PRINTREACH_DATA_DIR"]) / "printreach.sqlite3"
        async with open_store(path) as opened:
            await opened.write(store)

    with ThreadPoolExecutor(1) as beside:  # playwright's own loop runs on this thread
        beside.submit(lambda: asyncio.run(main())).result()


def text_of(body: bytes, subscribed: SubscribedBrowser) -> str:
    return decrypt(body, subscribed.key, subscribed.auth).decode()


def test_the_worker_keeps_nothing_of_an_account_or_a_printer(home: Service, page: Page) -> None:
    for path in ("/printers", "/account", "/notifications", "/activity"):
        page.goto(home.base_url + path)

    assert set(page.evaluate(KEPT)) == {
        "/offline",
        *(f"/static/{name}" for name in ("app.css", "pages.css", "app.js", "icon.svg")),
    }


def test_a_test_message_is_shown(
    page: Page,
    pushes: PushService,
    subscribed: SubscribedBrowser,
    home: Service,
    deliver: Callable[[str], None],
) -> None:
    page.goto(f"{home.base_url}/notifications")
    row = page.locator("li.place").filter(has_text="Browser, added")
    row.get_by_role("button", name="Send a test").click()
    deliver(text_of(pushes.next_message(1), subscribed))

    assert shown(page, "Printreach can reach you")["actions"] == []


def test_a_print_is_paused_by_a_button_of_the_warning_once(
    home: Service,
    workbench: LinkedPrinter,
    page: Page,
    pushes: PushService,
    subscribed: SubscribedBrowser,
    deliver: Callable[[str], None],
    begin_walk: BeginWalk,
) -> None:
    at = f"{home.base_url}/printers/{workbench.id}"
    upload(page, at)
    page.goto(f"{at}/files/start?path=gcode/slow_vase.gcode")
    page.get_by_role("button", name="Start printing").click()
    expect(page.get_by_text("Printing", exact=True).first).to_be_visible()
    wait_for_event(home, workbench, EventType.STARTED)
    [started] = [one for one in stored_events(home, workbench) if one.kind is EventType.STARTED]
    walk = begin_walk("from a warning to the notification that a browser shows", 10)
    warn(home, workbench, started.event.print_id)
    payload = text_of(pushes.next_message(2), subscribed)
    deliver(payload)
    warning = shown(page, "this print may be failing")
    walk.end()
    [worker] = page.context.service_workers
    worker.evaluate(CLICK, ["may be failing", "pause"])
    shown(page, "Workbench: pausing")

    assert warning["actions"] == ["Pause", "It\N{RIGHT SINGLE QUOTATION MARK}s fine"]
    expect(page.get_by_text("Paused", exact=True).first).to_be_visible()
    deliver(payload)  # a push service may hand a message over twice
    shown(page, "this print may be failing")
    worker.evaluate(CLICK, ["may be failing", "pause"])
    assert "pressed before" in shown(page, "Nothing was done")["body"]

    page.goto(f"{at}/history/print?id={started.event.print_id}")
    expect(page.get_by_text(re.compile("Paused from a notification on Chrome"))).to_be_visible()
    page.goto(f"{at}/stop")
    page.get_by_role("button", name="Stop print").click()
    expect(page.get_by_text(STOPPED).first).to_be_visible()


def test_what_is_no_message_is_shown_in_general_words(
    page: Page, deliver: Callable[[str], None]
) -> None:
    deliver("no JSON")

    assert shown(page, "Printreach")["actions"] == []


def test_nobody_is_asked_before_the_button_is_pressed_and_a_failure_is_said(
    home: Service, page: Page
) -> None:
    page.goto(f"{home.base_url}/notifications")
    offer = page.locator("[data-push]")
    expect(offer.get_by_role("button", name="Notify me here")).to_be_visible()
    expect(offer.get_by_role("alert")).to_be_hidden()
    # Chromium's own push service can't be reached from a test, as from a network that blocks it.
    offer.get_by_role("button", name="Notify me here").click()

    expect(offer.get_by_role("alert")).to_have_text(
        re.compile("could not be added|allow notifications")
    )
    expect(offer.get_by_role("button", name="Notify me here")).to_be_enabled()


def test_a_printers_host_serves_no_worker_of_ours(home: Service, workbench: LinkedPrinter) -> None:
    connection = home.connect(workbench)
    for path in ("/service-worker.js", "/manifest.webmanifest", "/offline"):
        answer = call(home.way(connection), path)

        assert b"KEPT" not in answer.body
        assert b"Printreach" not in answer.body


def test_signing_out_ends_the_notifications(
    home: Service, page: Page, pushes: PushService, workbench: LinkedPrinter
) -> None:
    page.goto(f"{home.base_url}/account")
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_role("button", name="Sign out", exact=True)).to_have_count(0)
    before = len(pushes.messages)
    warned = [kept.kind for kept in stored_events(home, workbench)]
    warn(home, workbench, "another-print")
    count = warned.count(EventType.POSSIBLE_FAILURE) + 1
    wait_for_event(home, workbench, EventType.POSSIBLE_FAILURE, count)

    assert len(pushes.messages) == before


def test_without_a_network_one_page_says_so(home: Service, page: Page) -> None:
    home.program.stop()
    page.goto(f"{home.base_url}/printers")

    expect(page.get_by_role("heading", level=1)).to_have_text("You are offline")
    expect(page.locator("h1")).to_have_css("font-weight", "600")  # its styles are kept, too
