"""The public page of a Live Link: visible and hidden data."""

from datetime import timedelta

import pytest

from printreach.contract.sizes import MAX_PICTURE_BYTES
from printreach.contract.status import State
from printreach.hub.connections.live_links import LiveWish
from printreach.web.connections.live_pages import PAGES_BY_ADDRESS
from tests.fakes.printer_http import OFFLINE
from tests.rules.detection.test_jpeg import archive, picture
from tests.web.connections.conftest import SNAPSHOT, Shown, at_print, make_link
from tests.web.printers.conftest import Home, printing
from tests.web.world import ADA, run, send

EVIL = "<script>alert(1)</script>"


def test_a_stranger_sees_what_the_printer_does(shown: Shown) -> None:
    page = shown.get()

    assert page.status_code == 200
    for words in ("Printing", "62", "Layer 148 of 240", "215°", f"{shown.path}/picture"):
        assert words in page.text, words


def test_the_page_says_neither_whose_printer_it_is_nor_where(shown: Shown) -> None:
    page = shown.get().text

    for secret in (ADA, "Workbench", "vase.gcode", shown.home.printer_id, shown.home.account_id):
        assert secret not in page, secret


def test_names_are_shown_where_the_owner_agreed_and_never_as_markup(home: Home) -> None:
    home.says(at_print("print-1", file_name=f"{EVIL}.gcode"))
    shown = Shown(home, make_link(home, LiveWish(shows_names=True)))
    page = shown.get().text

    assert "Workbench" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;.gcode" in page
    assert EVIL not in page


@pytest.mark.parametrize("state", [State.IDLE, State.PRINTING])
def test_its_heading_holds_whether_or_not_something_is_printed(home: Home, state: State) -> None:
    home.says(printing(state=state))
    page = Shown(home, make_link(home, LiveWish())).get().text

    assert "<h1>A 3D printer, live</h1>" in page


def test_a_stranger_can_do_nothing_there(shown: Shown) -> None:
    page = shown.get().text
    assert "<form" not in page
    assert page.count("<button") == page.count('type="button"')  # which show the picture larger
    for path in ("pause", "resume", "stop", "files", "control", "webcam/still", "webcam/stream"):
        assert shown.ask(f"{shown.path}/{path}").status_code == 404
        assert shown.ask(f"{shown.path}/{path}", "POST").status_code in (404, 405)
    assert shown.home.orders == []


def test_the_page_is_hidden_from_search_engines_and_tells_no_other_site(shown: Shown) -> None:
    for answer in (shown.get(), shown.get("/picture"), shown.ask(f"/l/{shown.link.short_id}")):
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "noindex" in answer.headers["x-robots-tag"]
        assert answer.headers["cache-control"] == "no-store"
        assert "set-cookie" not in answer.headers
    assert '<meta name="robots" content="noindex' in shown.get().text


def test_the_short_address_leads_to_the_page(shown: Shown) -> None:
    answer = shown.ask(f"/l/{shown.link.short_id}")

    assert (answer.status_code, answer.headers["location"]) == (303, shown.path)


def test_an_address_that_was_never_given_out_says_nothing_but_that(shown: Shown) -> None:
    link = shown.link
    guesses = [
        f"/live/{'a' * 32}",
        f"/live/{link.short_id}",
        f"/live/{link.live_id.upper()}",
        f"/live/{link.live_id}x",
        f"/l/{link.live_id}",
        f"/l/{'a' * 26}",
        f"/l/{link.short_id[:16]}",
        f"/live/{shown.home.printer_id}",
        f"/live/{'a' * 32}/picture",
        f"/live/{'a' * 32}/events",
    ]
    answers = [shown.ask(path) for path in guesses]

    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.text for answer in answers}) == 1


def test_addresses_are_too_long_to_be_guessed(shown: Shown) -> None:
    assert len(shown.link.live_id) * 5 >= 160
    assert len(shown.link.short_id) * 5 >= 128


