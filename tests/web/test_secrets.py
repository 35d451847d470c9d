"""Secrets of an account are in the mail, in the cookie and on the page, and never in the store."""

import re
import secrets
from datetime import timedelta

from printreach.rules.accounts.second_factors import code_of, step_at
from printreach.rules.accounts.sessions import MAX_SESSIONS
from printreach.rules.connections.credentials import new_session_token
from tests.web.world import ADA, PASSWORD, Browser, WebWorld, run, send, send_and_follow, sign_in


def on_disk(world: WebWorld) -> bytes:
    return b"".join(file.read_bytes() for file in world.settings.data_dir.iterdir())


def test_the_database_holds_nothing_that_signs_anybody_in(
    world: WebWorld, browser: Browser
) -> None:
    send(browser, "/signup", email=ADA, password=PASSWORD)
    step = browser.cookies["__Host-printreach_step"]
    link = world.mailer.link().partition("token=")[2]
    send(browser, "/confirm", token=link)
    token = browser.cookies["__Host-printreach_session"]
    send(browser, "/reset", email=ADA)
    reset = world.mailer.link().partition("token=")[2]
    invited = run(browser, world.services.invitations.invite)
    assert isinstance(invited, str)

    kept = on_disk(world)

    assert ADA.encode() in kept, "the search finds what is there"
    for secret in (step, link, token, reset, invited.partition("invite=")[2]):
        assert len(secret) == 52
        assert secret.encode() not in kept


def test_recovery_codes_are_kept_as_digests(world: WebWorld, browser: Browser) -> None:
    account = world.add_account(browser)
    sign_in(browser)
    send(browser, "/account/totp", **{"totp-password": PASSWORD})
    secret = run(browser, lambda: world.services.owner.waiting_secret(account))
    assert secret is not None
    code = code_of(secret, step_at(world.clock.now()))
    page = send_and_follow(browser, "/account/totp/confirm", code=code).text
    codes = re.findall(r"[A-Z0-9]{4}-[A-Z0-9]{4}-[A-Z0-9]{4}", page)

    kept = on_disk(world)

    assert len(codes) == 10
    for one in codes:
        assert one.encode() not in kept
        assert one.replace("-", "").encode() not in kept


def test_tokens_have_256_random_bits() -> None:
    asked: list[int] = []

    def count(size: int) -> bytes:
        asked.append(size)
        return secrets.token_bytes(size)

    assert re.fullmatch(r"[a-z2-7]{52}", new_session_token(count))
    assert asked == [32]


def test_the_fifty_first_browser_signs_out_the_least_recently_used_one(
    world: WebWorld, browser: Browser
) -> None:
    account = world.add_account(browser)
    sign_in(browser)
    first = browser.cookies["__Host-printreach_session"]
    for _ in range(MAX_SESSIONS):
        browser.cookies.clear()
        world.clock.advance(timedelta(minutes=1))
        sign_in(browser)

    sessions = run(browser, lambda: world.services.sessions.of_account(account.account_id))

    assert len(sessions) == MAX_SESSIONS
    browser.cookies.clear()
    browser.cookies.set("__Host-printreach_session", first, domain="printreach.example")
    assert browser.get("/account", follow_redirects=False).status_code == 303


def test_a_page_that_carries_a_secret_is_kept_by_no_cache_and_told_to_no_other_host(
    world: WebWorld, browser: Browser
) -> None:
    world.add_account(browser)
    sign_in(browser)

    for path in ("/account", "/account/export", "/confirm?token=x", "/signin"):
        headers = browser.get(path, follow_redirects=False).headers
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "same-origin"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY"
