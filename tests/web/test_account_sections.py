"""The sections of an account's pages, and the question before it is deleted."""

import pytest

from tests.web.conftest import MakeWorld
from tests.web.portal.people import link_printer
from tests.web.world import Browser, WebWorld, send, sign_in


@pytest.fixture(autouse=True)
def ada(world: WebWorld, browser: Browser) -> None:
    world.add_account(browser)
    sign_in(browser)


def test_the_account_has_sections_and_notifications_are_one_of_them(browser: Browser) -> None:
    for path in ("/account", "/account/security", "/notifications", "/account/tokens"):
        page = browser.get(path).text
        assert f'<a href="{path}" aria-current="page">' in page, path
        assert '<a href="/notifications"' in page, path
    assert "old-password" not in browser.get("/account").text


def test_what_is_deleted_with_an_account_is_listed_first(world: WebWorld, browser: Browser) -> None:
    link_printer(world, browser, "Workbench")

    page = browser.get("/account/delete").text

    assert "1 printer: Workbench" in page
    assert 'name="delete-password"' in page
    wrong = send(browser, "/account/delete", **{"delete-password": "guess"})
    assert 'id="delete-password-fault"' in wrong.text
    assert "1 printer: Workbench" in wrong.text


def test_one_printer_is_told_of_as_one(world: WebWorld, browser: Browser) -> None:
    link_printer(world, browser, "Workbench")
    assert "It is unlinked, and its agent shows" in browser.get("/account/delete").text

    link_printer(world, browser, "Attic")

    assert "They are unlinked, and their agents show" in browser.get("/account/delete").text


@pytest.mark.parametrize(("supporters", "is_shown"), [("everyone", False), ("granted", True)])
def test_supporter_status_is_no_subject_where_everybody_has_it(
    world_with: MakeWorld, supporters: str, *, is_shown: bool
) -> None:
    with world_with(SUPPORTERS=supporters) as (_, browser):
        sign_in(browser)

        assert ("Supporter status" in browser.get("/account").text) is is_shown