@pytest.mark.parametrize("path", ["/l", "/live"])
def test_guessing_addresses_has_to_wait(shown: Shown, path: str) -> None:
    codes = [shown.ask(f"{path}/guess{n}").status_code for n in range(PAGES_BY_ADDRESS.at_once + 1)]

    assert (codes[0], codes[-1]) == (404, 429)


def test_a_printer_that_is_away_is_said_to_be(shown: Shown) -> None:
    shown.home.world.clock.advance(timedelta(minutes=1))
    shown.home.world.printers.statuses[shown.home.printer_id] = OFFLINE
    page = shown.get()

    assert page.status_code == 200
    assert "The printer is offline right now" in page.text
    assert "Printing" not in page.text
    assert shown.get("/picture").status_code == 404


def test_what_the_printer_says_in_sentences_is_not_passed_on(shown: Shown) -> None:
    shown.home.world.clock.advance(timedelta(seconds=5))
    said = at_print("print-1", State.ERROR)
    job = said.job_status
    broken = type(job)(
        state=job.state, error="192.168.1.7 refused", current_print=job.current_print
    )
    shown.home.says(
        type(said)(
            job_status=broken,
            service_status=said.service_status,
            platform_version=said.platform_version,
            features=said.features,
            list_webcams=said.list_webcams,
        )
    )

    assert "192.168" not in shown.get().text


# --- pictures ---------------------------------------------------------------------------------


def test_a_stranger_gets_the_picture_and_nothing_but_a_picture(shown: Shown) -> None:
    answer = shown.get("/picture")

    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/jpeg")
    assert answer.content == shown.home.world.printers.raw[SNAPSHOT][1]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    "body",
    [
        b"<!doctype html><script>alert(1)</script>",
        archive(),
        picture()[:-2],
        b"\xff\xd8\xff" + bytes(MAX_PICTURE_BYTES),
    ],
)
def test_what_is_no_picture_is_not_passed_on(shown: Shown, body: bytes) -> None:
    shown.home.world.printers.raw[SNAPSHOT] = ("image/jpeg", body)

    assert shown.get("/picture").status_code == 404


# --- the end ----------------------------------------------------------------------------------


def test_the_owner_ends_it_at_once(shown: Shown) -> None:
    assert shown.get().status_code == 200
    shown.end()
    page = shown.get()

    assert page.status_code == 410
    assert "This live view has ended" in page.text
    assert "The person who shared it has ended it." in page.text
    assert "webcam" not in page.text.lower()
    assert shown.get("/picture").status_code == 404


def test_it_ends_when_its_time_is_over(shown: Shown) -> None:
    shown.home.world.clock.advance(timedelta(days=1))
    page = shown.get()

    assert page.status_code == 410
    assert "It has expired." in page.text
    assert shown.get("/picture").status_code == 404


def test_it_ends_when_the_printer_is_removed_and_stays_so(shown: Shown) -> None:
    home = shown.home
    assert home.send("/remove").status_code == 303
    assert "The printer was removed." in shown.get().text
    home.world.clock.advance(timedelta(seconds=5))
    assert home.add_printer("Workbench") == home.printer_id
    home.says(at_print("print-1"))

    assert shown.get().status_code == 410
    assert shown.get("/picture").status_code == 404


def test_the_printers_next_owner_is_not_shown_by_it(shown: Shown) -> None:
    home = shown.home
    home.send("/remove")
    bob = home.world.add_account(home.browser, "bob@example.org")
    home.add_printer("Workbench", account_id=bob.account_id)

    assert shown.get().status_code == 410


def test_the_page_of_an_ended_link_has_the_names_that_the_owner_agreed_to(home: Home) -> None:
    home.says(at_print("print-1", file_name=f"{EVIL}.gcode"))
    links = [make_link(home, LiveWish(shows_names=shows)) for shows in (True, False)]
    named, unnamed = (Shown(home, link) for link in links)
    home.get()
    for one in (named, unnamed):
        one.end()

    assert "&lt;script&gt;alert(1)&lt;/script&gt;.gcode" in named.get().text
    assert EVIL not in named.get().text
    assert "gcode" not in unnamed.get().text
    assert "62%" in unnamed.get().text


