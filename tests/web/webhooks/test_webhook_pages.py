"""Deliveries of events to apps, as their owner sees them."""

from datetime import timedelta

from printreach.rules.portal.parameters import Completion
from printreach.rules.webhooks import LIFETIME
from tests.web.connections.test_connections import connect_app, share
from tests.web.printers.conftest import BOB, Home
from tests.web.webhooks.webhook_days import a_mixed_day, deliver, delivery_ids, happens, set_webhook
from tests.web.world import run, send, sign_in


def page_of(home: Home, connection_id: str) -> str:
    answer = home.browser.get(f"/connections/{connection_id}")
    assert answer.status_code == 200
    return answer.text


def test_the_list_leads_to_each_apps_connection(home: Home) -> None:
    connection_id = connect_app(home)

    assert f'href="/connections/{connection_id}"' in home.browser.get("/connections").text
    page = page_of(home, connection_id)
    assert "Demo &lt;b&gt;" in page
    assert "t asked for events" in page


def test_each_delivery_tells_what_became_of_it(home: Home) -> None:
    connection_id = connect_app(home)
    a_mixed_day(home.world, home.browser, connection_id, home.printer_id)
    page = page_of(home, connection_id)

    assert "A print starts" in page
    assert "answered 200 after 5 ms" in page
    assert "A print fails or is stopped" in page
    assert "Failed, trying again" in page
    assert "&lt;down&gt;" in page
    assert "Next try" in page


def test_what_may_be_secret_in_a_webhooks_address_is_not_shown(home: Home) -> None:
    connection_id = connect_app(home)
    a_mixed_day(home.world, home.browser, connection_id, home.printer_id)
    page = page_of(home, connection_id)

    assert "hook.example" in page
    assert "secret" not in page
    assert "token=1" not in page


def test_an_event_is_sent_again_under_the_same_id(home: Home) -> None:
    connection_id = connect_app(home)
    world = home.world
    a_mixed_day(world, home.browser, connection_id, home.printer_id)
    world.sender.answers.clear()
    *_, oldest = delivery_ids(world, home.browser, connection_id)
    answer = send(home.browser, f"/connections/{connection_id}/deliveries/{oldest}/again")
    run(home.browser, lambda: deliver(world))

    assert answer.headers["location"] == f"/connections/{connection_id}"
    assert world.sender.event_ids == ["event-00001", "event-00002", "event-00001"]
    assert "Sending it again." in home.browser.get(answer.headers["location"]).text


def test_a_disabled_webhook_says_why(home: Home) -> None:
    connection_id = connect_app(home)
    world = home.world
    a_mixed_day(world, home.browser, connection_id, home.printer_id)

    async def fail_for_days() -> None:
        for number in range(3, 20):
            world.clock.advance(timedelta(hours=12))
            await happens(world, home.printer_id, [number])

    run(home.browser, fail_for_days)
    page = page_of(home, connection_id)
    assert "No attempt succeeded for 5 days" in page
    assert "Send again" not in page
    newest = delivery_ids(world, home.browser, connection_id)[0]
    path = f"/connections/{connection_id}/deliveries/{newest}/again"
    assert send(home.browser, path).status_code == 404


def test_a_webhook_that_ran_out_says_so(home: Home) -> None:
    connection_id = connect_app(home)

    async def set_one() -> None:
        await set_webhook(home.world, connection_id, 1, 99)

    run(home.browser, set_one)
    assert "A print starts, Event 99" in page_of(home, connection_id)
    home.world.clock.advance(LIFETIME)
    sign_in(home.browser)
    assert "has to ask for them again every 180 days" in page_of(home, connection_id)


def test_a_stranger_sees_and_sends_nothing(home: Home) -> None:
    connection_id = connect_app(home)
    world = home.world
    a_mixed_day(world, home.browser, connection_id, home.printer_id)
    [newest, _] = delivery_ids(world, home.browser, connection_id)
    world.add_account(home.browser, BOB)
    sign_in(home.browser, BOB)
    path = f"/connections/{connection_id}/deliveries/{newest}/again"

    assert home.browser.get(f"/connections/{connection_id}").status_code == 404
    assert send(home.browser, path).status_code == 404
    home.browser.cookies.clear()
    assert send(home.browser, path).status_code in (303, 401)
    run(home.browser, lambda: deliver(world))
    assert len(world.sender.sent) == 2


def test_another_site_can_not_have_anything_sent_again(home: Home) -> None:
    connection_id = connect_app(home)
    a_mixed_day(home.world, home.browser, connection_id, home.printer_id)
    [newest, _] = delivery_ids(home.world, home.browser, connection_id)
    path = f"/connections/{connection_id}/deliveries/{newest}/again"

    assert home.browser.post(path, headers={"origin": "https://evil.example"}).status_code == 403


def test_a_delivery_of_another_connection_is_not_found(home: Home) -> None:
    connection_id, other = connect_app(home), connect_app_again(home)
    a_mixed_day(home.world, home.browser, connection_id, home.printer_id)
    [newest, _] = delivery_ids(home.world, home.browser, connection_id)

    path = f"/connections/{other}/deliveries/{newest}/again"
    assert send(home.browser, path).status_code == 404


def test_an_impossible_delivery_number_is_not_found(home: Home) -> None:
    connection_id = connect_app(home)
    a_mixed_day(home.world, home.browser, connection_id, home.printer_id)

    path = f"/connections/{connection_id}/deliveries/{2**63}/again"
    assert send(home.browser, path).status_code == 404


def test_what_is_shared_has_no_events(home: Home) -> None:
    connection_id = share(home).split("/")[2]

    page = home.browser.get(f"/connections/{connection_id}").text
    assert "Shared access" in page
    assert "Events" not in page


def connect_app_again(home: Home) -> str:
    """Another connection of the same app, with a webhook of its own."""
    services = home.world.services

    async def connect() -> str:
        made = await services.connections.add_for_app("demo", home.printer_id)
        assert isinstance(made, Completion)
        await set_webhook(home.world, made.connection_id)
        return made.connection_id

    return run(home.browser, connect)
