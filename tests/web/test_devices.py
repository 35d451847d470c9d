"""Browsers that are notified: added by a script, named and removed by forms, acting by a token."""

import re
import secrets
from collections.abc import Sequence
from datetime import timedelta

import pytest
from httpx import Response

from printreach.contract.status import ServiceStatus, State, StatusResult
from printreach.hub.notifications.push import act_digest
from printreach.ports.notifications import NotSent, SendFailure
from printreach.rules.notifications import Destination
from printreach.rules.notifications.push import ACT_LIFETIME, ActOffer, PushAct
from printreach.rules.printers import Printer
from tests.fakes.clock import NOON
from tests.fakes.printer_http import status_of
from tests.fakes.push import SubscribedBrowser
from tests.web.world import ADA, BASE_URL, Browser, WebWorld, run, send, sign_in

BOB = "bob@example.org"
CHROME = "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/142.0 Mobile Safari/537.36"
OWN_PAGE = {"origin": BASE_URL, "accept": "application/json", "user-agent": CHROME}
PRINT = "print-1"


@pytest.fixture
def ada(world: WebWorld, browser: Browser) -> Browser:
    """Ada's browser, signed in; she has a printer."""
    account = world.add_account(browser)
    browser.headers["user-agent"] = CHROME
    sign_in(browser)
    printer = Printer(
        printer_id="p1",
        account_id=account.account_id,
        name="Workshop",
        public_key=b"k" * 32,
        linked_at=NOON,
    )
    world.link(browser, printer)
    return browser


def subscribe(browser: Browser, subscribed: SubscribedBrowser | None = None) -> Response:
    described = (subscribed or SubscribedBrowser()).to_json()
    return browser.post(
        "/notifications/devices", data={"subscription": described}, headers=OWN_PAGE
    )


def renew(browser: Browser, subscribed: SubscribedBrowser) -> Response:
    return browser.post(
        "/notifications/devices/renew",
        data={"subscription": subscribed.to_json()},
        headers=OWN_PAGE,
    )


def devices_of(world: WebWorld, browser: Browser, email: str = ADA) -> Sequence[Destination]:
    async def look() -> Sequence[Destination]:
        account = await world.store.read(lambda records: records.accounts.with_email(email))
        assert account is not None
        return await world.store.read(
            lambda records: records.notifications.destinations(account.account_id)
        )

    return [one for one in run(browser, look) if one.channel == "push"]


def prints(print_id: str = PRINT) -> StatusResult:
    said = status_of(State.PRINTING)
    return StatusResult(
        job_status=said.job_status,
        service_status=ServiceStatus(most_recent_print_id_str=print_id),
        platform_version=said.platform_version,
        features=said.features,
        list_webcams=said.list_webcams,
    )


def offer(
    world: WebWorld, browser: Browser, device: Destination, act: PushAct = PushAct.PAUSE
) -> str:
    """The token of a button on that device, about the print at p1."""
    token = secrets.token_hex(10)
    offered = ActOffer(
        account_id=device.account_id,
        destination_id=device.destination_id,
        device=device.label,
        printer_id="p1",
        print_id=PRINT,
        act=act,
        expires_at=world.clock.now() + ACT_LIFETIME,
    )

    async def put() -> None:
        await world.store.write(lambda records: records.pushes.offer(offered, act_digest(token)))

    run(browser, put)
    return token


def press(browser: Browser, token: str) -> Response:
    """As the service worker does: without a cookie."""
    browser.cookies.clear()
    return browser.post(
        "/notifications/act", json={"token": token}, headers={"accept": "application/json"}
    )


def test_a_browser_adds_itself_and_is_listed_by_its_name(world: WebWorld, ada: Browser) -> None:
    added = subscribe(ada)
    [device] = devices_of(world, ada)
    page = ada.get("/notifications").text

    assert added.json() == {"DestinationId": device.destination_id}
    assert "Chrome on Android" in page
    assert f'id="place-{device.destination_id}"' in page
    assert 'data-push="BPublic"' in page


