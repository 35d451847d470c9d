"""The look of the pages of notifications."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from litestar import Litestar
from litestar.testing import TestClient
from playwright.sync_api import Page, expect

from printreach.ports.notifications import NotSent, SendFailure
from printreach.rules.printers import Printer
from printreach.rules.printers.members import Member, Role
from tests.fakes.clock import NOON, FakeClock
from tests.fakes.push import SubscribedBrowser
from tests.look.gallery import forward
from tests.rigs.chromium import watch
from tests.rigs.looks import look_at
from tests.web.world import BASE_URL, WebWorld, run, send, sign_in

PHONE = "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/142.0 Mobile Safari/537.36"

pytestmark = [pytest.mark.slow, pytest.mark.browser]

PAGES = {
    "notifications": "/notifications",
    "notifications-ways": "/notifications/add",
    "notifications-ntfy": "/notifications/add?way=ntfy",
    "notifications-printer": "/notifications/printers/p1",
    "notifications-shared": "/notifications/printers/p2",
    "notifications-name": "/notifications/{device}/name",
    "access-tokens": "/account/tokens",
    "offline": "/offline",
}


def share(world: WebWorld, client: TestClient[Litestar], person_id: str) -> None:
    """Have somebody else share a printer with that person."""
    owner = world.add_account(client, "grace@example.org")
    printer = Printer(
        printer_id="p2",
        account_id=owner.account_id,
        name="Garage",
        public_key=b"o" * 32,
        linked_at=NOON,
    )
    world.link(client, printer)
    member = Member(
        printer_id="p2",
        account_id=owner.account_id,
        person_id=person_id,
        role=Role.WATCH,
        since=NOON,
    )
    run(client, lambda: world.store.write(lambda records: records.members.put(member)))


@pytest.fixture
def client(database: Path) -> Iterator[TestClient[Litestar]]:
    world = WebWorld(database, FakeClock(), SMTP_URL="smtp://mail.example")
    with TestClient(world.app, base_url=BASE_URL) as opened:
        account = world.add_account(opened)
        printer = Printer(
            printer_id="p1",
            account_id=account.account_id,
            name="Workbench",
            public_key=b"k" * 32,
            linked_at=NOON,
        )
        world.link(opened, printer)
        share(world, opened, account.account_id)
        opened.headers["user-agent"] = PHONE
        sign_in(opened)
        described = SubscribedBrowser().to_json()
        opened.post(
            "/notifications/devices",
            data={"subscription": described},
            headers={"origin": BASE_URL},
        )
        world.messenger.answer = NotSent(SendFailure.REFUSED, 401)
        send(opened, "/notifications/add", way="ntfy", topic="printers", server="", token="")
        text = opened.get("/notifications").text
        for part in text.split('action="/notifications/')[1:]:
            if "/test" in part[:50]:
                send(opened, "/notifications/" + part.split('"')[0])
        yield opened


def device_of(client: TestClient[Litestar]) -> str:
    """The place that is a browser."""
    found = re.search(r"/notifications/([a-z0-9]+)/name", client.get("/notifications").text)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_notifications_is_accessible_and_fits(
    page: Page, client: TestClient[Litestar], name: str
) -> None:
    page.route(f"{BASE_URL}/**", lambda route: forward(route, client))
    seen = watch(page)
    page.goto(BASE_URL + PAGES[name].format(device=device_of(client)))
    # Where nothing can be pushed, as here, the script doesn't show the offer.
    page.evaluate("document.querySelector('[data-push]')?.removeAttribute('hidden')")

    look_at(page, name)

    assert seen.errors == []


def test_quiet_hours_begin_in_the_browsers_own_time_zone(
    page: Page, client: TestClient[Litestar]
) -> None:
    page.route(f"{BASE_URL}/**", lambda route: forward(route, client))
    zone = page.context.new_cdp_session(page)
    zone.send("Emulation.setTimezoneOverride", {"timezoneId": "Europe/Berlin"})
    page.goto(f"{BASE_URL}/notifications")
    expect(page.get_by_label("Time zone")).to_have_value("Europe/Berlin")

    send(client, "/notifications/quiet", quiet="yes", begins="22:00", ends="07:00", zone="UTC")
    page.reload()

    expect(page.get_by_label("Time zone")).to_have_value("UTC")
