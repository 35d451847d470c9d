"""People use every page by keyboard alone, with real printer software behind it.

Each flow is gone through on a phone and at a desk; Moonraker and OctoPrint, light and dark are
shared out among them. Whatever has the focus is seen, nothing keeps it, and axe finds nothing on
the way.
"""

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.journeys.by_keyboard.people import (
    GUEST,
    Case,
    button,
    go_to,
    open_printer,
    person,
    said,
    sign_in,
)
from tests.rigs.chromium import fresh_profile, wait_until
from tests.rigs.keyboard import Keyboard
from tests.rigs.portal import LOGO_URL, Shop, answer_as_app, answer_with_logo, heard
from tests.rigs.service import OWNER, LinkedPrinter, Service
from tests.rigs.sites import heading

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.peer,
    pytest.mark.timeout(400),  # so that a wait in a page ends before, and says for what
]


def test_a_person_opens_their_printer_and_looks_at_its_camera(owner: Keyboard, case: Case) -> None:
    page = owner.page
    owner.look()
    owner.walk_through()
    open_printer(owner, case)
    picture = page.locator(".picture")
    image = picture.get_by_role("img", name=f"{case.software}, webcam")
    wait_until(page, "document.querySelector('.picture img').naturalWidth")
    owner.look()
    owner.walk_through()

    owner.press(button(picture, "Zoom in"))
    assert image.evaluate("image => Number(image.style.scale)") > 1
    page.keyboard.press("ArrowLeft")
    assert image.evaluate("image => image.style.translate") != "0px"
    page.keyboard.press("0")
    assert image.evaluate("image => image.style.scale") == ""
    owner.press(button(picture, "Full screen"), " ")
    expect(button(picture, "Leave full screen")).to_be_focused()
    owner.look()
    owner.press(button(picture, "Zoom in"))
    owner.press(button(picture, "Leave full screen"))
    expect(button(picture, "Full screen")).to_be_focused()


def test_a_person_heats_homes_and_moves(owner: Keyboard, case: Case) -> None:
    page = owner.page
    open_printer(owner, case)
    go_to(owner, "Control")
    owner.walk_through()

    owner.press(page.locator("summary", has_text="Set Hotend"))
    owner.type(page.get_by_label("Hotend, in °C"), "999")
    page.keyboard.press("Enter")
    expect(page.get_by_text(re.compile("Enter a temperature in °C"))).to_be_visible()
    owner.look()
    owner.write("60")
    page.keyboard.press("Enter")
    question = page.get_by_role("dialog", name=re.compile("Heat the hotend"))
    expect(button(question, re.compile("Leave it off|Keep"))).to_be_focused()
    owner.look()
    owner.press(button(question, re.compile("Heat hotend to 60")))
    said(page, "The new temperature")
    owner.has_focus()

    owner.press(button(page, "Home all axes"))
    said(page, "The printer was told to home")
    owner.press(button(page, "X +10 mm"), " ")
    said(page, "The move was sent")
    expect(button(page, "X +10 mm")).to_be_focused()
    slider = page.get_by_role("slider", name="Speed, slider")
    faster = int(slider.input_value()) + 5
    owner.press(slider, "ArrowRight")
    expect(page.get_by_label("Speed, in %")).to_have_value(str(faster))
    owner.press(page.locator("#set-speed").get_by_role("button", name="Set"))
    said(page, "Adjusted.|The adjustment was sent")
    owner.press(button(page, "Cool down"))
    expect(page.locator(".heater.is-off").first).to_contain_text("Hotend")
    owner.has_focus()


def test_a_printer_is_shared_with_a_person_who_chooses_a_language_and_signs_out(
    owner: Keyboard, case: Case, chromium: Browser
) -> None:
    page = owner.page
    open_printer(owner, case)
    owner.follow(button(page, "Share"))
    heading(page, case.software)
    owner.reach(page.get_by_role("radio", name="Can watch"))
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio", name="Can control")).to_be_checked()
    owner.follow(button(page, "Share"))
    heading(page, "Pass this link on")
    owner.walk_through()
    link = page.locator("#once-1").inner_text()
    owner.follow(button(page, "Done"))

    with fresh_profile(chromium) as profile, person(profile, case) as guest:
        guest.page.goto(link)
        guest.look()
        guest.follow(button(guest.page, "Sign in"))
        sign_in(guest, GUEST)
        heading(guest.page, case.software)
        guest.look()
        guest.follow(button(guest.page, "Accept"))
        expect(guest.page.get_by_text(f"Shared by {OWNER}.")).to_be_visible()
        guest.walk_through()

        owner.page.reload()
        owner.follow(button(page, "End access"))
        owner.follow(button(page, "End access"))
        expect(page.get_by_text("Nobody but you.")).to_be_visible()
        expect(guest.page.get_by_role("heading", level=1)).not_to_have_text(case.software)
        guest.look()
        guest.follow(button(guest.page, "Go to your printers"))
        speak_german_and_leave(guest)


