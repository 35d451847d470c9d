"""The page on which an owner shares a printer with people, and what those see."""

import re
from datetime import timedelta

import pytest
from httpx import Response

from printreach.contract.status import State
from printreach.hub.tries import LINK_BY_ADDRESS
from printreach.rules.printers.members import INVITATION_LIFETIME, Role
from tests.web.conftest import MakeWorld
from tests.web.printers.conftest import BOB, Home, printing
from tests.web.printers.members import CLEO, EVE, browser_of, invitation, let_in, path_of
from tests.web.world import ADA, send, sign_in

LINK = re.compile(r"https://printreach\.example(/shared\?token=[a-z2-7]+)")


def test_an_owner_makes_a_link_and_a_person_accepts_it(home: Home) -> None:
    home.world.add_account(home.browser, EVE)
    answer = home.send("/people", email="", role="watch", uses="1")
    shown = home.browser.get(answer.headers["location"])
    link = LINK.search(shown.text)
    assert link is not None
    assert "Already shown" in home.browser.get(answer.headers["location"]).text

    with browser_of(home, EVE) as eve:
        offer = eve.get(link[1])
        assert ADA in offer.text
        assert "Workbench" in offer.text
        assert offer.headers["referrer-policy"] == "same-origin"
        token = link[1].partition("token=")[2]
        accepted = send(eve, "/shared", token=token, answer="accept")
        assert accepted.headers["location"] == home.path
        assert "Shared by ada@example.org" in shown_text(eve.get(home.path))

    page = shown_text(home.get("/people"))
    assert EVE in page
    assert "Can watch" in page
    assert "last here" in page


def test_declining_gives_no_access(home: Home) -> None:
    home.world.add_account(home.browser, EVE)
    made = invitation(home, Role.CONTROL, EVE)
    with browser_of(home, EVE) as eve:
        token = made.link.partition("token=")[2]
        assert send(eve, "/shared", token=token, answer="no").headers["location"] == "/printers"

        assert eve.get(home.path).status_code == 404
        assert eve.get(path_of(made)).status_code == 400


def test_who_is_signed_out_is_told_to_sign_in_and_nothing_of_the_printer(home: Home) -> None:
    made = invitation(home, Role.WATCH)
    home.browser.cookies.clear()

    text = home.browser.get(path_of(made)).text

    assert "Workbench" not in text
    assert ADA not in text
    assert "/signin?next=/shared%3Ftoken" in text
    assert "/signup?next=/shared%3Ftoken" in text


def test_signing_in_leads_on_to_the_invitation(home: Home) -> None:
    home.world.add_account(home.browser, EVE)
    made = invitation(home, Role.WATCH)

    answer = sign_in(home.browser, EVE, next=path_of(made))

    assert answer.headers["location"] == path_of(made)


def test_where_sign_up_is_closed_both_are_told_so(world_with: MakeWorld) -> None:
    with world_with(SIGN_UP="closed") as (world, browser):
        account = world.add_account(browser)
        sign_in(browser)
        here = Home(world, browser, account.account_id, "")
        here.printer_id = here.add_printer("Workbench")
        made = invitation(here, Role.WATCH)
        assert "Sign-up is closed" in here.get("/people").text
        browser.cookies.clear()

        text = browser.get(path_of(made)).text

    assert "/signup" not in text
    assert "Only the operator of this service creates accounts." in text


def test_without_a_mail_server_the_page_gives_the_link_and_says_that_none_was_sent(
    home: Home,
) -> None:
    answer = home.send("/people", email=EVE, role="watch", uses="1")
    page = home.browser.get(answer.headers["location"]).text

    assert LINK.search(page)
    assert "No e-mail was sent" in page
    assert home.world.mailer.sent == []


@pytest.mark.parametrize("known", [True, False])
def test_with_a_mail_server_the_link_is_in_the_mail_alone_whether_there_is_an_account(
    world_with: MakeWorld, known: bool
) -> None:
    with world_with(SMTP_URL="smtp://reach%40printreach.example@mail.example") as (
        world,
        browser,
    ):
        account = world.add_account(browser)
        if known:
            world.add_account(browser, EVE)
        sign_in(browser)
        here = Home(world, browser, account.account_id, "")
        here.printer_id = here.add_printer("Workbench")

        answer = here.send("/people", email=EVE, role="control", uses="1")
        page = browser.get(answer.headers["location"]).text

        assert "The e-mail with the link is on its way." in page
        assert not LINK.search(page)
        assert world.mailer.sent[-1].to == EVE
        assert world.mailer.link().startswith("/shared?token=")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"email": "nobody", "role": "watch"}, "Enter an e-mail address"),
        ({"email": ADA, "role": "watch"}, "This is your own address"),
        ({"email": "", "role": "owner", "uses": "1"}, "Choose what they may do"),
        ({"email": "", "role": "watch", "uses": "1000"}, "Choose how many people"),
    ],
)
def test_what_makes_no_sense_is_told_at_the_form(
    home: Home, fields: dict[str, str], sentence: str
) -> None:
    answer = home.send("/people", **fields)

    assert answer.status_code == 400
    assert sentence in answer.text


def test_an_owner_changes_a_role_and_ends_access(home: Home) -> None:
    eve = let_in(home, EVE, Role.WATCH)
    with browser_of(home, EVE) as browser:
        home.send(f"/people/{eve.account_id}/role", role="control")
        assert browser.get(f"{home.path}/control").status_code == 200

        question = home.get(f"/people/{eve.account_id}/end")
        assert EVE in question.text
        home.send(f"/people/{eve.account_id}/end")

        assert browser.get(home.path).status_code == 404
        assert "Workbench" not in browser.get("/printers").text


