"""The page of one's own account: its changes, and their refusal to others."""

import json
import re
from datetime import timedelta

import pytest
from litestar.testing import TestClient

from printreach.hub.accounts.password_reset import AccountRecovery
from printreach.rules.accounts.second_factors import secret_in_words
from printreach.rules.operators import Operator
from printreach.store.listings import Search
from tests.web.codes import code_now, secret_of, set_up_totp
from tests.web.world import ADA, BASE_URL, PASSWORD, Browser, WebWorld, run, send, sign_in

EVE = "eve@example.org"
NEXT = "of another kind"


@pytest.fixture(autouse=True)
def ada(world: WebWorld, browser: Browser) -> None:
    world.add_account(browser)
    sign_in(browser)


@pytest.fixture
def other(world: WebWorld, browser: Browser) -> Browser:
    """Another browser."""
    client = TestClient(world.app, base_url=BASE_URL)
    client.blocking_portal = browser.blocking_portal
    client.headers["accept"] = "text/html"
    return client


def is_signed_in(browser: Browser) -> bool:
    return browser.get("/account", follow_redirects=False).status_code == 200


def test_a_page_for_people_who_are_signed_in_leads_others_to_sign_in_and_back(
    other: Browser,
) -> None:
    answer = other.get("/account?x=1", follow_redirects=False)

    assert answer.status_code == 303
    assert answer.headers["location"] == "/signin?next=/account%3Fx%3D1"


def test_a_program_that_is_not_signed_in_gets_401(other: Browser) -> None:
    answer = other.get("/account/export", headers={"accept": "application/json"})

    assert answer.status_code == 401
    assert answer.json()["Status"] == 401


def test_another_password_signs_every_other_browser_out(browser: Browser, other: Browser) -> None:
    sign_in(other)

    answer = send(browser, "/account/password", **{"old-password": PASSWORD, "new-password": NEXT})

    assert answer.status_code == 303
    assert is_signed_in(browser)
    assert not is_signed_in(other)
    assert sign_in(other).status_code == 400
    assert sign_in(other, password=NEXT).status_code == 303


ACTS: dict[str, tuple[str, dict[str, str]]] = {
    "password": ("/account/password", {"old-password": "guess", "new-password": NEXT}),
    "mail": ("/account/mail", {"mail-password": "guess", "new-mail": EVE}),
    "app": ("/account/totp", {"totp-password": "guess"}),
    "app off": ("/account/totp/remove", {"totp-password": "guess"}),
    "codes": ("/account/recovery-codes", {"totp-password": "guess"}),
    "passkey": ("/account/passkeys/begin", {"passkey-password": "guess"}),
    "passkey off": ("/account/passkeys/remove", {"passkey-password": "guess"}),
    "delete": ("/account/delete", {"delete-password": "guess"}),
}


@pytest.mark.parametrize("act", ACTS)
def test_a_stolen_browser_changes_nothing_without_the_password(
    world: WebWorld, browser: Browser, act: str
) -> None:
    path, fields = ACTS[act]

    answer = send(browser, path, **fields)

    assert answer.status_code == 400
    assert "not your password" in answer.text
    assert world.mailer.sent == []


@pytest.mark.parametrize("act", [*ACTS, "end", "end others", "out"])
@pytest.mark.parametrize("origin", [None, "null", "https://own-a.tunnel.example"])
def test_no_form_works_from_another_origin(browser: Browser, act: str, origin: str | None) -> None:
    more = {"end": "/account/sessions/end", "end others": "/account/sessions/end-others"}
    path = ACTS[act][0] if act in ACTS else more.get(act, "/signout")
    fields = dict.fromkeys(ACTS[act][1], PASSWORD) if act in ACTS else {}

    answer = browser.post(path, data=fields, headers={"origin": origin} if origin else {})

    assert answer.status_code == 403
    assert is_signed_in(browser)


def test_passwords_are_guessed_at_a_signed_in_browser_no_more_often_than_elsewhere(
    browser: Browser,
) -> None:
    path, fields = ACTS["delete"]
    tries = [send(browser, path, **fields) for _ in range(11)]

    assert [one.status_code for one in tries] == [400] * 10 + [429]
    assert tries[-1].headers["retry-after"] == "60"


def test_a_new_address_counts_once_its_link_was_opened(world: WebWorld, browser: Browser) -> None:
    send(browser, "/account/mail", **{"new-mail": EVE, "mail-password": PASSWORD})
    link = world.mailer.link()
    assert world.mailer.sent[-1].to == EVE
    assert ADA in browser.get("/account").text

    assert browser.get(link).status_code == 200
    send(browser, "/account/mail/confirm", token=link.partition("token=")[2])

    assert EVE in browser.get("/account").text
    assert world.mailer.sent[-1].to == ADA
    assert send(
        browser, "/account/mail/confirm", token=link.partition("token=")[2]
    ).status_code == (400)


