"""What a developer sees of the calls to their own server."""

from dataclasses import dataclass

import pytest

from printreach.rules.completion import Completion
from printreach.rules.credentials import printer_id_of
from printreach.rules.printers import Printer
from tests.web.dashboard.webhook_days import a_mixed_day, deliver, delivery_ids
from tests.web.developer.conftest import BOB, Desk
from tests.web.world import run, send, sign_in

PAGE = "/developer/apps/layerlark/deliveries"


@dataclass
class Called:
    """Ada's app, connected to Bob's printer."""

    desk: Desk
    connection_id: str

    def again(self, delivery_id: int) -> str:
        return f"{PAGE}/{self.connection_id}/{delivery_id}/again"

    def delivery_ids(self) -> list[int]:
        return delivery_ids(self.desk.world, self.desk.browser, self.connection_id)


@pytest.fixture
def called(desk: Desk) -> Called:
    desk.register()
    key = b"bobs".ljust(32, b".")
    printer = Printer(
        printer_id=printer_id_of(key),
        account_id=desk.bob.account_id,
        name="Bob's secret printer",
        public_key=key,
        linked_at=desk.world.clock.now(),
    )
    desk.world.link(desk.browser, printer)

    async def connect() -> str:
        connections = desk.world.services.connections
        made = await connections.add_for_app("layerlark", printer.printer_id)
        assert isinstance(made, Completion)
        return made.connection_id

    connection_id = run(desk.browser, connect)
    a_mixed_day(desk.world, desk.browser, connection_id, printer.printer_id)
    return Called(desk, connection_id)


def test_an_app_without_calls_says_how_they_come(desk: Desk) -> None:
    desk.register()

    assert "SetNotificationWebhook" in desk.browser.get(PAGE).text
    assert PAGE in desk.browser.get("/developer/apps/layerlark").text


def test_a_developer_sees_calls_but_not_whose_they_are(called: Called) -> None:
    page = called.desk.browser.get(PAGE).text

    assert "answered 200 after 5 ms" in page
    assert "&lt;down&gt;" in page
    assert called.connection_id in page
    assert "secret" not in page
    assert BOB not in page


def test_a_developer_can_have_an_event_sent_again(called: Called) -> None:
    world = called.desk.world
    world.sender.answers.clear()
    oldest = called.delivery_ids()[-1]
    answer = send(called.desk.browser, called.again(oldest))
    run(called.desk.browser, lambda: deliver(world))

    assert answer.headers["location"] == f"{PAGE}?said=again"
    assert world.sender.event_ids[-1] == "event-00001"


def test_another_developer_sees_and_sends_nothing(called: Called) -> None:
    oldest = called.delivery_ids()[-1]
    sign_in(called.desk.browser, BOB)

    assert called.desk.browser.get(PAGE).status_code == 404
    assert send(called.desk.browser, called.again(oldest)).status_code == 404


def test_an_own_app_is_no_way_to_another_apps_connection(called: Called) -> None:
    called.desk.register("other")
    oldest = called.delivery_ids()[-1]
    path = called.again(oldest).replace("layerlark", "other")

    assert send(called.desk.browser, path).status_code == 404
    assert (
        called.connection_id not in called.desk.browser.get(PAGE.replace("layerlark", "other")).text
    )
