"""Passkeys on the pages: valid answers of an authenticator count, invalid ones are refused."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import cbor2
import pytest
from litestar.testing import TestClient

from printreach.hub.accounts import passkeys
from tests.fakes.authenticator import FakeAuthenticator
from tests.web.world import ADA, BASE_URL, PASSWORD, Browser, WebWorld, send, sign_in

HOST = "printreach.example"
Change = Callable[[FakeAuthenticator], FakeAuthenticator]


@pytest.fixture(autouse=True)
def ada(world: WebWorld, browser: Browser) -> None:
    world.add_account(browser)
    sign_in(browser)


@pytest.fixture
def other(world: WebWorld, browser: Browser) -> Browser:
    """Another browser, in which nobody is signed in."""
    client = TestClient(world.app, base_url=BASE_URL)
    client.blocking_portal = browser.blocking_portal
    client.headers["accept"] = "text/html"
    return client


def add(browser: Browser, key: FakeAuthenticator, **more: str) -> int:
    options = send(browser, "/account/passkeys/begin", **{"passkey-password": PASSWORD}).text
    fields = {"passkey-name": "Phone", **more}
    return send(browser, "/account/passkeys", answer=key.make(options), **fields).status_code


def come_in(browser: Browser, key: FakeAuthenticator) -> int:
    options = send(browser, "/signin/passkey/begin").text
    return send(browser, "/signin/passkey", answer=key.sign(options), next="/link").status_code


@pytest.fixture
def key() -> FakeAuthenticator:
    return FakeAuthenticator(origin=BASE_URL, host=HOST)


def test_a_passkey_signs_in_and_leads_on(
    world: WebWorld, browser: Browser, other: Browser, key: FakeAuthenticator
) -> None:
    assert add(browser, key) == 303
    assert world.mailer.sent[-1].subject == "The security settings of your account were changed"

    options = send(other, "/signin/passkey/begin").text
    answer = send(other, "/signin/passkey", answer=key.sign(options), next="/link")

    assert (answer.status_code, answer.headers["location"]) == (303, "/link")
    assert ADA in other.get("/account").text


HOSTILE: dict[str, Change] = {
    "asked by another page": lambda key: replace(key, origin="https://evil.example"),
    "asked by a printer": lambda key: replace(key, origin="https://own-a.tunnel.example"),
    "without tls": lambda key: replace(key, origin="http://printreach.example"),
    "for another host": lambda key: replace(key, host="evil.example"),
    "of nobody who was verified": lambda key: replace(key, is_verified=False),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_a_passkey_that_was_made_wrongly_is_not_kept(
    browser: Browser, key: FakeAuthenticator, how: str
) -> None:
    assert add(browser, HOSTILE[how](key)) == 400
    assert "Phone" not in browser.get("/account/security").text


@pytest.mark.parametrize(
    "how", [*HOSTILE, "by another key", "of an unknown passkey", "counted backwards"]
)
def test_an_answer_that_is_wrong_signs_nobody_in(
    browser: Browser, other: Browser, key: FakeAuthenticator, how: str
) -> None:
    more: dict[str, Change] = {
        "by another key": lambda key: FakeAuthenticator(origin=BASE_URL, host=HOST, count=99),
        "of an unknown passkey": lambda key: replace(key, credential_id=b"unknown"),
        "counted backwards": lambda key: replace(key, count=3),
    }
    key.count = 10
    add(browser, key)

    assert come_in(other, {**HOSTILE, **more}[how](key)) == 400


def test_an_answer_works_once(browser: Browser, other: Browser, key: FakeAuthenticator) -> None:
    add(browser, key)
    answer = key.sign(send(other, "/signin/passkey/begin").text)
    assert send(other, "/signin/passkey", answer=answer).status_code == 303
    send(other, "/signout")

    assert send(other, "/signin/passkey", answer=answer).status_code == 400
    send(other, "/signin/passkey/begin")
    assert send(other, "/signin/passkey", answer=answer).status_code == 400


def test_an_answer_to_another_browsers_question_is_refused(
    browser: Browser, other: Browser, key: FakeAuthenticator
) -> None:
    add(browser, key)
    options = send(browser, "/signin/passkey/begin").text
    send(other, "/signin/passkey/begin")

    assert send(other, "/signin/passkey", answer=key.sign(options)).status_code == 400


def test_a_question_is_over_after_ten_minutes(
    world: WebWorld, browser: Browser, other: Browser, key: FakeAuthenticator
) -> None:
    add(browser, key)
    options = send(other, "/signin/passkey/begin").text
    world.clock.advance(timedelta(minutes=10))

    assert send(other, "/signin/passkey", answer=key.sign(options)).status_code == 400


@pytest.mark.parametrize(
    "answer", ["", "null", "[]", "{}", '{"rawId": 7}', '{"rawId": "YQ"}', "\0"]
)
def test_what_is_no_answer_is_refused(browser: Browser, other: Browser, answer: str) -> None:
    send(other, "/signin/passkey/begin")
    assert send(other, "/signin/passkey", answer=answer).status_code == 400

    send(browser, "/account/passkeys/begin", **{"passkey-password": PASSWORD})
    assert send(browser, "/account/passkeys", answer=answer).status_code == 400


def test_a_passkey_belongs_to_one_account(
    world: WebWorld, browser: Browser, other: Browser, key: FakeAuthenticator
) -> None:
    add(browser, key)
    world.add_account(browser, "eve@example.org")
    sign_in(other, "eve@example.org")

    assert add(other, key) == 400


def test_a_question_for_a_new_passkey_cannot_be_used_by_another_account(
    world: WebWorld, browser: Browser, other: Browser, key: FakeAuthenticator
) -> None:
    world.add_account(browser, "eve@example.org")
    sign_in(other, "eve@example.org")
    options = send(browser, "/account/passkeys/begin", **{"passkey-password": PASSWORD}).text
    step = browser.cookies["__Host-printreach_step"]
    other.cookies.set("__Host-printreach_step", step, domain=HOST)

    assert send(other, "/account/passkeys", answer=key.make(options)).status_code == 400


def test_questions_of_many_tabs_make_no_more_passkeys_than_an_account_may_have(
    browser: Browser, key: FakeAuthenticator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passkeys, "MAX_PASSKEYS", 2)
    asked = []
    for _ in range(3):
        options = send(browser, "/account/passkeys/begin", **{"passkey-password": PASSWORD}).text
        asked.append((options, browser.cookies["__Host-printreach_step"]))

    answers = []
    for number, (options, step) in enumerate(asked):
        browser.cookies.set("__Host-printreach_step", step, domain=HOST)
        one = replace(key, credential_id=bytes([number]) * 16)
        answers.append(send(browser, "/account/passkeys", answer=one.make(options)))

    assert [answer.status_code for answer in answers] == [303, 303, 400]
    assert "An account has at most" in answers[-1].text


def test_script_in_the_name_of_a_passkey_stays_text(
    browser: Browser, key: FakeAuthenticator
) -> None:
    add(browser, key, **{"passkey-name": "<script>alert(1)</script>"})

    assert "<script>alert" not in browser.get("/account/security").text


def test_questions_are_limited_by_address(other: Browser) -> None:
    asked = [send(other, "/signin/passkey/begin") for _ in range(31)]

    assert [one.status_code for one in asked] == [200] * 30 + [429]
    assert "retry-after" in asked[-1].headers


@pytest.mark.parametrize("answer", ["[" * 14_000, '{"rawId":' * 2_400, '{"rawId": "\\ud800"}'])
def test_an_answer_that_is_none_is_refused(browser: Browser, other: Browser, answer: str) -> None:
    send(other, "/signin/passkey/begin")
    assert send(other, "/signin/passkey", answer=answer).status_code == 400

    send(browser, "/account/passkeys/begin", **{"passkey-password": PASSWORD})
    fields = {"passkey-name": "Phone", "answer": answer}
    assert send(browser, "/account/passkeys", **fields).status_code == 400


def test_a_passkey_whose_key_is_none_is_refused(
    browser: Browser, key: FakeAuthenticator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeAuthenticator, "_public_key", lambda _: cbor2.dumps([1]))
    assert add(browser, key) == 400