def test_an_open_invitation_is_listed_and_ended(home: Home) -> None:
    made = invitation(home, Role.WATCH, EVE)
    home.world.add_account(home.browser, EVE)
    assert EVE in shown_text(home.get("/people"))

    home.send(f"/people/link/{made.invitation.invitation_id}/end")

    assert EVE not in shown_text(home.get("/people"))
    with browser_of(home, EVE) as browser:
        assert browser.get(path_of(made)).status_code == 400


def test_a_person_leaves_by_themselves(home: Home) -> None:
    let_in(home, EVE, Role.WATCH)
    with browser_of(home, EVE) as browser:
        assert "Leave Workbench?" in browser.get(f"{home.path}/leave").text
        assert send(browser, f"{home.path}/leave").headers["location"] == "/printers"

        assert browser.get(home.path).status_code == 404
    assert EVE not in shown_text(home.get("/people"))


def test_an_invitation_that_has_run_out_opens_nothing(home: Home) -> None:
    home.world.add_account(home.browser, EVE)
    made = invitation(home, Role.WATCH)
    home.world.clock.advance(INVITATION_LIFETIME)
    with browser_of(home, EVE) as browser:
        answer = browser.get(path_of(made))

    assert answer.status_code == 400
    assert "Workbench" not in answer.text


def test_guessing_invitations_has_to_wait(home: Home) -> None:
    answers = [
        home.browser.get(f"/shared?token={number}").status_code
        for number in range(LINK_BY_ADDRESS.at_once + 1)
    ]

    assert answers == [400] * LINK_BY_ADDRESS.at_once + [429]


def test_what_a_member_orders_stands_in_the_history_with_their_address(home: Home) -> None:
    let_in(home, CLEO, Role.CONTROL)
    let_in(home, EVE, Role.WATCH)
    with browser_of(home, CLEO) as cleo, browser_of(home, EVE) as eve:
        send(cleo, f"{home.path}/pause")
        home.says(printing(state=State.PAUSED))
        home.world.clock.advance(timedelta(minutes=1))
        home.send("/resume")

        owners = _orders(home.get("/history").text)
        cleos, eves = (
            _orders(cleo.get(f"{home.path}/history").text),
            eve.get(f"{home.path}/history").text,
        )

    assert owners == [("Resumed", "you"), ("Paused", CLEO)]
    assert cleos == [("Paused", "you")]
    assert CLEO not in eves.replace("<wbr>", "")
    assert "commands" not in eves


def test_an_order_that_the_printer_refused_is_not_in_the_history(home: Home) -> None:
    home.world.printers.statuses.pop(home.printer_id)

    assert home.send("/pause").status_code == 409

    assert _orders(home.get("/history").text) == []


def test_moves_in_a_row_are_one_line(home: Home) -> None:
    home.says(printing(state=State.IDLE))
    for _ in range(3):
        home.send("/move", step="X+10")

    text = home.get("/history").text

    assert _orders(text) == [("Moved, 3 times", "you")]


def test_each_order_about_a_print_has_a_line_of_its_own(home: Home) -> None:
    """However soon it comes after one like it: each of them had a print to act on."""
    for _ in range(2):
        home.send("/pause")

    assert _orders(home.get("/history").text) == [("Paused", "you")] * 2


def test_moves_an_hour_apart_are_two_lines(home: Home) -> None:
    home.says(printing(state=State.IDLE))
    for _ in range(2):
        home.send("/move", step="X+10")
        home.world.clock.advance(timedelta(hours=1))

    assert _orders(home.get("/history").text) == [("Moved", "you")] * 2


def test_orders_of_a_deleted_account_stay_without_a_name(home: Home) -> None:
    let_in(home, CLEO, Role.CONTROL)
    with browser_of(home, CLEO) as cleo:
        send(cleo, f"{home.path}/pause")
    with home.browser.portal() as portal:
        portal.call(home.world.services.accounts.delete, CLEO)

    text = home.get("/history").text

    assert CLEO not in text.replace("<wbr>", "")
    assert _orders(text) == [("Paused", "a deleted account")]


def test_exports_tell_both_sides_of_what_is_shared(home: Home) -> None:
    let_in(home, CLEO, Role.CONTROL)
    with browser_of(home, CLEO) as cleo:
        send(cleo, f"{home.path}/pause")
        theirs = cleo.get("/account/export").text
    owners = home.browser.get("/account/export").text

    for text in (theirs, owners):
        assert '"printer_members"' in text
        assert '"given_orders"' in text
        assert "token_digest" not in text


def test_a_form_of_another_page_shares_nothing(home: Home) -> None:
    answer = home.browser.post(
        f"{home.path}/people",
        data={"email": "", "role": "control", "uses": "1"},
        headers={"origin": "https://evil.example"},
    )

    assert answer.status_code == 403
    assert "Open invitations" not in home.get("/people").text


def test_another_accounts_printer_can_not_be_shared(home: Home, bobs_printer: str) -> None:
    answer = send(home.browser, f"/printers/{bobs_printer}/people", role="watch", uses="1")

    assert answer.status_code == 404
    with browser_of(home, BOB) as bob:
        assert "Open invitations" not in bob.get(f"/printers/{bobs_printer}/people").text


def shown_text(answer: Response) -> str:
    """Return a page without the places where its words may break."""
    return answer.text.replace("<wbr>", "")


def _orders(page: str) -> list[tuple[str, str]]:
    """Return what was ordered, and by whom, as the history says it."""
    found = re.findall(r"<h3>([^<]*(?:<wbr>[^<]*)*)</h3><p>by (.*?), <time", page)
    return [(words.replace("<wbr>", ""), who.replace("<wbr>", "")) for words, who in found]
