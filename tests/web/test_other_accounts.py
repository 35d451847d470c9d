"""Signing in with an account of another service, as people and attackers do it."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from printreach.hub.accounts.password_reset import AccountRecovery
from printreach.rules.accounts.second_factors import code_of, step_at
from tests.web.conftest import MakeWorld
from tests.web.ways import BACK, NAME, Way, address_in, way_with
from tests.web.world import ADA, PASSWORD, Browser, run, send, sign_in

EVE = "eve@example.org"


@pytest.fixture
def way(world_with: MakeWorld) -> Iterator[Way]:
    with way_with(world_with) as opened:
        opened.provider.person = {"sub": "1001", "email": ADA, "email_verified": True}
        yield opened


def join(way: Way) -> None:
    """Ada, who has an account with a password, adds the provider to it, and signs out."""
    way.world.add_account(way.browser)
    sign_in(way.browser)
    answer = send(way.browser, "/account/other", **{"other-password": PASSWORD})
    query = way.provider.authorise(address_in(answer))
    assert way.back(query).headers["location"] == "/account/security#other"
    send(way.browser, "/signout")


# --- somebody new ---------------------------------------------------------------------------------


def test_somebody_new_has_an_account_and_goes_on_to_where_they_were_going(way: Way) -> None:
    answer = way.go(next="/link?code=K7QF4MXY")

    assert (answer.status_code, answer.headers["location"]) == (303, "/link?code=K7QF4MXY")
    assert way.is_signed_in()
    assert way.emails() == [ADA]


def test_the_second_time_they_are_known_whatever_their_address_is_by_then(way: Way) -> None:
    way.go()
    send(way.browser, "/signout")
    way.provider.person = {"sub": "1001", "email": EVE, "email_verified": True}

    assert way.go().status_code == 303
    assert way.is_signed_in()
    assert way.emails() == [ADA]


@pytest.mark.parametrize("person", [{}, {"email": ADA}, {"email": ADA, "email_verified": False}])
def test_nobody_gets_an_account_for_an_address_that_is_not_vouched_for(
    way: Way, person: dict[str, object]
) -> None:
    way.provider.person = {"sub": "1001", **person}

    answer = way.go()

    assert answer.status_code == 400
    assert "gives no confirmed e-mail address for you" in answer.text
    assert way.emails() == []


def test_whether_an_address_has_an_account_is_told_to_its_owner_alone(way: Way) -> None:
    way.provider.person = {"sub": "1001", "email": ADA, "email_verified": False}
    before = way.go()
    way.world.add_account(way.browser)

    assert way.go().text == before.text


@pytest.mark.parametrize("policy", ["invited", "closed"])
def test_nobody_new_comes_in_where_sign_up_is_not_open(world_with: MakeWorld, policy: str) -> None:
    with way_with(world_with, SIGN_UP=policy) as way:
        way.provider.person = {"sub": "1001", "email": ADA, "email_verified": True}

        answer = way.go()

        assert answer.status_code == 400
        assert not way.is_signed_in()
        assert way.emails() == []


def test_an_invitation_admits_once(world_with: MakeWorld) -> None:
    with way_with(world_with, SIGN_UP="invited") as way:
        way.provider.person = {"sub": "1001", "email": ADA, "email_verified": True}
        link = run(way.browser, lambda: way.world.services.invitations.invite(is_admin=True))
        assert isinstance(link, str)
        token = link.partition("invite=")[2]

        assert way.go(invite=token).status_code == 303
        send(way.browser, "/signout")
        way.provider.person = {"sub": "1002", "email": EVE, "email_verified": True}
        again = way.go(invite=token)

        assert "invitation was used" in again.text
        assert way.emails() == [ADA]
        [account] = way.world.people(way.browser)
        assert account.is_admin


def test_an_invitation_for_one_address_lets_no_other_in(world_with: MakeWorld) -> None:
    with way_with(world_with, SIGN_UP="closed") as way:
        way.provider.person = {"sub": "1001", "email": EVE, "email_verified": True}
        link = run(way.browser, lambda: way.world.services.invitations.invite(ADA))
        assert isinstance(link, str)

        answer = way.go(invite=link.partition("invite=")[2])

        assert f"This invitation is for {ADA}." in answer.text
        assert way.emails() == []


def test_an_earlier_sign_up_with_anothers_address_gives_no_access_to_the_owners_account(
    way: Way,
) -> None:
    send(way.browser, "/signup", email=ADA, password=PASSWORD)

    assert way.go().status_code == 303
    send(way.browser, "/signout")
    assert sign_in(way.browser).status_code == 400
    assert way.browser.get(way.world.mailer.link()).status_code == 400


# --- an account that is there ---------------------------------------------------------------------


def test_an_account_that_is_there_is_not_opened_by_an_address(way: Way) -> None:
    way.world.add_account(way.browser)

    answer = way.go()

    assert answer.status_code == 400
    assert "You have an account with this address." in answer.text
    assert not way.is_signed_in()


def test_a_signed_in_owner_adds_the_provider_and_is_told_by_mail(way: Way) -> None:
    join(way)

    assert "signs you in from now on" in way.world.mailer.sent[-1].text
    assert way.go().headers["location"] == "/"
    assert way.is_signed_in()


def test_adding_asks_for_the_password(way: Way) -> None:
    way.world.add_account(way.browser)
    sign_in(way.browser)

    answer = send(way.browser, "/account/other", **{"other-password": "guess"})

    assert answer.status_code == 400
    assert "not your password" in answer.text
    assert way.provider.codes == {}


def test_a_way_begun_in_one_account_adds_nothing_to_another(way: Way) -> None:
    way.world.add_account(way.browser)
    way.world.add_account(way.browser, EVE)
    sign_in(way.browser)
    answer = send(way.browser, "/account/other", **{"other-password": PASSWORD})
    step = way.browser.cookies["__Host-printreach_step"]
    sign_in(way.browser, email=EVE)
    way.browser.cookies.set("__Host-printreach_step", step, domain="printreach.example")

    way.back(way.provider.authorise(address_in(answer)))

    send(way.browser, "/signout")
    assert way.go().status_code == 400  # nobody's yet


def test_a_way_begun_to_be_let_in_adds_nothing(way: Way) -> None:
    there = way.there()
    way.world.add_account(way.browser, EVE)
    step = way.browser.cookies["__Host-printreach_step"]
    sign_in(way.browser, email=EVE)
    way.browser.cookies.set("__Host-printreach_step", step, domain="printreach.example")

    way.back(way.provider.authorise(there))

    assert ADA in way.browser.get("/account/security").text
    assert sorted(way.emails()) == [ADA, EVE]


def test_one_person_at_the_provider_opens_one_account(way: Way) -> None:
    join(way)
    way.world.add_account(way.browser, EVE)
    sign_in(way.browser, email=EVE)

    answer = send(way.browser, "/account/other", **{"other-password": PASSWORD})
    refused = way.back(way.provider.authorise(address_in(answer)))

    assert refused.status_code == 400
    assert "to sign in to another account here" in refused.text.replace("&#39;", "'")


def test_a_second_factor_is_asked_for_all_the_same(way: Way) -> None:
    way.world.add_account(way.browser)
    sign_in(way.browser)
    send(way.browser, "/account/totp", **{"totp-password": PASSWORD})
    [account] = way.world.people(way.browser)
    secret = run(way.browser, lambda: way.world.services.owner.waiting_secret(account))
    assert secret is not None
    code = code_of(secret, step_at(way.world.clock.now()))
    send(way.browser, "/account/totp/confirm", code=code)
    answer = send(way.browser, "/account/other", **{"other-password": PASSWORD})
    way.back(way.provider.authorise(address_in(answer)))
    send(way.browser, "/signout")

    asked = way.go(next="/link")

    assert asked.headers["location"] == "/signin/code?next=/link"
    assert not way.is_signed_in()
    way.world.clock.advance(timedelta(minutes=1))
    code = code_of(secret, step_at(way.world.clock.now()))
    given = send(way.browser, "/signin/code", code=code, next="/link")
    assert given.headers["location"] == "/link"


def test_the_provider_is_removed_with_the_password_and_then_opens_nothing(way: Way) -> None:
    join(way)
    sign_in(way.browser)
    page = way.browser.get("/account/security").text
    identity = page.partition('name="identity" value="')[2].partition('"')[0]
    assert NAME in page

    fields = {"identity": identity, "other-password": "guess"}
    assert send(way.browser, "/account/other/remove", **fields).status_code == 400
    fields["other-password"] = PASSWORD
    assert send(way.browser, "/account/other/remove", **fields).status_code == 303
    send(way.browser, "/signout")

    assert way.go().status_code == 400


def test_anothers_way_to_sign_in_is_not_removed(way: Way) -> None:
    join(way)
    [account] = way.world.people(way.browser)
    [identity] = run(
        way.browser, lambda: way.world.services.other_accounts.of_account(account.account_id)
    )
    way.world.add_account(way.browser, EVE)
    sign_in(way.browser, email=EVE)

    fields = {"identity": identity.identity_id, "other-password": PASSWORD}
    send(way.browser, "/account/other/remove", **fields)
    send(way.browser, "/signout")

    assert way.go().status_code == 303


def test_an_operator_who_takes_the_second_factor_takes_the_provider_too(way: Way) -> None:
    join(way)
    account_recovery = AccountRecovery(core=way.world.core)

    run(way.browser, lambda: account_recovery.link(ADA, drops_second_factor=True))

    assert way.go().status_code == 400


# --- an account without a password ----------------------------------------------------------------


def test_the_only_way_to_sign_in_stays(way: Way) -> None:
    way.go()
    page = way.browser.get("/account/security").text
    identity = page.partition('name="identity" value="')[2].partition('"')[0]

    answer = send(way.browser, "/account/other/remove", identity=identity)

    assert answer.status_code == 400
    assert "Set a password first" in answer.text


def test_an_account_without_a_password_is_not_asked_for_one_and_may_set_one(way: Way) -> None:
    way.go()
    page = way.browser.get("/account/security").text
    assert 'autocomplete="current-password"' not in page

    answer = send(way.browser, "/account/password", **{"new-password": PASSWORD})

    assert answer.status_code == 303
    send(way.browser, "/signout")
    assert sign_in(way.browser).status_code == 303


def test_no_password_signs_in_where_there_is_none(way: Way) -> None:
    way.go()
    send(way.browser, "/signout")

    assert sign_in(way.browser, password="").status_code == 400
    assert sign_in(way.browser, password="guess").status_code == 400


FORMS = {
    "password": ("/account/password", {"new-password": PASSWORD}),
    "mail": ("/account/mail", {"new-mail": EVE}),
    "app": ("/account/totp", {}),
    "codes": ("/account/recovery-codes", {}),
    "another": ("/account/other", {}),
    "delete": ("/account/delete", {}),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_cannot_be_taken_back_needs_a_sign_in_of_a_moment_ago(way: Way, form: str) -> None:
    way.go()
    path, fields = FORMS[form]
    way.world.clock.advance(timedelta(minutes=11))

    refused = send(way.browser, path, **fields)
    send(way.browser, "/signout")
    way.go()
    done = send(way.browser, path, **fields)

    assert refused.status_code == 400
    assert "Sign out and in again" in refused.text
    assert done.status_code < 400, done.text


def test_an_account_without_a_password_can_export_its_data(way: Way) -> None:
    way.go()
    exported = way.browser.get("/account/export").json()

    assert [one["Subject"] for one in exported["OtherAccounts"]] == ["1001"]


# --- the pages ------------------------------------------------------------------------------------


def test_a_provider_that_gives_no_answer_leaves_the_other_ways(way: Way) -> None:
    way.provider.is_down = True

    answer = send(way.browser, "/signin/other", next="/link")

    assert answer.status_code == 400
    assert "answering now." in answer.text
    assert 'name="next" value="/link"' in answer.text


def test_a_refusal_at_the_provider_leaves_the_other_ways_to_sign_in(way: Way) -> None:
    query = way.provider.authorise(way.there(next="/link"))
    state = query.partition("state=")[2]

    answer = way.back(f"error=access_denied&state={state}")

    assert f"{NAME} did not sign you in." in answer.text
    assert 'name="next" value="/link"' in answer.text


def test_a_no_that_forgot_where_it_belongs_is_told_all_the_same(way: Way) -> None:
    there = way.there()

    assert f"{NAME} did not sign you in." in way.back("error=access_denied").text
    assert way.back(way.provider.authorise(there)).status_code == 303


def test_the_button_is_there_where_there_is_a_provider(way: Way, browser: Browser) -> None:
    for path in ("/signin", "/signup"):
        assert f"with {NAME}" in way.browser.get(path).text


def test_without_a_provider_there_is_no_button_and_no_way(browser: Browser) -> None:
    for path in ("/signin", "/signup"):
        assert "/signin/other" not in browser.get(path).text
    assert send(browser, "/signin/other").status_code == 400
    assert browser.get(BACK, params={"state": "x", "code": "c"}).status_code == 400
    assert "other-password" not in browser.get("/account/security").text
