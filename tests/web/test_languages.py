"""Pages are in the language of the account, else of the browser, else in English."""

import re
from collections.abc import Sequence
from html.parser import HTMLParser

import pytest

from printreach import languages
from tests.languages.conftest import brackets, known_brackets
from tests.web.world import ADA, Browser, WebWorld, send, sign_in

__all__ = ["brackets", "known_brackets"]

PUBLIC = ("/", "/signin", "/signup", "/reset", "/offline", "/no-such-page")
OF_AN_ACCOUNT = (
    *("/account", "/account/security", "/account/tokens", "/account/delete", "/link"),
    *("/account/presets", "/account/presets/change", "/account/supporter", "/remote-lock"),
    *("/printers", "/connections", "/connections/share", "/activity", "/stop-everything"),
    *("/notifications", "/notifications/add"),
    *("/developer", "/developer/register", "/developer/new-key", "/usage"),
)
OF_OPERATORS = (
    *("/operator", "/operator/accounts", "/operator/apps", "/operator/printers"),
    *("/operator/connections", "/operator/keys", "/operator/acts", "/operator/limits"),
    *("/operator/invite", "/operator/register"),
)
DATA = (
    *(ADA, "operator@printreach.example", "Printreach", "testclient", "404", "Mai", "°C"),
    *("English", "Deutsch", "简体中文"),
    *("EUR", "PLA", "PETG", "TPU", "ASA"),
    *("OctoPrint", "Klipper (Moonraker)", "Bambu Lab", "PrusaLink", "Elegoo", "Duet"),
    *("PRINTREACH_SIGN_UP=open", "PRINTREACH_SUPPORTERS=everyone"),
    *(
        "ntfy.sh",
        "ntfy",
        "Telegram",
        "Discord",
        "Slack",
        "Matrix",
        "Gotify",
        "Pushover",
        "events:read",
    ),
)
"""What is no text of a language."""
ZONE = re.compile(r"^(?:[A-Z]\w+(?:/[\w +-]+)+|UTC)$", re.MULTILINE)
"""A time zone, as a page names it."""
GERMAN = {"accept-language": "de-DE,de;q=0.9,en;q=0.5"}


class _VisibleText(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("script", "style", "svg", "code", "pre", "time")
        read = ("aria-label", "title", "alt", "placeholder")
        self.found += [value or "" for name, value in attrs if name in read]

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style", "svg", "code", "pre", "time")

    def handle_data(self, data: str) -> None:
        self.found += [data] if not self._hidden else []


def text_outside_brackets(page: str, names: Sequence[str] = ()) -> list[str]:
    """The words of a page that no catalogue was asked for. names: of things on it."""
    parser = _VisibleText()
    parser.feed(page.replace("<wbr>", ""))
    text = "\n".join(parser.found)
    while "⟦" in text:
        text, replaced = re.subn(r"⟦[^⟦⟧]*⟧", "", text)
        assert replaced
    text = ZONE.sub("", text)
    for data in (*DATA, *names):
        text = text.replace(data, "")
    return re.findall(r"[^\W\d_][\w ]*", text)


def test_a_page_is_english_without_a_wish(browser: Browser) -> None:
    page = browser.get("/signin")

    assert '<html lang="en"' in page.text
    assert page.headers["content-language"] == "en"
    assert page.headers["vary"] == "Accept-Language"


def test_a_page_is_in_the_language_of_the_browser(browser: Browser, brackets: str) -> None:
    page = browser.get("/signin", headers=GERMAN)

    assert '<html lang="de"' in page.text
    assert page.headers["content-language"] == "de"
    assert "<h1>⟦Sign in⟧</h1>" in page.text


def test_what_programs_get_stays_english(browser: Browser, brackets: str) -> None:
    answer = browser.get("/no-such-page", headers={**GERMAN, "accept": "application/json"})

    assert "⟦" not in answer.text
    assert "content-language" not in answer.headers


def test_the_account_chooses_another_language_than_the_browser(
    world: WebWorld, browser: Browser, brackets: str
) -> None:
    world.add_account(browser)
    sign_in(browser)

    send(browser, "/account/language", language="de")

    assert "⟦Your account⟧" in browser.get("/account").text
    send(browser, "/account/language", language="")
    assert "⟦" not in browser.get("/account").text
    send(browser, "/account/language", language="tlh<script>")
    assert "tlh" not in browser.get("/account").text


def test_the_language_of_the_browser_is_remembered_for_mails(
    world: WebWorld, browser: Browser, brackets: str
) -> None:
    world.add_account(browser)
    browser.headers["accept-language"] = "de"

    sign_in(browser)

    (account,) = world.people(browser)
    assert (account.language, account.language_of_messages) == ("", "de")


@pytest.mark.parametrize("path", PUBLIC)
def test_all_of_a_page_for_everybody_can_be_translated(
    path: str, browser: Browser, known_brackets: str
) -> None:
    page = browser.get(path, headers=GERMAN)

    assert "⟦" in page.text
    assert text_outside_brackets(page.text) == []


@pytest.mark.parametrize("path", OF_AN_ACCOUNT)
def test_all_of_a_page_of_an_account_can_be_translated(
    path: str, world: WebWorld, browser: Browser, known_brackets: str
) -> None:
    world.add_account(browser)
    sign_in(browser)

    page = browser.get(path, headers=GERMAN)

    assert "⟦" in page.text
    assert text_outside_brackets(page.text) == []


@pytest.mark.parametrize("path", OF_OPERATORS)
def test_all_of_a_page_for_operators_can_be_translated(
    path: str, world: WebWorld, browser: Browser, known_brackets: str
) -> None:
    world.add_account(browser, is_admin=True)
    sign_in(browser)

    page = browser.get(path, headers=GERMAN)

    assert "⟦" in page.text
    assert text_outside_brackets(page.text) == []


def test_no_language_is_offered_before_it_is_complete() -> None:
    assert set(languages.NAMES) - {"en"} <= set(languages.catalogues.COMPLETE)
