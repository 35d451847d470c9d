"""Without a mail server no page says that a mail was sent, and pages name whom to ask."""

import secrets

import pytest

from printreach.hub.print_mails import mail_destination
from printreach.rules.accounts import Account
from tests.web.conftest import MakeWorld
from tests.web.test_notifications import destinations_of
from tests.web.world import ADA, PASSWORD, Browser, WebWorld, run, send, send_and_follow, sign_in

EVE = "eve@example.org"
ASK = "t send you an e-mail. Ask its operator for the link"


def told_by_mail(world: WebWorld, browser: Browser, account: Account) -> str:
    """The account chose mail while there was a mail server; the path of that place."""
    destination = mail_destination(secrets.token_bytes, account.account_id, world.clock.now())
    run(
        browser,
        lambda: world.store.write(
            lambda records: records.notifications.add_destination(destination)
        ),
    )
    return f"/notifications/{destination.destination_id}"


def test_no_page_about_an_account_says_that_a_mail_is_on_its_way(
    world: WebWorld, browser: Browser
) -> None:
    world.add_account(browser)
    pages = {
        "sign-up": send_and_follow(browser, "/signup", email=EVE, password=PASSWORD).text,
        "unconfirmed": browser.get(sign_in(browser, EVE).headers["location"]).text,
        "reset": send_and_follow(browser, "/reset", email=ADA).text,
    }

    assert {name: ASK in text for name, text in pages.items()} == dict.fromkeys(pages, True)
    assert [name for name, text in pages.items() if "on its way" in text] == []
    assert {mail.to for mail in world.mailer.sent} == {ADA, EVE}


def test_a_new_address_is_confirmed_by_a_link_that_the_operator_has(
    world: WebWorld, browser: Browser
) -> None:
    world.add_account(browser)
    sign_in(browser)

    fields = {"new-mail": EVE, "mail-password": PASSWORD}
    text = send_and_follow(browser, "/account/mail", **fields).text

    assert "Ask the operator for the link" in text
    assert "on its way" not in text


@pytest.mark.parametrize("path", ["/signup", "/reset", "/account", "/notifications/add"])
def test_a_form_says_beforehand_that_there_is_no_mail_server(
    world: WebWorld, browser: Browser, path: str
) -> None:
    world.add_account(browser)
    if path not in {"/signup", "/reset"}:
        sign_in(browser)

    assert "his service has no mail server" in browser.get(path).text


def test_mail_cannot_be_chosen_as_a_place(world: WebWorld, browser: Browser) -> None:
    world.add_account(browser)
    sign_in(browser)

    answer = send(browser, "/notifications/add", way="mail")

    assert answer.status_code == 400
    assert "This service has no mail server" in answer.text
    assert destinations_of(world, browser) == []
    assert 'href="/notifications/add?way=mail"' not in browser.get("/notifications/add").text


def test_a_place_by_mail_from_before_is_shown_as_not_reached_and_sends_no_test(
    world: WebWorld, browser: Browser
) -> None:
    path = told_by_mail(world, browser, world.add_account(browser))
    sign_in(browser)

    listed = browser.get("/notifications").text
    tested = send(browser, f"{path}/test")

    assert "send you e-mail" in listed
    assert f"{path}/test" not in listed
    assert tested.status_code == 400
    assert world.mailer.sent == []
    assert destinations_of(world, browser)[0].sent_at is None


def test_the_overview_of_operators_says_that_there_is_no_mail_server(
    world: WebWorld, browser: Browser
) -> None:
    world.add_account(browser, is_admin=True)
    sign_in(browser)

    assert "There is no mail server." in browser.get("/operator").text


def test_the_overview_of_operators_says_nothing_of_it_where_there_is_one(
    world_with: MakeWorld,
) -> None:
    with world_with(SMTP_URL="smtp://mail.example") as (world, browser):
        world.add_account(browser, is_admin=True)
        sign_in(browser)

        assert "There is no mail server." not in browser.get("/operator").text
