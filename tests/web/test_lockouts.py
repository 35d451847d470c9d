"""No one can lock others out by using up their attempts."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from litestar.testing import TestClient

from tests.web.codes import code_now, set_up_totp
from tests.web.world import (
    ADA,
    BASE_URL,
    PASSWORD,
    Browser,
    WebWorld,
    send,
    send_and_follow,
    sign_in,
)

DEVICE = "__Host-printreach_device"
ANOTHER = "another long passphrase"


@pytest.fixture(autouse=True)
def ada(world: WebWorld, browser: Browser) -> None:
    world.add_account(browser, is_admin=True)
    sign_in(browser)


@pytest.fixture
def new_browser(world: WebWorld, browser: Browser) -> Callable[[], Browser]:
    """Opens browsers that have never been here, in the same network as all others."""

    def make() -> Browser:
        client = TestClient(world.app, base_url=BASE_URL)
        client.blocking_portal = browser.blocking_portal
        client.headers["accept"] = "text/html"
        return client

    return make


@pytest.fixture
def stranger(new_browser: Callable[[], Browser]) -> Browser:
    return new_browser()


def guess(stranger: Browser, tries: int = 12, email: str = ADA) -> int:
    """The status of the last of so many wrong passwords."""
    statuses = [sign_in(stranger, email, f"guess {n}").status_code for n in range(tries)]
    return statuses[-1]


def test_a_strangers_guesses_keep_an_owner_from_no_act_that_needs_the_password(
    browser: Browser, stranger: Browser
) -> None:
    assert guess(stranger) == 429

    invited = send(browser, "/operator/invite", password=PASSWORD)
    fields = {"old-password": PASSWORD, "new-password": ANOTHER}
    changed = send_and_follow(browser, "/account/password", **fields)

    assert invited.status_code == 303
    assert "Your password was changed" in changed.text


def test_a_browser_that_signed_in_before_signs_in_again_whatever_strangers_try(
    browser: Browser, stranger: Browser
) -> None:
    send(browser, "/signout")
    assert guess(stranger) == 429

    assert sign_in(stranger).status_code == 429
    assert sign_in(browser).status_code == 303


def test_a_crowd_in_the_same_network_keeps_no_known_browser_out(
    browser: Browser, stranger: Browser
) -> None:
    send(browser, "/signout")
    for number in range(121):
        sign_in(stranger, f"u{number}@example.org")
    assert sign_in(stranger, "eve@example.org").status_code == 429

    assert sign_in(browser).status_code == 303


def test_a_known_browser_guesses_no_more_often_than_a_stranger(browser: Browser) -> None:
    send(browser, "/signout")

    assert guess(browser, 10) == 400
    assert sign_in(browser).status_code == 429


def test_a_known_browser_is_a_stranger_to_other_accounts(
    world: WebWorld, browser: Browser, stranger: Browser
) -> None:
    bob = "bob@example.org"
    world.add_account(browser, bob)
    send(browser, "/signout")
    assert guess(stranger, email=bob) == 429

    assert sign_in(browser, bob).status_code == 429


def test_a_stolen_session_that_guesses_the_password_leaves_other_browsers_alone(
    browser: Browser, new_browser: Callable[[], Browser]
) -> None:
    thief = new_browser()
    thief.cookies.update(browser.cookies)
    owner = new_browser()
    sign_in(owner)
    fields = {"delete-password": "guessed"}
    tries = [send(thief, "/account/delete", **fields).status_code for _ in range(11)]
    assert tries == [400] * 10 + [429]

    fields = {"old-password": PASSWORD, "new-password": ANOTHER}
    changed = send_and_follow(owner, "/account/password", **fields)
    assert "Your password was changed" in changed.text


def test_a_new_password_makes_a_strangers_copy_of_the_cookie_worthless(
    browser: Browser, stranger: Browser
) -> None:
    stranger.cookies.set(DEVICE, browser.cookies[DEVICE], domain="printreach.example")
    old = browser.cookies[DEVICE]
    send(browser, "/account/password", **{"old-password": PASSWORD, "new-password": ANOTHER})
    assert browser.cookies[DEVICE] != old
    send(browser, "/signout")

    assert guess(stranger) == 429
    assert sign_in(browser, password=ANOTHER).status_code == 303


def test_the_cookie_of_a_known_browser_outlives_the_session_and_is_read_by_no_script(
    browser: Browser,
) -> None:
    cookies = sign_in(browser).headers.get_list("set-cookie")

    (device,) = [cookie for cookie in cookies if cookie.startswith(DEVICE)]
    assert f"Max-Age={365 * 86_400}" in device
    assert all(word in device for word in ("HttpOnly", "Secure", "Path=/"))
    send(browser, "/signout")
    assert browser.cookies[DEVICE]


def test_signing_up_for_an_address_again_and_again_keeps_its_owner_from_no_reset(
    stranger: Browser,
) -> None:
    signed_up = [
        send(stranger, "/signup", email=ADA, password=ANOTHER).status_code for _ in range(4)
    ]

    assert signed_up == [303, 303, 303, 429]
    assert send(stranger, "/reset", email=ADA).status_code == 303


def test_a_known_browser_asks_for_a_reset_whatever_strangers_asked_for(
    browser: Browser, stranger: Browser
) -> None:
    asked = [send(stranger, "/reset", email=ADA).status_code for _ in range(4)]

    assert asked == [303, 303, 303, 429]
    assert send(browser, "/reset", email=ADA).status_code == 303


@pytest.mark.slow
def test_a_browser_that_asks_too_often_keeps_no_other_of_its_account_out(
    browser: Browser, stranger: Browser
) -> None:
    statuses = [browser.get("/account").status_code for _ in range(601)]
    assert statuses[-1] == 429

    sign_in(stranger)
    assert stranger.get("/account").status_code == 200


def test_a_stranger_who_knows_the_password_keeps_no_known_browser_from_entering_its_code(
    world: WebWorld, browser: Browser, stranger: Browser
) -> None:
    set_up_totp(world, browser)
    sign_in(stranger)
    tries = [send(stranger, "/signin/code", code="000000").status_code for _ in range(6)]
    assert tries == [400] * 5 + [429]
    world.clock.advance(timedelta(minutes=1))
    code = code_now(world, browser)
    send(browser, "/signout")
    sign_in(browser)

    assert send(browser, "/signin/code", code=code).status_code == 303


def test_a_stranger_with_known_browsers_of_their_own_tries_others_no_more_often(
    world: WebWorld, browser: Browser, stranger: Browser
) -> None:
    world.add_account(browser, "eve@example.org")
    sign_in(stranger, "eve@example.org")
    send(stranger, "/signout")

    guesses = [sign_in(stranger, f"u{n}@example.org").status_code for n in range(31)]
    resets = [send(stranger, "/reset", email=f"u{n}@x.org").status_code for n in range(11)]
    signed_up = [
        send(stranger, "/signup", email=f"u{n}@x.org", password=ANOTHER).status_code
        for n in range(11)
    ]

    assert 429 in guesses
    assert resets == [303] * 10 + [429]
    assert signed_up == [303] * 10 + [429]