@pytest.mark.parametrize(
    "later", [at_print("print-1", State.COMPLETE), at_print("print-2"), at_print("", State.IDLE)]
)
def test_a_link_that_ends_with_its_print_is_over_as_soon_as_somebody_sees_it(
    home: Home, later: object
) -> None:
    home.says(at_print("print-1"))
    shown = Shown(home, make_link(home, LiveWish(ends_with_print=True)))
    assert "It ends with this print" in shown.get().text
    home.world.clock.advance(timedelta(seconds=5))
    home.says(later)  # type: ignore[arg-type]  # the statuses above

    assert shown.get().status_code == 410
    home.world.clock.advance(timedelta(seconds=5))
    home.says(at_print("print-1"))
    assert shown.get().status_code == 410
    assert "The print it showed has ended." in shown.get().text


# --- its owner --------------------------------------------------------------------------------


def test_the_owner_makes_lists_and_ends_links(home: Home) -> None:
    assert "Create a Live Link" in home.browser.get("/connections/live").text
    made = send(home.browser, "/connections/live", printer=home.printer_id, ends="168")
    assert made.headers["location"] == "/connections"
    page = home.browser.get("/connections").text

    assert "https://printreach.example/l/" in page
    assert "8 May 2026, 12:00 UTC" in page


@pytest.mark.parametrize(
    ("printer", "ends"), [("", "24"), ("a" * 32, "24"), (None, ""), (None, "0"), (None, "99999")]
)
def test_what_makes_no_sense_makes_no_link(home: Home, printer: str | None, ends: str) -> None:
    chosen = home.printer_id if printer is None else printer
    answer = send(home.browser, "/connections/live", printer=chosen, ends=ends)

    assert answer.status_code == 400
    assert "/l/" not in home.browser.get("/connections").text


def test_a_form_says_that_nothing_is_printing(home: Home) -> None:
    home.says(at_print("", State.IDLE))
    fields = {"printer": home.printer_id, "ends": "24", "with_print": "yes"}
    answer = send(home.browser, "/connections/live", **fields)

    assert answer.status_code == 400
    assert "No print is running" in answer.text


def test_another_accounts_printer_is_not_shown(home: Home, bobs_printer: str) -> None:
    theirs = send(home.browser, "/connections/live", printer=bobs_printer, ends="24")
    unknown = send(home.browser, "/connections/live", printer="a" * 32, ends="24")

    assert (theirs.status_code, theirs.text) == (400, unknown.text)


def test_another_accounts_link_is_neither_listed_nor_ended(shown: Shown, bobs_printer: str) -> None:
    home = shown.home
    other = Home(home.world, home.browser, "", bobs_printer)

    async def account_of() -> str:
        row = await home.world.store.read(lambda records: records.printers.row(bobs_printer))
        assert row is not None
        return row.printer.account_id

    other.account_id = run(home.browser, account_of)
    theirs = make_link(other)
    for live_id in (theirs.live_id, "unknown"):
        assert home.browser.get(f"/connections/live/{live_id}/end").status_code == 404
        assert send(home.browser, f"/connections/live/{live_id}/end").status_code == 404

    assert theirs.short_id not in home.browser.get("/connections").text
    assert shown.ask(f"/live/{theirs.live_id}").status_code == 200


@pytest.mark.parametrize("origin", ["null", "https://own-abc.tunnel.example"])
def test_a_form_of_another_page_neither_makes_nor_ends(shown: Shown, origin: str) -> None:
    browser, fields = shown.home.browser, {"printer": shown.home.printer_id, "ends": "24"}
    for path in ("/connections/live", f"/connections{shown.path}/end"):
        answer = browser.post(path, data=fields, headers={"origin": origin})
        assert answer.status_code == 403

    assert shown.get().status_code == 200
    assert browser.get("/connections").text.count("/l/") == 2  # its link, and the words of it
