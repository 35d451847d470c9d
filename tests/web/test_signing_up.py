"""Signing up by the pages: the mail, its link, invitations, and those who try for others."""

from datetime import timedelta

import pytest
from litestar.testing import TestClient

from tests.web.conftest import MakeWorld
from tests.web.world import (
    ADA,
    BASE_URL,
    PASSWORD,
    Browser,
    WebWorld,
    run,
    send,
    send_and_follow,
    sign_in,
)

EVE = "eve@example.org"


def sign_up(browser: Browser, email: str = ADA, password: str = PASSWORD, **more: str) -> int:
    return send(browser, "/signup", email=email, password=password, **more).status_code


def confirm(browser: Browser, link: str, password: str = "") -> str:
    """Where the link of a mail leads; the status where it leads nowhere."""
    answer = send(browser, "/confirm", token=link.partition("token=")[2], password=password)
    return str(answer.headers.get("location", answer.status_code))


def is_signed_in(browser: Browser) -> bool:
    return browser.get("/signin", follow_redirects=False).status_code == 303


@pytest.fixture
def other(world: WebWorld, browser: Browser) -> Browser:
    """Another browser, on another machine."""
    client = TestClient(world.app, base_url=BASE_URL)
    client.blocking_portal = browser.blocking_portal
    client.headers["accept"] = "text/html"
    return client


def test_the_link_in_the_mail_signs_a_new_account_in_and_goes_on(
    world: WebWorld, browser: Browser
) -> None:
    assert sign_up(browser, next="/link?code=K7QF4MXY") == 303
    assert not is_signed_in(browser)

    assert confirm(browser, world.mailer.link()) == "/link?code=K7QF4MXY"

    assert is_signed_in(browser)
    assert world.mailer.sent[0].to == ADA


def test_looking_at_the_link_does_not_use_it_up(world: WebWorld, browser: Browser) -> None:
    sign_up(browser)
    for _ in range(3):
        assert browser.get(world.mailer.link()).status_code == 200

    assert confirm(browser, world.mailer.link()) == "/"


def test_the_link_works_once_and_for_a_day(world: WebWorld, browser: Browser) -> None:
    sign_up(browser)
    link = world.mailer.link()
    assert confirm(browser, link) == "/"
    assert confirm(browser, link) == "400"

    sign_up(browser, EVE)
    world.clock.advance(timedelta(days=1))
    assert confirm(browser, world.mailer.link()) == "400"


def test_before_the_link_is_opened_nobody_is_in_and_the_mail_comes_again(
    world: WebWorld, browser: Browser, other: Browser
) -> None:
    sign_up(browser)

    answer = sign_in(other)

    assert "Confirm your address" in other.get(answer.headers["location"]).text
    assert len(world.mailer.sent) == 2
    assert confirm(other, world.mailer.link(), PASSWORD) == "/"


def test_the_link_in_another_browser_needs_the_password(
    world: WebWorld, browser: Browser, other: Browser
) -> None:
    sign_up(browser)
    link = world.mailer.link()

    assert "Password" in other.get(link).text
    assert confirm(other, link) == "400"
    assert confirm(other, link, "another passphrase") == "400"
    assert confirm(other, link, PASSWORD) == "/"


def test_an_account_made_for_somebody_else_never_lets_its_maker_in(
    world: WebWorld, browser: Browser, other: Browser
) -> None:
    """The owner of the address signs up, and somebody else does after them with the same one."""
    sign_up(browser)
    sign_up(other, password="of the attacker")

    assert confirm(browser, world.mailer.link()) == "400"
    send(browser, "/reset", email=ADA)
    token = world.mailer.link().partition("token=")[2]
    send(browser, "/reset/new", token=token, password="of the owner alone")

    assert is_signed_in(browser)
    assert sign_in(other, password="of the attacker").status_code == 400


def test_an_address_with_an_account_is_told_nothing_on_the_page_and_all_in_the_mail(
    world: WebWorld, browser: Browser, other: Browser
) -> None:
    world.add_account(browser)

    def what_eve_sees(email: str) -> tuple[int, str, list[str]]:
        answer = send(other, "/signup", email=email, password=PASSWORD)
        names = [cookie.partition("=")[0] for cookie in answer.headers.get_list("set-cookie")]
        page = other.get(answer.headers["location"])
        return answer.status_code, page.text.replace(email, "…"), names

    assert what_eve_sees(ADA) == what_eve_sees(EVE)
    assert [mail.subject for mail in world.mailer.sent] == [
        "You already have an account",
        "Confirm your address",
    ]
    assert sign_in(other, ADA).status_code == 303, "the password of the account is as it was"


def test_an_address_with_an_account_takes_as_much_work_as_one_without(
    world: WebWorld, browser: Browser, other: Browser
) -> None:
    world.add_account(browser)

    def work(path: str, email: str) -> int:
        before = world.passwords.slow_calls
        send(other, path, email=email, password="another passphrase")
        return world.passwords.slow_calls - before

    assert work("/signup", ADA) == work("/signup", EVE) == 1
    assert work("/signin", ADA) == work("/signin", "nobody@example.org") == 1
    assert work("/reset", ADA) == work("/reset", "nobody@example.org") == 0


@pytest.mark.parametrize(
    ("email", "password", "field"),
    [("nobody", PASSWORD, "email"), (ADA, "short", "password"), ("a b@c", PASSWORD, "email")],
)
def test_what_is_wrong_stands_at_its_field_and_the_address_is_kept(
    world: WebWorld, browser: Browser, email: str, password: str, field: str
) -> None:
    answer = send(browser, "/signup", email=email, password=password)

    assert answer.status_code == 400
    assert f'href="#{field}"' in answer.text
    assert f'value="{email}"' in answer.text
    assert password not in answer.text or field == "email"
    assert world.mailer.sent == []


