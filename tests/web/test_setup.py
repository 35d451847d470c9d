"""Setting up a service that has no operator: its messages, and its sign-in."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.web.conftest import MakeWorld
from tests.web.ways import way_with
from tests.web.world import ADA, PASSWORD, Browser, WebWorld, run, send, sign_in

EVE = "eve@example.org"
NOT_SET_UP = "Not set up yet"


@pytest.fixture(scope="session")
def migrated(empty: Path) -> Path:
    """Nobody operates the services of these tests."""
    return empty


def setup_link(world: WebWorld, browser: Browser) -> str:
    url = run(browser, world.services.invitations.make_setup_link)
    assert url is not None
    return url


def use(browser: Browser, url: str, email: str = ADA) -> int:
    """Make an account by that link; the status of the answer."""
    invite = url.partition("invite=")[2]
    return send(browser, "/signup", email=email, password=PASSWORD, invite=invite).status_code


def test_the_setup_link_makes_the_first_operator_once(world_with: MakeWorld) -> None:
    with world_with(SIGN_UP="closed") as (world, browser):
        old = setup_link(world, browser)
        url = setup_link(world, browser)

        assert browser.get(old).status_code == 400
        assert "Set up Printreach" in browser.get(url).text
        assert use(browser, url) == 303

        (made,) = world.people(browser)
        assert made.is_admin
        assert run(browser, world.services.invitations.make_setup_link) is None
        assert browser.get(url).status_code == 400
        assert use(browser, url, EVE) == 400


def test_a_stranger_cannot_sign_up_before_there_is_an_operator(
    world: WebWorld, browser: Browser
) -> None:
    url = setup_link(world, browser)

    answer = send(browser, "/signup", email=EVE, password=PASSWORD)

    assert answer.status_code == 400
    assert NOT_SET_UP in answer.text
    assert world.people(browser) == []
    assert world.mailer.sent == []
    assert use(browser, url) == 303


def test_a_provider_brings_nobody_before_there_is_an_operator(world_with: MakeWorld) -> None:
    with way_with(world_with) as way:
        way.provider.person = {"sub": "1001", "email": EVE, "email_verified": True}
        url = setup_link(way.world, way.browser)

        answer = way.go()

        assert answer.status_code == 400
        assert "has no operator yet" in answer.text
        assert way.emails() == []
        assert use(way.browser, url) == 303


def test_a_provider_makes_the_first_operator_by_the_setup_link(world_with: MakeWorld) -> None:
    with way_with(world_with) as way:
        way.provider.person = {"sub": "1001", "email": ADA, "email_verified": True}
        url = setup_link(way.world, way.browser)

        assert way.go(invite=url.partition("invite=")[2]).status_code == 303

        (made,) = way.world.people(way.browser)
        assert (made.email, made.is_admin) == (ADA, True)


def test_accounts_that_are_no_operators_do_not_end_the_set_up(
    world: WebWorld, browser: Browser
) -> None:
    url = setup_link(world, browser)
    world.add_account(browser, EVE)

    newest = setup_link(world, browser)

    assert browser.get(url).status_code == 400
    assert use(browser, newest) == 303


def test_an_address_that_signed_up_without_confirming_can_be_the_first_operators(
    world: WebWorld, browser: Browser
) -> None:
    """Older releases let strangers sign up before there was an operator."""
    ada = world.add_account(browser)

    async def unconfirm() -> None:
        unconfirmed = replace(ada, verified_at=None)
        await world.store.write(lambda records: records.accounts.delete(ada.account_id))
        await world.store.write(lambda records: records.accounts.add(unconfirmed))

    run(browser, unconfirm)

    assert use(browser, setup_link(world, browser)) == 303
    assert [account.is_admin for account in world.people(browser)] == [True]


def test_an_address_with_an_account_is_told_how_to_become_the_operator(
    world: WebWorld, browser: Browser
) -> None:
    world.add_account(browser)
    invite = setup_link(world, browser).partition("invite=")[2]

    answer = send(browser, "/signup", email=ADA, password=PASSWORD, invite=invite)

    assert answer.status_code == 400
    assert "printreach admin operator EMAIL on" in answer.text


@pytest.mark.parametrize("path", ["/", "/signin", "/signup"])
def test_a_page_says_where_the_setup_link_is(browser: Browser, path: str) -> None:
    text = browser.get(path).text

    assert NOT_SET_UP in text
    assert "journalctl" in text
    assert "docker logs" in text
    assert "printreach admin account add you@example.com --admin" in text


@pytest.mark.parametrize("path", ["/", "/signin", "/signup"])
def test_no_page_speaks_of_the_set_up_once_there_is_an_operator(
    world: WebWorld, browser: Browser, path: str
) -> None:
    world.add_account(browser, is_admin=True)

    assert NOT_SET_UP not in browser.get(path).text


def test_people_without_operator_rights_sign_in_before_the_set_up(
    world: WebWorld, browser: Browser
) -> None:
    world.add_account(browser)

    assert NOT_SET_UP in sign_in(browser, password="not the passphrase").text
    assert sign_in(browser).status_code == 303


def test_an_earlier_setup_link_leads_to_where_the_newest_one_is(
    world: WebWorld, browser: Browser
) -> None:
    earlier = setup_link(world, browser).partition("invite=")[2]
    setup_link(world, browser)

    answer = browser.get(f"/signup?invite={earlier}")

    assert answer.status_code == 400
    assert "an earlier start of the service" in answer.text
    assert "Each start of the service writes a new link. Only the newest works." in answer.text


@pytest.mark.parametrize("path", ["/", "/signin", "/signup"])
def test_no_page_speaks_of_a_first_account_where_there_is_one(
    world: WebWorld, browser: Browser, path: str
) -> None:
    world.add_account(browser)

    assert "first account" not in browser.get(path).text
