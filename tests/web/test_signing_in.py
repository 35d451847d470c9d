"""Signing in by the pages, as browsers and attackers do it."""

from datetime import timedelta
from urllib.parse import quote

import pytest

from printreach.limiters.fair_semaphore import TooBusy
from printreach.rules.accounts.sessions import IDLE_TIME
from printreach.store.store import Records
from tests.web.world import ADA, BASE_URL, PASSWORD, Browser, WebWorld, run, send, sign_in

COOKIE = "__Host-printreach_session"


@pytest.fixture(autouse=True)
def ada(world: WebWorld, browser: Browser) -> None:
    world.add_account(browser)


def is_signed_in(browser: Browser) -> bool:
    answer = browser.get("/signin", follow_redirects=False)
    return answer.status_code == 303


def test_a_right_password_signs_in_and_leads_on(browser: Browser) -> None:
    answer = sign_in(browser, next="/link?code=K7QF4MXY")

    assert answer.status_code == 303
    assert answer.headers["location"] == "/link?code=K7QF4MXY"
    assert is_signed_in(browser)


def test_the_cookie_is_for_this_host_alone_and_no_script_reads_it(browser: Browser) -> None:
    cookie = sign_in(browser).headers.get_list("set-cookie")[0]

    assert cookie.startswith(f"{COOKIE}=")
    for attribute in ("Path=/", "HttpOnly", "Secure", "SameSite=lax"):
        assert attribute in cookie
    assert "Domain" not in cookie


def test_a_wrong_password_and_an_unknown_address_are_told_in_the_same_words(
    browser: Browser,
) -> None:
    wrong = sign_in(browser, password="another passphrase")
    unknown = sign_in(browser, email="eve@example.org")

    assert wrong.status_code == unknown.status_code == 400
    assert wrong.text.replace(ADA, "…") == unknown.text.replace("eve@example.org", "…")
    assert PASSWORD not in wrong.text
    assert not is_signed_in(browser)


@pytest.mark.parametrize(
    "hostile",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "\\/evil.example",
        "/\t/evil.example",
        "/%0d%0aSet-Cookie: a=b\r\nX: y",
        "javascript:alert(1)",
        " /link",
        "",
        "/" + "a" * 3000,
    ],
)
def test_nobody_is_led_to_another_place(browser: Browser, hostile: str) -> None:
    assert sign_in(browser, next=hostile).headers["location"] == "/"
    assert (
        browser.get(f"/signin?next={quote(hostile)}", follow_redirects=False).headers["location"]
        == "/"
    )


@pytest.mark.parametrize(
    "email", ["ada@x.example,bob@y.example", '"ada"@example.org', "a..b@c.org"]
)
def test_an_account_with_an_address_that_is_no_longer_accepted_can_sign_in(
    world: WebWorld, browser: Browser, email: str
) -> None:
    account = world.add_account(browser, "old@example.org")

    async def rename(records: Records) -> None:
        await records.accounts.set_email(account.account_id, email)

    run(browser, lambda: world.store.write(rename))

    assert sign_in(browser, f" {email.upper()} ").status_code == 303


def test_a_token_that_was_planted_before_is_never_taken_over(browser: Browser) -> None:
    planted = "a" * 52
    browser.cookies.set(COOKIE, planted, domain="printreach.example")

    token = sign_in(browser).headers.get_list("set-cookie")[0].partition("=")[2].partition(";")[0]

    assert token != planted
    browser.cookies.clear()
    browser.cookies.set(COOKIE, planted)
    assert not is_signed_in(browser)


def test_signing_in_again_ends_the_session_before_it(browser: Browser) -> None:
    first = sign_in(browser).cookies[COOKIE]
    sign_in(browser)

    browser.cookies.clear()
    browser.cookies.set(COOKIE, first)
    assert not is_signed_in(browser)


def test_two_cookies_of_one_name_sign_nobody_in(browser: Browser) -> None:
    token = sign_in(browser).cookies[COOKIE]
    browser.cookies.clear()

    answer = browser.get(
        "/signin",
        headers={"cookie": f"{COOKIE}={token}; {COOKIE}=planted"},
        follow_redirects=False,
    )

    assert answer.status_code == 200


@pytest.mark.parametrize("headers", [{}, {"origin": "https://own-a.tunnel.example"}])
def test_a_form_from_elsewhere_signs_nobody_in(browser: Browser, headers: dict[str, str]) -> None:
    answer = browser.post("/signin", data={"email": ADA, "password": PASSWORD}, headers=headers)

    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_signing_out_ends_the_session_itself(browser: Browser) -> None:
    token = sign_in(browser).cookies[COOKIE]

    send(browser, "/signout")

    assert not is_signed_in(browser)
    browser.cookies.set(COOKIE, token, domain="printreach.example")
    assert not is_signed_in(browser)


def test_a_session_lasts_as_long_as_it_is_used(world: WebWorld, browser: Browser) -> None:
    sign_in(browser)
    for _ in range(3):
        world.clock.advance(IDLE_TIME - timedelta(minutes=1))
        assert is_signed_in(browser)

    world.clock.advance(IDLE_TIME)
    assert not is_signed_in(browser)


def test_an_account_takes_ten_passwords_at_once_then_one_a_minute(
    world: WebWorld, browser: Browser
) -> None:
    answers = [sign_in(browser, password=f"guess number {n}").status_code for n in range(11)]
    refused = sign_in(browser)

    assert answers == [400] * 10 + [429]
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "60"
    world.clock.advance(timedelta(minutes=1))
    assert sign_in(browser).status_code == 303


def test_an_address_without_an_account_is_limited_in_the_same_way(browser: Browser) -> None:
    answers = [sign_in(browser, email="eve@example.org").status_code for _ in range(11)]

    assert answers == [400] * 10 + [429]


def test_one_address_cannot_spray_a_password_over_many_accounts(browser: Browser) -> None:
    answers = [sign_in(browser, email=f"u{n}@example.org").status_code for n in range(31)]

    assert answers == [400] * 30 + [429]


@pytest.mark.slow
def test_an_account_asks_six_hundred_times_a_minute_and_no_more(browser: Browser) -> None:
    sign_in(browser)

    answers = [browser.get("/signin", follow_redirects=False).status_code for _ in range(601)]

    assert answers == [303] * 600 + [429]


def test_a_page_can_be_sent_as_the_origin_says(browser: Browser) -> None:
    assert browser.post("/signin", headers={"origin": BASE_URL}, data={}).status_code == 400


def test_a_form_is_small(browser: Browser) -> None:
    assert send(browser, "/signin", email=ADA, password="x" * 100_000).status_code == 413


@pytest.mark.parametrize(
    "body", [b"email=%ff%fe&password=%00", b"email=%00&password=%ed%a0%80", b"&&="]
)
def test_bytes_that_are_no_text_sign_nobody_in(browser: Browser, body: bytes) -> None:
    kind = {"content-type": "application/x-www-form-urlencoded", "origin": BASE_URL}

    assert browser.post("/signin", content=body, headers=kind).status_code == 400


def test_in_a_crowd_people_are_asked_to_come_back(
    world: WebWorld, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def busy(_password: str, _hash: str, _network: str) -> bool:
        raise TooBusy("many wait")

    monkeypatch.setattr(world.passwords, "matches", busy)

    answer = sign_in(browser)

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
    assert "Too many people at once" in answer.text
