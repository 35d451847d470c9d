"""One's own data, as a file."""

import pytest

from printreach.hub.accounts import data as account_data
from tests.web.portal.people import APP, Person, add_app, link_printer
from tests.web.world import ADA, Browser, WebWorld, sign_in


def test_flows_of_the_portal_and_connections_are_handed_over(
    world: WebWorld, browser: Browser
) -> None:
    world.add_account(browser)
    add_app(world, browser)
    printer_id = link_printer(world, browser, "Workshop")
    person = Person(world, browser)
    person.begin()
    person.sign_in()
    person.press("choose", printer=printer_id)

    rows = browser.get("/account/export").json()["Rows"]

    assert [(one["app_id"], one["printer_id"]) for one in rows["portal_flows"]] == [
        (APP, printer_id)
    ]
    assert [one["email"] for one in rows["accounts"]] == [ADA]
    assert "password_hash" not in rows["accounts"][0]
    assert "browser_digest" not in rows["portal_flows"][0]


def test_nothing_of_others_is_in_it(world: WebWorld, browser: Browser) -> None:
    world.add_account(browser)
    world.add_account(browser, "eve@example.org")
    sign_in(browser)

    assert "eve@example.org" not in browser.get("/account/export").text


def test_it_is_one_object_however_many_rows_there_are(
    world: WebWorld, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_data, "AT_ONCE", 2)
    world.add_account(browser)
    sign_in(browser)
    ids = {link_printer(world, browser, f"Printer {number}") for number in range(5)}

    file = browser.get("/account/export")
    rows = file.json()["Rows"]

    assert sorted(one["printer_id"] for one in rows["printers"]) == sorted(ids)
    assert len(rows["accounts"]) == 1
    assert rows["apps"] == []
    assert "content-length" not in file.headers
    assert file.headers["content-disposition"].startswith("attachment")
