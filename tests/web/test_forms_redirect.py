"""A form that succeeds leads to a page with an address, so that a reload sends nothing again."""

from litestar.routes import HTTPRoute

from tests.web.conftest import MakeWorld
from tests.web.forms_redirect import ANSWERED_WITH_A_PAGE
from tests.web.test_signing_up import sign_up
from tests.web.world import ADA, PASSWORD, Browser, WebWorld, send_and_follow, sign_in


def test_every_exception_is_a_form_of_the_application(world: WebWorld) -> None:
    forms = {
        route.path_format
        for route in world.app.routes
        if isinstance(route, HTTPRoute) and "POST" in route.methods
    }

    assert set(ANSWERED_WITH_A_PAGE) <= forms


def test_to_reload_the_page_after_a_form_of_the_account_says_nothing_twice(
    world: WebWorld, browser: Browser
) -> None:
    world.add_account(browser)
    sign_in(browser)
    fields = {"new-mail": "eve@example.org", "mail-password": PASSWORD}

    said = send_and_follow(browser, "/account/mail", **fields).text
    again = browser.get("/account").text

    assert "Ask the operator for the link" in said
    assert "Ask the operator" not in again
    assert len(world.mailer.sent) == 1


def test_to_reload_the_page_after_a_sign_up_sends_no_other_mail(world_with: MakeWorld) -> None:
    with world_with(SMTP_URL="smtp://mail.example", SIGN_UP="open") as (world, browser):
        sign_up(browser)

        first, again = browser.get("/signup/sent").text, browser.get("/signup/sent").text

        assert f"sent a link to {ADA}" in first
        assert first == again
        assert len(world.mailer.sent) == 1


def test_a_browser_that_sent_no_form_is_not_told_of_a_mail(browser: Browser) -> None:
    for path, form in (
        ("/signup/sent?next=/link", "/signup?next=/link"),
        ("/reset/sent?next=/link", "/reset?next=/link"),
        ("/signin/sent", "/signin"),
    ):
        answer = browser.get(path, follow_redirects=False)

        assert (answer.status_code, answer.headers["location"]) == (303, form)