def test_a_mailbox_gets_three_mails_at_once_and_then_one_in_ten_minutes(
    world: WebWorld, browser: Browser
) -> None:
    assert [sign_up(browser) for _ in range(4)] == [303, 303, 303, 429]
    assert len(world.mailer.sent) == 3

    world.clock.advance(timedelta(minutes=10))
    assert [sign_up(browser) for _ in range(2)] == [303, 429]


@pytest.mark.parametrize(
    "typed",
    ["a@x.example,b@y.example", "x<ada@example.org", "ada@example.org;b@y", '"a"@b.example'],
)
def test_an_address_that_is_not_one_mailbox_gets_no_mail(
    world: WebWorld, browser: Browser, typed: str
) -> None:
    answer = send(browser, "/signup", email=typed, password=PASSWORD)

    assert answer.status_code == 400
    assert "Enter an e-mail address such as you@example.com." in answer.text
    assert world.mailer.sent == []


def test_one_address_makes_ten_accounts_and_no_more(browser: Browser) -> None:
    made = [sign_up(browser, f"u{number}@example.org") for number in range(11)]

    assert made == [303] * 10 + [429]


@pytest.mark.parametrize("policy", ["invited", "closed"])
def test_an_operator_can_keep_strangers_out(world_with: MakeWorld, policy: str) -> None:
    with world_with(SIGN_UP=policy) as (world, browser):
        assert "operator" in browser.get("/signup").text
        assert sign_up(browser) == 400
        assert world.mailer.sent == []
        assert world.people(browser) == []


def test_an_invitation_makes_one_account_without_a_mail(world_with: MakeWorld) -> None:
    with world_with(SIGN_UP="closed") as (world, browser):
        url = run(browser, lambda: world.services.invitations.invite(ADA, supporter=True))
        assert isinstance(url, str)
        invite = url.partition("invite=")[2]

        assert browser.get(url).status_code == 200
        assert sign_up(browser, EVE, invite=invite) == 400
        assert sign_up(browser, ADA, invite=invite) == 303
        assert is_signed_in(browser)
        assert sign_up(browser, EVE, invite=invite) == 400

        (made,) = world.people(browser)
        assert (made.email, made.supporter_granted, made.is_admin) == (ADA, True, False)
        assert world.mailer.sent == []


def test_an_account_that_nobody_confirms_is_forgotten(world: WebWorld, browser: Browser) -> None:
    sign_up(browser, EVE)
    world.clock.advance(timedelta(days=8))
    sign_up(browser, ADA)

    assert [account.email for account in world.people(browser)] == [ADA]


def test_a_reset_signs_every_browser_out_and_this_one_in(
    world: WebWorld, browser: Browser, other: Browser
) -> None:
    world.add_account(browser)
    sign_in(other)
    send(browser, "/reset", email=ADA)
    link = world.mailer.link()

    assert browser.get(link).status_code == 200
    answer = send(
        browser, "/reset/new", token=link.partition("token=")[2], password="of another kind"
    )

    assert answer.headers["location"] == "/"
    assert is_signed_in(browser)
    assert not is_signed_in(other)
    assert sign_in(other).status_code == 400
    assert world.mailer.sent[-1].subject == "Your password was changed"
    assert browser.get(link).status_code == 400


def test_a_reset_ends_the_session_that_this_browser_had_of_somebody_else(
    world: WebWorld, browser: Browser
) -> None:
    world.add_account(browser)
    eve = world.add_account(browser, EVE)
    sign_in(browser, EVE)
    send(browser, "/reset", email=ADA)

    token = world.mailer.link().partition("token=")[2]
    send(browser, "/reset/new", token=token, password="of another kind")

    assert run(browser, lambda: world.services.sessions.of_account(eve.account_id)) == []
    assert ADA in browser.get("/account").text


def test_an_address_without_an_account_gets_no_mail_and_the_same_page(
    world: WebWorld, browser: Browser
) -> None:
    world.add_account(browser)

    known = send_and_follow(browser, "/reset", email=ADA)
    unknown = send_and_follow(browser, "/reset", email=EVE)

    assert known.text == unknown.text
    assert [mail.to for mail in world.mailer.sent] == [ADA]


def test_a_confirmation_link_is_no_reset_link(world: WebWorld, browser: Browser) -> None:
    sign_up(browser)
    token = world.mailer.link().partition("token=")[2]

    assert browser.get(f"/reset/new?token={token}").status_code == 400
    assert send(browser, "/reset/new", token=token, password="of another kind").status_code == 400


def test_the_link_of_an_earlier_sign_up_says_that_there_is_a_newer_one(
    world: WebWorld, browser: Browser
) -> None:
    sign_up(browser)
    earlier = world.mailer.link()
    sign_up(browser)

    page = browser.get(earlier).text

    assert "only the newest link works" in page
    assert "the newest link in the service" in page


def test_after_a_wrong_password_the_page_still_says_whose_account_it_is(
    world: WebWorld, browser: Browser, other: Browser
) -> None:
    send(browser, "/signup", email=ADA, password=PASSWORD)
    token = world.mailer.link().partition("token=")[2]

    answer = send(other, "/confirm", token=token, password="another passphrase")

    assert answer.status_code == 400
    assert f"sign in as {ADA}." in answer.text


def test_a_sign_in_before_the_confirmation_says_that_it_made_a_new_link(
    world: WebWorld, browser: Browser
) -> None:
    send(browser, "/signup", email=ADA, password=PASSWORD)
    first = world.mailer.link()

    page = browser.get(sign_in(browser).headers["location"]).text

    assert "Only the newest link works" in page
    assert world.mailer.link() != first
    assert confirm(browser, first) == "400"