def test_the_offer_is_hidden_until_a_script_shows_it(ada: Browser) -> None:
    page = ada.get("/notifications").text

    assert re.search(r"<section class=\"device-offer\"[^>]* hidden>", page)


def test_whoever_links_the_first_printer_is_asked_and_nobody_later(
    world: WebWorld, browser: Browser
) -> None:
    account = world.add_account(browser)
    sign_in(browser)
    first = browser.get("/link").text
    printer = Printer(
        printer_id="p1",
        account_id=account.account_id,
        name="Workshop",
        public_key=b"k" * 32,
        linked_at=NOON,
    )
    world.link(browser, printer)

    assert "data-push" in first
    assert "data-push" not in browser.get("/link").text


def test_a_browser_is_renamed(world: WebWorld, ada: Browser) -> None:
    subscribe(ada)
    [device] = devices_of(world, ada)
    path = f"/notifications/{device.destination_id}/name"
    assert 'value="Chrome on Android"' in ada.get(path).text

    assert send(ada, path, name="  My <b>phone  ").headers["location"] == "/notifications"
    assert "My &lt;b&gt;phone" in ada.get("/notifications").text
    assert send(ada, path, name=" ").status_code == 400
    assert send(ada, path, name="x" * 61).status_code == 400
    assert [one.label for one in devices_of(world, ada)] == ["My <b>phone"]


def test_a_place_that_is_no_browser_has_no_name_to_change(world: WebWorld, ada: Browser) -> None:
    send(ada, "/notifications/add", way="ntfy", topic="printers", server="", token="")
    found = re.search(r"/notifications/([a-z0-9]+)/test", ada.get("/notifications").text)
    assert found is not None

    assert ada.get(f"/notifications/{found[1]}/name").status_code == 404
    assert send(ada, f"/notifications/{found[1]}/name", name="x").status_code == 404


def test_a_test_is_pushed_and_tells_of_a_browser_that_is_gone(
    world: WebWorld, ada: Browser
) -> None:
    subscribe(ada)
    [device] = devices_of(world, ada)
    path = f"/notifications/{device.destination_id}/test"
    worked = send(ada, path)
    world.push.answer = NotSent(SendFailure.DEVICE_GONE, 410)
    send(ada, path)

    assert worked.headers["location"] == "/notifications"
    assert [one.message.title for one in world.push.sent] == ["Printreach can reach you"] * 2
    assert devices_of(world, ada) == []


def test_signing_out_ends_the_subscription(world: WebWorld, ada: Browser) -> None:
    subscribe(ada)
    send(ada, "/signout")

    assert devices_of(world, ada) == []


def test_a_subscription_that_was_removed_is_told_to_end(world: WebWorld, ada: Browser) -> None:
    phone = SubscribedBrowser()
    subscribe(ada, phone)
    [device] = devices_of(world, ada)
    while_there = renew(ada, phone)
    send(ada, f"/notifications/{device.destination_id}/remove")

    assert while_there.json() == {"DestinationId": device.destination_id}
    assert renew(ada, phone).status_code == 404


def test_what_is_no_subscription_is_refused_with_a_sentence(ada: Browser) -> None:
    refused = ada.post("/notifications/devices", data={"subscription": "{}"}, headers=OWN_PAGE)

    assert refused.status_code == 400
    assert "Try again" in refused.json()["Error"]


def test_browsers_are_added_at_a_bounded_pace(ada: Browser) -> None:
    answers = [subscribe(ada).status_code for _ in range(12)]

    assert answers[0] == 201
    assert answers[-1] == 429


