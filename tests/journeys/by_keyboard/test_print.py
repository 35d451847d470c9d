"""A file is uploaded, printed, paused, resumed and stopped by keyboard alone, in four windows."""

import re
from typing import Final

import pytest
from playwright.sync_api import expect

from tests.journeys.by_keyboard.people import (
    API,
    BENCHY,
    CASES,
    MORE_CASES,
    MOVES,
    Case,
    button,
    go_to,
    open_printer,
)
from tests.rigs.calls import call
from tests.rigs.keyboard import Keyboard
from tests.rigs.service import LinkedPrinter, Service
from tests.rigs.ways import Way

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.peer,
    pytest.mark.timeout(400),  # so that a wait in a page ends before, and says for what
]


MORE: Final = [pytest.param(case, marks=pytest.mark.pages) for case in MORE_CASES]


@pytest.mark.parametrize("case", [*CASES, *MORE], ids=str, indirect=True)
def test_a_person_uploads_prints_pauses_and_stops(
    owner: Keyboard, case: Case, printer: LinkedPrinter, home: Service
) -> None:
    app = home.way(home.connect(printer))
    try:
        upload_and_print(owner, case)
        pause_and_resume(owner)
        close_popup_of_a_smart_pause(owner, app)
        stop_print(owner)
        print_again(owner)
        stop_print(owner)
    finally:
        call(app, f"{API}/cancel", method="POST")  # for the next test, should this one fail


def upload_and_print(keyboard: Keyboard, case: Case) -> None:
    page = keyboard.page
    open_printer(keyboard, case)
    go_to(keyboard, "Files")
    with page.expect_file_chooser() as chooser:  # from before: the browser is told of it meanwhile
        keyboard.press(page.locator("#upload"), " ")
    file = {"name": BENCHY, "mimeType": "text/x.gcode", "buffer": MOVES[case.software]}
    chooser.value.set_files(file)  # type: ignore[arg-type]  # as told
    keyboard.press(button(page, "Upload and print"))
    replace = button(page.get_by_role("dialog"), "Replace")
    expect(replace.or_(button(page, "Start printing"))).to_be_visible()
    if replace.is_visible():
        keyboard.look()
        keyboard.press(replace)
    expect(button(page, "Start printing")).to_be_visible()
    keyboard.look()
    keyboard.press(button(page, "Start printing"))


def pause_and_resume(keyboard: Keyboard) -> None:
    page = keyboard.page
    keyboard.press(button(page, "Pause"))
    expect(button(page, "Resume")).to_be_visible()
    keyboard.has_focus()
    keyboard.look()
    keyboard.press(button(page, "Resume"))
    expect(button(page, "Pause")).to_be_visible()
    keyboard.has_focus()


def close_popup_of_a_smart_pause(keyboard: Keyboard, app: Way) -> None:
    """app: pauses the print."""
    page = keyboard.page
    call(app, f"{API}/pause", method="POST", body=b'{"SmartPause": true}')
    popup = page.get_by_role("dialog", name="Smart pause")
    expect(popup).to_be_visible()
    keyboard.look()
    keyboard.walk_through()
    keyboard.press(button(popup, "Close"))
    keyboard.press(button(page, "Resume"))
    expect(button(page, "Pause")).to_be_visible()


def print_again(keyboard: Keyboard) -> None:
    page = keyboard.page
    keyboard.press(button(page, "Print again"))
    again = page.get_by_role("dialog", name=re.compile(f"Print {BENCHY}"))
    keyboard.look()
    keyboard.press(button(again, "Start printing"))


def stop_print(keyboard: Keyboard) -> None:
    page = keyboard.page
    keyboard.press(button(page, "Stop print"))
    question = page.get_by_role("dialog", name=re.compile("Stop"))
    expect(button(question, "Don\u2019t stop")).to_be_focused()
    keyboard.look()
    keyboard.press(button(question, "Stop print"))
    expect(button(page, "Print again")).to_be_visible()
