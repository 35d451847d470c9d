"""A weak password is refused on every form, by the same rule and with the same words."""

import pytest

from printreach.hub.denied import Denied
from tests.web.world import ADA, PASSWORD, Browser, WebWorld, run, send, sign_in

WEAK = "Password1"
SENTENCE = "This password is one of the most common ones"


def test_a_weak_password_is_refused_at_sign_up(world: WebWorld, browser: Browser) -> None:
    answer = send(browser, "/signup", email=ADA, password=WEAK)

    assert (answer.status_code, SENTENCE in answer.text) == (400, True)
    assert world.people(browser) == []


def test_a_weak_password_is_refused_with_an_invitation(world: WebWorld, browser: Browser) -> None:
    url = run(browser, world.services.invitations.invite)
    assert isinstance(url, str)
    invite = url.partition("invite=")[2]

    answer = send(browser, "/signup", email=ADA, password=WEAK, invite=invite)

    assert (answer.status_code, SENTENCE in answer.text) == (400, True)
    assert send(browser, "/signup", email=ADA, password=PASSWORD, invite=invite).status_code == 303


def test_a_weak_password_is_refused_by_the_link_of_a_reset(
    world: WebWorld, browser: Browser
) -> None:
    world.add_account(browser)
    send(browser, "/reset", email=ADA)
    token = world.mailer.link().partition("token=")[2]

    for password in (WEAK, ADA):
        answer = send(browser, "/reset/new", token=token, password=password)
        assert (answer.status_code, "This password is" in answer.text) == (400, True)
    assert send(browser, "/reset/new", token=token, password="of another kind").status_code == 303


def test_a_password_is_not_changed_to_a_weak_one(world: WebWorld, browser: Browser) -> None:
    world.add_account(browser)
    sign_in(browser)

    fields = {"old-password": PASSWORD, "new-password": WEAK}
    answer = send(browser, "/account/password", **fields)

    assert (answer.status_code, SENTENCE in answer.text) == (400, True)


@pytest.mark.parametrize("password", [WEAK, ADA, "printreach1"])
def test_an_operator_makes_no_account_with_a_weak_password(
    world: WebWorld, browser: Browser, password: str
) -> None:
    made = run(browser, lambda: world.services.accounts.add(ADA, password))

    assert isinstance(made, Denied)
    assert "This password is" in made.sentence
    assert world.people(browser) == []


def test_an_account_that_has_a_weak_password_from_before_signs_in(
    world: WebWorld, browser: Browser
) -> None:
    ada = world.add_account(browser)

    async def weaken() -> None:
        hashed = await world.passwords.hash(WEAK)
        await world.store.write(
            lambda records: records.accounts.set_password(ada.account_id, hashed)
        )

    run(browser, weaken)

    assert sign_in(browser, password=WEAK).status_code == 303
