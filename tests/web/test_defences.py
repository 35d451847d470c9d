"""Rules that hold for every page, and limits that count every way of trying."""

from datetime import timedelta

import pytest
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute

from printreach.rules.accounts.second_factors import code_of, step_at
from tests.web.world import ADA, PASSWORD, Browser, WebWorld, run, send, sign_in

EVE = "eve@example.org"
NEXT = "of another kind"
PROGRAMS = ("/api/", "/payments/", "/notifications/act", "/notifications/stop")
"""What programs call, who prove themselves by a token or a signature and have no cookie.

The last two are called by a button of a notification, and by mail programs.
"""


def handlers(world: WebWorld) -> list[tuple[str, HTTPRouteHandler]]:
    return [
        (route.path, handler)
        for route in world.app.routes
        if isinstance(route, HTTPRoute)
        for handler in route.route_handlers
    ]


def test_every_form_is_taken_from_our_own_pages_alone(world: WebWorld) -> None:
    taken = [
        (path, handler)
        for path, handler in handlers(world)
        if set(handler.http_methods) - {"GET", "HEAD", "OPTIONS"}
    ]

    open_to_others = {path for path, handler in taken if not handler.opt.get("form")}
    assert len(taken) > 30
    assert {path for path in open_to_others if not path.startswith(PROGRAMS)} == set()


def test_every_page_is_kept_nowhere_and_framed_by_nobody(world: WebWorld, browser: Browser) -> None:
    world.add_account(browser, is_admin=True)
    sign_in(browser)
    pages = {
        path
        for path, handler in handlers(world)
        if "GET" in handler.http_methods and "{" not in path and not path.startswith("/static")
    }

    for path in sorted(pages):
        headers = browser.head(path, follow_redirects=False).headers
        assert headers["x-frame-options"] == "DENY", path
        if headers.get("content-type", "").startswith("text/html"):
            assert "frame-ancestors 'none'" in headers["content-security-policy"], path
            assert headers["cache-control"] == "no-store", path


def test_link_codes_are_guessed_from_one_address_no_more_often_by_many_accounts(
    world: WebWorld, browser: Browser
) -> None:
    answers = []
    for n in range(4):
        world.add_account(browser, f"u{n}@example.org")
        sign_in(browser, email=f"u{n}@example.org")
        tries = [send(browser, "/link", code="K7QF4MXY", name="P") for _ in range(8)]
        answers += [one.status_code for one in tries]

    assert answers == [400] * 30 + [429] * 2


def test_an_invitation_tells_of_few_addresses_whether_they_have_an_account(
    world: WebWorld, browser: Browser
) -> None:
    world.add_account(browser)
    link = run(browser, world.services.invitations.invite)
    assert isinstance(link, str)
    token = link.partition("invite=")[2]

    def ask() -> int:
        world.clock.advance(timedelta(minutes=5))  # so that it is not the caller's address
        fields = {"email": ADA, "password": PASSWORD, "invite": token}
        return send(browser, "/signup", **fields).status_code

    answers = [ask() for _ in range(40)]

    assert answers.count(400) < 35
    assert 429 in answers


@pytest.fixture
def waiting(world: WebWorld, browser: Browser) -> bytes:
    """Ada has an authenticator app, and a browser that gave her password; the app's secret."""
    world.add_account(browser)
    sign_in(browser)
    send(browser, "/account/totp", **{"totp-password": PASSWORD})
    [account] = world.people(browser)
    secret = run(browser, lambda: world.services.owner.waiting_secret(account))
    assert secret is not None
    send(browser, "/account/totp/confirm", code=code_of(secret, step_at(world.clock.now())))
    world.clock.advance(timedelta(minutes=1))
    return secret


def test_a_password_that_was_changed_since_is_worth_nothing_on_the_way_in(
    world: WebWorld, browser: Browser, waiting: bytes
) -> None:
    session = browser.cookies["__Host-printreach_session"]
    browser.cookies.clear()
    assert sign_in(browser).headers["location"] == "/signin/code"
    step = browser.cookies["__Host-printreach_step"]
    browser.cookies.clear()
    browser.cookies.set("__Host-printreach_session", session, domain="printreach.example")
    fields = {"old-password": PASSWORD, "new-password": NEXT}
    assert send(browser, "/account/password", **fields).status_code == 303

    browser.cookies.clear()
    browser.cookies.set("__Host-printreach_step", step, domain="printreach.example")
    code = code_of(waiting, step_at(world.clock.now()))
    answer = send(browser, "/signin/code", code=code)

    assert answer.status_code == 400
    assert "Sign in again" in answer.text