def speak_german_and_leave(keyboard: Keyboard) -> None:
    page = keyboard.page
    keyboard.follow(page.get_by_role("link", name=re.compile("^(Account|Your account)$")).first)
    heading(page, "Your account")
    keyboard.walk_through()
    choose_language(keyboard, "Language of pages and messages", "Save", "Deutsch")
    heading(page, "Dein Konto")
    keyboard.look()
    keyboard.walk_through()
    choose_language(keyboard, "Sprache", "Speichern", "English")
    heading(page, "Your account")
    keyboard.follow(button(page, "Sign out"))
    expect(button(page, "Sign in")).to_be_visible()


def choose_language(keyboard: Keyboard, label: str, save: str, language: str) -> None:
    field = keyboard.page.get_by_label(label)
    keyboard.reach(field)
    keyboard.page.keyboard.type(language)
    keyboard.follow(keyboard.page.locator("form", has=field).get_by_role("button", name=save))


def test_a_live_link_is_made_and_ended(owner: Keyboard, case: Case) -> None:
    page = owner.page
    owner.follow(page.get_by_role("link", name="Connections").first)
    heading(page, "Connections")
    owner.follow(button(page, "Create a Live Link"))
    owner.reach(page.get_by_label("Printer", exact=True))
    page.keyboard.type(case.software)
    owner.reach(page.get_by_label("Ends", exact=True))
    page.keyboard.press("ArrowDown")
    owner.press(page.get_by_label("Show the names"), " ")
    owner.follow(button(page, "Create Live Link"))
    link = page.locator("a[href*='/l/']")
    expect(link).to_have_count(1)
    owner.walk_through()
    owner.follow(link)
    expect(page.get_by_role("heading", name=case.software)).to_be_visible()
    owner.walk_through()
    page.go_back()
    heading(page, "Connections")
    owner.follow(button(page.get_by_role("listitem").filter(has=link), "End"))
    owner.follow(button(page, "End Live Link"))
    expect(page.get_by_text("No Live Links yet.")).to_be_visible()


def test_a_person_decides_what_they_are_notified_of(owner: Keyboard, case: Case) -> None:
    page = owner.page
    if not page.get_by_role("link", name="Notifications").first.is_visible():
        owner.follow(page.get_by_role("link", name="Account"))
    owner.follow(page.get_by_role("link", name="Notifications").first)
    heading(page, "Notifications")
    owner.walk_through()
    begins = page.get_by_label("A print starts")
    was_ticked = begins.is_checked()
    owner.press(begins, " ")
    owner.follow(page.locator("form[action$=events]").get_by_role("button", name="Save"))
    expect(begins).to_be_checked(checked=not was_ticked)
    owner.press(page.get_by_label("Quiet hours on"), " ")
    owner.press(page.get_by_label("From"), "ArrowUp")
    owner.follow(page.locator("form[action$=quiet]").get_by_role("button", name="Save"))
    expect(page.get_by_label("From")).to_have_value("23:00")
    owner.press(page.get_by_label("Quiet hours on"), " ")
    owner.follow(page.locator("form[action$=quiet]").get_by_role("button", name="Save"))

    owner.follow(page.get_by_role("link", name=f"Change {case.software}"))
    owner.walk_through()
    owner.reach(page.get_by_role("radio", checked=True))
    page.keyboard.press("ArrowDown")
    owner.follow(button(page, "Save"))
    heading(page, "Notifications")
    owner.follow(button(page, "Add a channel"))
    owner.walk_through()
    owner.follow(page.get_by_role("link", name="ntfy"))
    owner.follow(button(page, "Back"))


def test_an_app_is_let_in_by_the_portal(
    home: Service, printer: LinkedPrinter, case: Case, chromium: Browser
) -> None:
    with fresh_profile(chromium) as profile, person(profile, case) as owner:
        profile.route("https://app.example.com/**", answer_as_app)
        profile.route(LOGO_URL, answer_with_logo)
        page = owner.page
        Shop(home).open(page)
        owner.look()
        owner.walk_through()
        owner.follow(button(page, "Continue"))
        owner.follow(button(page, "Sign in"))
        sign_in(owner, OWNER)
        if page.get_by_role("heading", name="Which printer?").is_visible():
            owner.look()
            owner.press(page.get_by_role("radio").first, " ")
            owner.follow(button(page, "Continue"))
        expect(page.get_by_role("heading", name="Let Journeys use")).to_be_visible()
        owner.walk_through()
        owner.press(page.get_by_role("checkbox").first, " ")
        owner.press(button(page, "Allow Journeys"))

        assert heard(page)["success"] == "true"
