"""A member chooses what they are notified of at a printer that is shared with them."""

from printreach.contract.events import EventType
from printreach.rules.printers.members import Role
from tests.web.printers.conftest import BOB, Home
from tests.web.printers.members import EVE, browser_of, let_in
from tests.web.world import ADA, run, send

FINISHED = f"event-{EventType.COMPLETE.value}"


def test_a_shared_printer_is_off_until_it_is_chosen(home: Home) -> None:
    let_in(home, EVE, Role.WATCH)
    page = f"/notifications/printers/{home.printer_id}"
    with browser_of(home, EVE) as eve:
        before = eve.get("/notifications").text
        form = eve.get(page).text
        assert send(eve, page, choice="own", **{FINISHED: "yes"}).status_code == 303
        after = eve.get("/notifications").text
        send(eve, page, choice="same")
        ended = eve.get("/notifications").text

    assert f"Nothing, shared by {ADA}" in before
    assert f"{ADA} shares this printer with you." in form
    assert f"Its own settings, shared by {ADA}" in after
    assert f"Nothing, shared by {ADA}" in ended


def test_a_stranger_and_a_former_member_see_and_choose_nothing(home: Home) -> None:
    home.world.add_account(home.browser, BOB)
    eve_account = let_in(home, EVE, Role.CONTROL)
    page = f"/notifications/printers/{home.printer_id}"
    with browser_of(home, BOB) as bob, browser_of(home, EVE) as eve:
        assert eve.get(page).status_code == 200
        members = home.world.services.members
        run(home.browser, lambda: members.leave(eve_account.account_id, home.printer_id))
        for browser in (bob, eve):
            assert browser.get(page).status_code == 404
            assert send(browser, page, choice="own").status_code == 404
            assert "Workbench" not in browser.get("/notifications").text
