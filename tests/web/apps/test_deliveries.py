"""Calls to a developer's server, as the developer sees them."""

from dataclasses import dataclass

import pytest

from printreach.rules.connections.credentials import printer_id_of
from printreach.rules.portal.parameters import Completion
from printreach.rules.printers import Printer
from tests.web.apps.conftest import BOB, DeveloperSite
from tests.web.webhooks.webhook_days import a_mixed_day, deliver, delivery_ids
from tests.web.world import run, send, sign_in

PAGE = "/developer/apps/layerlark/deliveries"


@dataclass
class Called:
    """Ada's app, connected to Bob's printer."""

    site: DeveloperSite
    connection_id: str

    def again(self, delivery_id: int) -> str:
        return f"{PAGE}/{self.connection_id}/{delivery_id}/again"

    def delivery_ids(self) -> list[int]:
        return delivery_ids(self.site.world, self.site.browser, self.connection_id)


@pytest.fixture
def called(site: DeveloperSite) -> Called:
    site.register()
    key = b"bobs".ljust(32, b".")
    printer = Printer(
        printer_id=printer_id_of(key),
        account_id=site.bob.account_id,
        name="Bob's secret printer",
        public_key=key,
        linked_at=site.world.clock.now(),
    )
    site.world.link(site.browser, printer)

    async def connect() -> str:
        connections = site.world.services.connections
        made = await connections.add_for_app("layerlark", printer.printer_id)
        assert isinstance(made, Completion)
        return made.connection_id

    connection_id = run(site.browser, connect)
    a_mixed_day(site.world, site.browser, connection_id, printer.printer_id)
    return Called(site, connection_id)


def test_an_app_without_calls_says_how_they_come(site: DeveloperSite) -> None:
    site.register()

    assert "SetNotificationWebhook" in site.browser.get(PAGE).text
    assert PAGE in site.browser.get("/developer/apps/layerlark").text


def test_a_developer_sees_calls_but_not_whose_they_are(called: Called) -> None:
    page = called.site.browser.get(PAGE).text

    assert "answered 200 after 5 ms" in page
    assert "&lt;down&gt;" in page
    assert called.connection_id in page
    assert "secret" not in page
    assert BOB not in page


def test_a_developer_can_have_an_event_sent_again(called: Called) -> None:
    world = called.site.world
    world.sender.answers.clear()
    oldest = called.delivery_ids()[-1]
    answer = send(called.site.browser, called.again(oldest))
    run(called.site.browser, lambda: deliver(world))

    assert answer.headers["location"] == PAGE
    assert world.sender.event_ids[-1] == "event-00001"


def test_another_developer_sees_and_sends_nothing(called: Called) -> None:
    oldest = called.delivery_ids()[-1]
    sign_in(called.site.browser, BOB)

    assert called.site.browser.get(PAGE).status_code == 404
    assert send(called.site.browser, called.again(oldest)).status_code == 404


def test_an_own_app_is_no_way_to_another_apps_connection(called: Called) -> None:
    called.site.register("other")
    oldest = called.delivery_ids()[-1]
    path = called.again(oldest).replace("layerlark", "other")

    assert send(called.site.browser, path).status_code == 404
    assert (
        called.connection_id not in called.site.browser.get(PAGE.replace("layerlark", "other")).text
    )
