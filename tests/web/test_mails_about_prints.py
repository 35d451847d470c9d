"""New people get mails about their prints, and unsubscribe with one press, signed in or not."""

import secrets
from collections.abc import Mapping

import pytest

from printreach.hub.print_mails import stop_token
from printreach.rules.notifications import Destination
from printreach.store.sealing import KeySealer
from tests.web.conftest import MakeWorld
from tests.web.test_notifications import destinations_of
from tests.web.test_signing_up import confirm, sign_up
from tests.web.ways import way_with
from tests.web.world import ADA, PASSWORD, Browser, WebWorld, run, send, sign_in

BOB = "bob@example.org"
SMTP_URL = "smtp://mail.example"
STOP = "/notifications/stop?token="
OTHERS = KeySealer(b"o" * 32, secrets.token_bytes)


@pytest.fixture
def world_settings() -> Mapping[str, str]:
    return {"SMTP_URL": SMTP_URL}


@pytest.fixture
def destination(world: WebWorld, browser: Browser) -> Destination:
    """Where Ada is told by mail. Nobody is signed in."""
    world.add_account(browser)
    [added] = destinations_of(world, browser)
    return added


def token_for(world: WebWorld, destination_id: str) -> str:
    return stop_token(world.services.stops_mails.sealer, destination_id)


def channels_of(world: WebWorld, browser: Browser, email: str = ADA) -> list[str]:
    return [one.channel for one in destinations_of(world, browser, email)]


# --- the first place ------------------------------------------------------------------------------


def test_a_confirmed_address_gets_notifications(world_with: MakeWorld) -> None:
    with world_with(SMTP_URL=SMTP_URL) as (world, browser):
        sign_up(browser)
        before = destinations_of(world, browser)
        confirm(browser, world.mailer.link())

        assert before == []
        assert channels_of(world, browser) == ["mail"]
        assert "your e-mail address" in browser.get("/notifications").text


def test_without_a_mail_server_nobody_is_told_by_the_log(world_with: MakeWorld) -> None:
    with world_with() as (world, browser):
        sign_up(browser)
        confirm(browser, world.mailer.link())

        assert channels_of(world, browser) == []


def test_an_account_is_notified_by_mail_whoever_created_it(world_with: MakeWorld) -> None:
    with world_with(SMTP_URL=SMTP_URL) as (world, browser):
        world.add_account(browser)
        invite = run(browser, lambda: world.services.invitations.invite(BOB))
        assert isinstance(invite, str)
        sign_up(browser, BOB, invite=invite.partition("invite=")[2])

        assert channels_of(world, browser) == ["mail"]
        assert channels_of(world, browser, BOB) == ["mail"]


def test_an_account_made_through_a_provider_is_notified_by_mail(world_with: MakeWorld) -> None:
    with way_with(world_with, SMTP_URL=SMTP_URL) as way:
        way.provider.person = {"sub": "1001", "email": ADA, "email_verified": True}
        way.go()

        assert channels_of(way.world, way.browser) == ["mail"]


def test_confirming_by_another_password_notifies_by_mail_unless_notifications_were_chosen(
    world_with: MakeWorld,
) -> None:
    with world_with(SMTP_URL=SMTP_URL) as (world, browser):
        sign_up(browser)
        choose_another_password(world, browser)
        [first] = destinations_of(world, browser)
        send(browser, f"/notifications/{first.destination_id}/remove")
        choose_another_password(world, browser)

        assert first.channel == "mail"
        assert destinations_of(world, browser) == []


def choose_another_password(world: WebWorld, browser: Browser) -> None:
    send(browser, "/reset", email=ADA)
    token = world.mailer.link().partition("token=")[2]
    assert send(browser, "/reset/new", token=token, password=PASSWORD).status_code == 303


# --- the end of the mails -------------------------------------------------------------------------


def test_a_look_at_the_link_ends_nothing(
    world: WebWorld, browser: Browser, destination: Destination
) -> None:
    page = browser.get(STOP + token_for(world, destination.destination_id))

    assert page.status_code == 200
    assert "Stop e-mails about prints?" in page.text
    assert ADA not in page.text
    assert destinations_of(world, browser) == [destination]


def test_one_press_ends_the_mails_and_a_second_changes_nothing(
    world: WebWorld, browser: Browser, destination: Destination
) -> None:
    path = STOP + token_for(world, destination.destination_id)
    answers = [send(browser, path).status_code for _ in range(2)]

    assert answers == [200, 200]
    assert destinations_of(world, browser) == []
    assert browser.get(path).status_code == 200


def test_a_mail_program_ends_them_without_any_page(
    world: WebWorld, browser: Browser, destination: Destination
) -> None:
    one_click = {"List-Unsubscribe": "One-Click"}
    answer = browser.post(STOP + token_for(world, destination.destination_id), data=one_click)

    assert answer.status_code == 200
    assert destinations_of(world, browser) == []


def test_it_ends_mails_to_that_place_alone(
    world: WebWorld, browser: Browser, destination: Destination
) -> None:
    world.add_account(browser, BOB)
    sign_in(browser, BOB)
    send(browser, "/notifications/add", way="ntfy", topic="t", server="", token="")
    [mail, ntfy] = destinations_of(world, browser, BOB)

    send(browser, STOP + token_for(world, mail.destination_id))

    assert destinations_of(world, browser) == [destination]
    assert destinations_of(world, browser, BOB) == [ntfy]


@pytest.mark.parametrize(
    "token",
    ["", "x", "é", "<script>", "A" * 100, "A" * 3000, "=" * 8, "the id", "another's", "of a place"],
)
def test_no_other_token_ends_anything(
    world: WebWorld, browser: Browser, destination: Destination, token: str
) -> None:
    sealer = world.services.stops_mails.sealer
    forged = {
        "the id": destination.destination_id,
        "another's": stop_token(OTHERS, destination.destination_id),
        "of a place": sealer.seal(destination.destination_id, destination.destination_id).hex(),
    }
    path = f"/notifications/stop?token={forged.get(token, token)}"
    asked, sent = browser.get(path), send(browser, path)

    assert (asked.status_code, sent.status_code) == (404, 404)
    assert "<script>" not in asked.text
    assert destinations_of(world, browser) == [destination]
