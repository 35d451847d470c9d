"""What walks by keyboard share: who sits where, and what everybody does."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.rigs.chromium import close_page
from tests.rigs.keyboard import Keyboard
from tests.rigs.looks import DESKTOP, PHONE, Scheme, Size
from tests.rigs.octoprint import LONG_MOVES, gcode
from tests.rigs.service import PASSWORD
from tests.rigs.sites import heading

GUEST: Final = "guest@example.com"
BENCHY: Final = "benchy.gcode"
MOVES: Final = {
    "octoprint": gcode(LONG_MOVES),
    "moonraker": b"G28\nM83\nM104 S60\nM109 S60\n" + b"G1 X10 E1 F6000\nG1 X30 E1\n" * 300,
}
API: Final = "/service-command-api"


@dataclass(frozen=True)
class Case:
    """Where somebody sits: which software their printer has, and what their window is like."""

    software: str
    size: Size
    scheme: Scheme

    def __str__(self) -> str:
        return f"{self.software}-{self.size.name}-{self.scheme}"


CASES: Final = [Case("moonraker", PHONE, "light"), Case("octoprint", DESKTOP, "light")]
MORE_CASES: Final = [
    Case("moonraker", Size("on-its-side", 844, 390), "dark"),
    Case("octoprint", Size("small", 320, 568), "dark"),
]


@contextmanager
def person(profile: BrowserContext, case: Case) -> Iterator[Keyboard]:
    page = profile.new_page()
    page.set_viewport_size({"width": case.size.width, "height": case.size.height})
    page.emulate_media(color_scheme=case.scheme, reduced_motion="reduce")
    keyboard = Keyboard(page)
    yield keyboard
    close_page(page)
    assert not keyboard.faults, "\n".join(keyboard.faults)


def sign_in(keyboard: Keyboard, email: str) -> None:
    page = keyboard.page
    keyboard.type(page.get_by_label("E-mail"), email)
    keyboard.type(page.get_by_label("Password"), PASSWORD)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def button(within: Page | Locator, name: str | re.Pattern[str]) -> Locator:
    """A button, or a link that looks like one."""
    exact = isinstance(name, str)
    named = within.get_by_role("button", name=name, exact=exact)
    return named.or_(within.get_by_role("link", name=name, exact=exact)).first


def said(page: Page, words: str) -> None:
    """In passing. words: a pattern."""
    expect(page.locator(".toast")).to_contain_text(re.compile(words))


def open_printer(keyboard: Keyboard, case: Case) -> None:
    keyboard.follow(keyboard.page.get_by_role("heading", name=case.software).get_by_role("link"))
    heading(keyboard.page, case.software)


def go_to(keyboard: Keyboard, section: str) -> None:
    """A section of the printer."""
    keyboard.follow(keyboard.page.get_by_role("link", name=section, exact=True).first)