def subjects_of_acts(world: WebWorld, browser: Browser) -> list[str]:
    acts = run(browser, lambda: world.services.operating.acts(Search()))
    return [one.subject for one in acts.rows]


def test_the_record_of_acts_forgets_former_addresses_too(world: WebWorld, browser: Browser) -> None:
    services, grace = world.services, Operator(name="grace@example.org", account_id="grace")
    run(browser, lambda: services.operating.accounts.set_supporter(ADA, granted=True, by=grace))
    send(browser, "/account/mail", **{"new-mail": EVE, "mail-password": PASSWORD})
    send(browser, "/account/mail/confirm", token=world.mailer.link().partition("token=")[2])

    assert subjects_of_acts(world, browser) == [EVE]
    run(browser, lambda: services.operating.accounts.delete(EVE))
    assert not any("@" in one for one in subjects_of_acts(world, browser))


def test_an_address_that_is_taken_is_told_nothing_and_not_taken_over(
    world: WebWorld, browser: Browser
) -> None:
    world.add_account(browser, EVE)

    answer = send(browser, "/account/mail", **{"new-mail": EVE, "mail-password": PASSWORD})
    token = world.mailer.link().partition("token=")[2]

    assert answer.status_code == 303
    assert send(browser, "/account/mail/confirm", token=token).status_code == 400
    assert ADA in browser.get("/account").text


def test_a_link_for_one_account_changes_no_other(
    world: WebWorld, browser: Browser, other: Browser
) -> None:
    send(browser, "/account/mail", **{"new-mail": "new@example.org", "mail-password": PASSWORD})
    token = world.mailer.link().partition("token=")[2]
    world.add_account(browser, EVE)
    sign_in(other, EVE)

    assert send(other, "/account/mail/confirm", token=token).status_code == 400


def test_with_an_app_the_password_alone_opens_nothing(
    world: WebWorld, browser: Browser, other: Browser
) -> None:
    assert len(set_up_totp(world, browser)) == 10
    world.clock.advance(timedelta(minutes=1))

    answer = sign_in(other, next="/account")

    assert answer.headers["location"] == "/signin/code?next=/account"
    assert not is_signed_in(other)
    code = code_now(world, browser)
    answer = send(other, "/signin/code", code=code, next="/account")
    assert answer.headers["location"] == "/account"
    assert is_signed_in(other)


def test_a_code_works_once(world: WebWorld, browser: Browser, other: Browser) -> None:
    set_up_totp(world, browser)
    used = code_now(world, browser)
    sign_in(other)

    assert send(other, "/signin/code", code=used).status_code == 400


def test_a_recovery_code_works_once_in_any_spelling(
    world: WebWorld, browser: Browser, other: Browser
) -> None:
    code = set_up_totp(world, browser)[0]
    typed = code.lower().replace("-", " ")

    sign_in(other)
    assert send(other, "/signin/code", code=typed).status_code == 303
    send(other, "/signout")
    sign_in(other)
    assert send(other, "/signin/code", code=code).status_code == 400
    assert "9 recovery codes are left" in browser.get("/account/security").text


def test_codes_are_guessed_five_times_and_then_once_in_five_minutes(
    world: WebWorld, browser: Browser, other: Browser
) -> None:
    set_up_totp(world, browser)
    sign_in(other)

    tries = [send(other, "/signin/code", code="000000").status_code for _ in range(6)]
    world.clock.advance(timedelta(minutes=1))

    assert tries == [400] * 5 + [429]
    assert send(other, "/signin/code", code=code_now(world, browser)).status_code == 429


def test_a_new_sign_in_does_not_reset_the_tries_at_codes(
    world: WebWorld, browser: Browser, other: Browser
) -> None:
    set_up_totp(world, browser)
    statuses = []
    for _ in range(6):
        sign_in(other)
        statuses.append(send(other, "/signin/code", code="000000").status_code)

    assert statuses == [400] * 5 + [429]


def test_half_a_sign_in_is_over_after_ten_minutes(
    world: WebWorld, browser: Browser, other: Browser
) -> None:
    set_up_totp(world, browser)
    sign_in(other)
    world.clock.advance(timedelta(minutes=10))

    answer = send(other, "/signin/code", code=code_now(world, browser))

    assert answer.status_code == 400
    assert "took too long" in answer.text


def test_a_reset_by_mail_still_asks_for_the_code(
    world: WebWorld, browser: Browser, other: Browser
) -> None:
    set_up_totp(world, browser)
    send(other, "/reset", email=ADA)
    token = world.mailer.link().partition("token=")[2]

    answer = send(other, "/reset/new", token=token, password=NEXT)

    assert answer.headers["location"] == "/signin/code"
    assert not is_signed_in(other)