@pytest.mark.parametrize("path", ["/notifications/devices", "/notifications/devices/renew"])
def test_no_page_of_another_site_adds_a_browser(ada: Browser, path: str) -> None:
    fields = {"subscription": SubscribedBrowser().to_json()}
    foreign = ada.post(path, data=fields, headers={**OWN_PAGE, "origin": "https://app-1.evil.test"})
    ada.cookies.clear()
    stranger = ada.post(path, data=fields, headers=OWN_PAGE, follow_redirects=False)

    assert foreign.status_code == 403
    assert stranger.status_code in (303, 401)


def test_nobody_names_tests_or_removes_another_accounts_browser(
    world: WebWorld, ada: Browser
) -> None:
    world.add_account(ada, BOB)
    subscribe(ada)
    [device] = devices_of(world, ada)
    ada.cookies.clear()
    sign_in(ada, BOB)

    for act in ("name", "test", "remove"):
        path = f"/notifications/{device.destination_id}/{act}"
        assert send(ada, path, name="mine").status_code == 404
    assert [one.label for one in devices_of(world, ada)] == ["Chrome on Android"]


# --- the buttons ----------------------------------------------------------------------------------


def test_a_button_pauses_the_print_without_a_cookie(world: WebWorld, ada: Browser) -> None:
    subscribe(ada)
    [device] = devices_of(world, ada)
    world.printers.statuses["p1"] = prints()
    pressed = press(ada, offer(world, ada, device))

    assert pressed.status_code == 200
    assert pressed.json() == {
        "title": "Workshop: pausing",
        "text": "The pause was sent to the printer. It may take a moment.",
    }
    assert [order.command for order in world.printers.orders] == ["/pause"]


def test_a_button_that_was_used_or_is_too_old_is_refused(world: WebWorld, ada: Browser) -> None:
    subscribe(ada)
    [device] = devices_of(world, ada)
    world.printers.statuses["p1"] = prints()
    token, old = offer(world, ada, device), offer(world, ada, device)
    press(ada, token)
    again = press(ada, token)
    world.clock.advance(ACT_LIFETIME + timedelta(seconds=1))
    late = press(ada, old)

    assert (again.status_code, late.status_code) == (409, 409)
    assert again.json()["title"] == late.json()["title"] == "Nothing was done"
    assert len(world.printers.orders) == 1


def test_signing_out_ends_the_buttons_too(world: WebWorld, ada: Browser) -> None:
    subscribe(ada)
    [device] = devices_of(world, ada)
    world.printers.statuses["p1"] = prints()
    token = offer(world, ada, device)
    send(ada, "/signout")

    assert press(ada, token).status_code == 409
    assert world.printers.orders == []


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[]", b'{"token": 7}', b"\xff", b'{"token": "\xff"}', b'{"a": ' + b"[" * 900],
)
def test_what_is_no_press_is_refused(ada: Browser, body: bytes) -> None:
    assert ada.post("/notifications/act", content=body).status_code == 400


def test_a_long_press_is_not_read(ada: Browser) -> None:
    sent = ada.post("/notifications/act", content=b'{"token": "' + b"x" * 5000 + b'"}')

    assert sent.status_code == 413


def test_buttons_are_tried_at_a_bounded_pace(ada: Browser) -> None:
    answers = {press(ada, "guess").status_code for _ in range(40)}

    assert answers == {409, 429}


def test_a_get_presses_nothing(world: WebWorld, ada: Browser) -> None:
    subscribe(ada)
    [device] = devices_of(world, ada)
    world.printers.statuses["p1"] = prints()
    token = offer(world, ada, device)

    assert ada.get(f"/notifications/act?token={token}").status_code in (404, 405)
    assert world.printers.orders == []


def test_the_export_has_the_browsers_and_none_of_their_secrets(
    world: WebWorld, ada: Browser
) -> None:
    phone = SubscribedBrowser("https://push.example/secret-endpoint")
    subscribe(ada, phone)
    [device] = devices_of(world, ada)
    token = offer(world, ada, device)
    exported = ada.get("/account/export").text

    assert "Chrome on Android" in exported
    assert "secret-endpoint" not in exported
    assert token not in exported