def test_an_app_that_was_not_confirmed_asks_nobody(browser: Browser, other: Browser) -> None:
    send(browser, "/account/totp", **{"totp-password": PASSWORD})

    assert sign_in(other).headers["location"] == "/"


def test_a_browser_found_later_completes_no_authenticator_app_that_was_begun_in_it(
    world: WebWorld, browser: Browser
) -> None:
    send(browser, "/account/totp", **{"totp-password": PASSWORD})
    world.clock.advance(timedelta(minutes=10))
    shown = browser.get("/account/totp", follow_redirects=False)
    answer = send(browser, "/account/totp/confirm", code=code_now(world, browser))

    assert (shown.status_code, shown.headers["location"]) == (303, "/account")
    assert answer.headers.get("location") == "/account"
    assert "An authenticator app was added." not in str(world.mailer.sent)


def test_loading_the_page_of_recovery_codes_again_makes_no_other_ones(
    world: WebWorld, browser: Browser, other: Browser
) -> None:
    set_up_totp(world, browser)
    answer = send(browser, "/account/recovery-codes", **{"totp-password": PASSWORD})
    where = answer.headers["location"]
    shown = browser.get(where).text
    codes = re.findall(r"[A-Z0-9]{4}(?:-[A-Z0-9]{4}){4}", shown)
    assert "I have saved these codes" in shown

    again = browser.get(where, follow_redirects=False)

    assert again.status_code == 200
    assert "Recovery codes are shown only once." in again.text
    assert codes[0] not in again.text
    assert sign_in(other).headers["location"].startswith("/signin/code")
    assert send(other, "/signin/code", code=codes[0]).headers["location"] == "/"


def test_an_app_can_be_removed(world: WebWorld, browser: Browser, other: Browser) -> None:
    set_up_totp(world, browser)

    send(browser, "/account/totp/remove", **{"totp-password": PASSWORD})

    assert sign_in(other).headers["location"] == "/"


def test_an_operator_lets_in_who_lost_the_app_and_the_codes(
    world: WebWorld, browser: Browser, other: Browser
) -> None:
    set_up_totp(world, browser)
    account_recovery = AccountRecovery(core=world.core)

    link = run(browser, lambda: account_recovery.link(ADA, drops_second_factor=True))

    assert isinstance(link, str)
    assert not is_signed_in(browser)
    token = link.partition("token=")[2]
    assert send(other, "/reset/new", token=token, password=NEXT).headers["location"] == "/"
    assert is_signed_in(other)


def test_browsers_are_listed_and_can_be_signed_out_one_by_one(
    browser: Browser, other: Browser
) -> None:
    other.headers["user-agent"] = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0"
    sign_in(other)
    page = browser.get("/account/security").text
    assert "Firefox on Linux" in page
    session = page.partition('name="session" value="')[2].partition('"')[0]

    send(browser, "/account/sessions/end", session=session)

    assert is_signed_in(browser)
    assert not is_signed_in(other)


def test_nobody_signs_another_accounts_browser_out(
    world: WebWorld, browser: Browser, other: Browser
) -> None:
    account = world.people(browser)[0]
    sessions = run(browser, lambda: world.services.sessions.of_account(account.account_id))
    world.add_account(browser, EVE)
    sign_in(other, EVE)

    send(other, "/account/sessions/end", session=sessions[0].session_id)

    assert is_signed_in(browser)


def test_all_that_is_kept_can_be_downloaded_and_holds_no_secret(
    world: WebWorld, browser: Browser
) -> None:
    set_up_totp(world, browser)

    answer = browser.get("/account/export")

    assert "attachment" in answer.headers["content-disposition"]
    data = json.loads(answer.content)
    assert data["Account"]["Email"] == ADA
    assert data["HasAuthenticatorApp"]
    assert data["RecoveryCodesLeft"] == 10
    assert len(data["Sessions"]) == 1
    assert "plain:" not in answer.text
    assert browser.cookies["__Host-printreach_session"] not in answer.text


def test_a_deleted_account_leaves_nothing_behind(world: WebWorld, browser: Browser) -> None:
    set_up_totp(world, browser)
    account = world.people(browser)[0]

    answer = send(browser, "/account/delete", **{"delete-password": PASSWORD})

    assert "Your account is deleted" in browser.get(answer.headers["location"]).text
    assert not is_signed_in(browser)
    assert world.people(browser) == []
    assert run(browser, lambda: world.services.sessions.of_account(account.account_id)) == []
    assert run(browser, lambda: world.services.owner.waiting_secret(account)) is None


def test_the_key_of_an_app_comes_as_a_picture_and_as_text(
    world: WebWorld, browser: Browser
) -> None:
    send(browser, "/account/totp", **{"totp-password": PASSWORD})

    page = browser.get("/account/totp").text

    assert '<div role="img" aria-label="The key' in page
    assert "<path" in page
    assert "style=" not in page
    assert secret_in_words(secret_of(world, browser)) in page.replace(" ", "")
