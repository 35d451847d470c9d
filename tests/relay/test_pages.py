"""The answers of browsers and programs when the service itself fails."""

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from printreach.contract.errors import FAILURES, ErrorCode
from printreach.contract.permissions import Permission
from printreach.languages import speaking
from printreach.relay.browser_sign_in import WRONG_TYPED
from printreach.relay.page_words import FROM_ANOTHER_SITE, Reader, failure_of
from printreach.relay.pages import (
    ERROR_PAGE_CSP,
    confirmation_page,
    error_body,
    error_page,
    opening_page,
    sign_in_page,
)
from printreach.rules.connections import ConnectionKind, LostPrinter, Refused
from printreach.rules.connections.permissions import FULL_ACCESS, Access, Requirement, refusal_of
from tests.languages.conftest import brackets

__all__ = ["brackets"]

LOST = ErrorCode.PRINTER_NOT_CONNECTED
HOSTILE = "</p><script>alert(1)</script><img src=x onerror='alert(2)'>\"&amp;\x00\r\n\ud800"


class Elements(HTMLParser):
    """Every element and attribute of a page, and the text between."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data

    def plain_text(self) -> str:
        """The text with straight apostrophes, as the table has them."""
        return self.text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


@pytest.mark.parametrize("code", ErrorCode)
def test_every_page_says_its_title_its_meaning_and_its_code(code: ErrorCode) -> None:
    text = Elements(error_page(code, None)).plain_text()

    assert FAILURES[code].title in text
    assert FAILURES[code].meaning in text
    assert str(int(code)) in text


@pytest.mark.parametrize("code", ErrorCode)
def test_every_page_stays_under_4_kib(code: ErrorCode) -> None:
    assert len(error_page(code, "d" * 10_000, "n" * 10_000)) < 4096


def test_a_hostile_detail_cannot_grow_the_page_without_bound() -> None:
    assert len(error_page(LOST, "&" * 1_000_000, "\N{PILE OF POO}" * 1_000_000)) < 5120


@pytest.mark.parametrize("code", ErrorCode)
def test_a_page_loads_nothing_and_runs_nothing(code: ErrorCode) -> None:
    elements = Elements(error_page(code, None))
    names = {name for name, _ in elements.attributes}
    links = [value for name, value in elements.attributes if name in ("href", "src", "action")]

    assert not {"script", "img", "link", "iframe", "form"} & set(elements.tags)
    assert not {name for name in names if name.startswith("on") or name == "style"}
    assert set(links) <= {"#p", ""}


@pytest.mark.parametrize("code", ErrorCode)
def test_every_page_leads_to_ones_printers_and_out_of_a_frame(code: ErrorCode) -> None:
    page = error_page(
        code,
        "d" * 10_000,
        "n" * 10_000,
        reader=Reader(printers_page="https://reach.example/a?b=1&c", unlock_page=""),
    )

    link = '<a class="quiet" target="_top" href="https://reach.example/a?b=1&amp;c">'
    assert f"{link}Go to my printers</a>" in page.decode()
    assert len(page) < 4096


def test_a_hostile_detail_stays_text() -> None:
    harmless, hostile = (Elements(error_page(LOST, detail)) for detail in ("quiet", HOSTILE))

    assert hostile.tags == harmless.tags
    assert hostile.attributes == harmless.attributes
    assert "<script>alert(1)</script>" in hostile.text


def test_a_hostile_printer_name_stays_text_in_title_and_heading() -> None:
    harmless, hostile = (Elements(error_page(LOST, None, name)) for name in ("Bench", HOSTILE))

    assert hostile.tags == harmless.tags
    assert hostile.text.count("<script>alert(1)") == 2


def test_a_dollar_sign_in_a_detail_is_no_placeholder() -> None:
    assert "costs $code and $$" in Elements(error_page(LOST, "costs $code and $$")).text


def test_the_printers_name_stands_in_the_heading_only_when_given() -> None:
    named, nameless = (Elements(error_page(LOST, None, name)) for name in ("Workbench", None))

    assert "Workbench isn't connected" in named.plain_text()
    assert "This printer isn't connected" in nameless.plain_text()


def test_only_a_lost_printer_is_tried_again_by_itself() -> None:
    refreshing = {code for code in ErrorCode if b'http-equiv="refresh"' in error_page(code, None)}

    assert refreshing == {LOST}


def test_trying_again_is_offered_exactly_where_waiting_may_help() -> None:
    offered = {code for code in ErrorCode if b"Try now" in error_page(code, None)}

    assert offered == {code for code, failure in FAILURES.items() if failure.temporary}


def test_the_policy_admits_the_pages_own_style_and_nothing_else() -> None:
    styles = re.findall(rb"<style>(.*?)</style>", error_page(LOST, None), re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(styles[0]).digest()).decode()

    assert len(styles) == 1
    assert ERROR_PAGE_CSP.decode().split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{digest}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]


@pytest.mark.parametrize("code", ErrorCode)
def test_the_body_for_programs_has_the_code_and_its_meaning(code: ErrorCode) -> None:
    body = json.loads(error_body(code, None))

    assert body == {"Status": int(code), "Error": FAILURES[code].meaning}


def test_the_body_for_programs_prefers_the_detail() -> None:
    body = json.loads(error_body(ErrorCode.AGENT_ERROR, "The printer refused the connection."))

    assert body["Error"] == "The printer refused the connection."


def test_the_body_for_programs_carries_any_text_whole() -> None:
    assert json.loads(error_body(LOST, HOSTILE))["Error"] == HOSTILE


OWNER = Reader(
    printers_page="https://reach.example/printers",
    unlock_page="https://reach.example/remote-lock",
    kind=ConnectionKind.OWN,
    way_back="https://reach.example/printers/p1/open",
)
INTERFACE = Requirement(Permission.INTERFACE, works_while_locked=False)


def refused_page(access: Access, kind: ConnectionKind = ConnectionKind.OWN) -> Elements:
    """Return the page that a browser with valid credentials gets."""
    refused = Refused(ErrorCode.BAD_CREDENTIALS, refusal_of(INTERFACE, access))
    page = error_page(
        refused.code,
        refused.sentence,
        reader=replace(OWNER, kind=kind),
        failure=failure_of(refused),
    )
    return Elements(page)


def test_the_page_of_a_lost_printer_names_it_and_its_agents_page_to_its_owner() -> None:
    printer = LostPrinter(
        name="Work<bench>",
        lan_page="http://192.168.1.20:8765",
        lost_at=datetime(2026, 11, 3, 14, 2, tzinfo=UTC),
    )
    page = Elements(error_page(LOST, None, reader=replace(OWNER, lost=printer)))

    assert "Work<bench> isn't connected" in page.plain_text()
    assert "Contact was lost at 14:02 UTC on 3 November." in page.text
    assert "http://192.168.1.20:8765" in page.text
    assert "your-printer" not in page.text


def test_the_page_of_a_lost_printer_tells_no_time_that_is_not_known() -> None:
    page = Elements(error_page(LOST, None, reader=replace(OWNER, lost=LostPrinter(name="Bench"))))

    assert FAILURES[LOST].meaning in page.plain_text()
    assert "http://your-printer:8765" in page.text


def test_the_page_of_a_lost_printer_whose_agent_has_no_page_names_none() -> None:
    lost = LostPrinter(name="Bench", lan_page=None)
    page = Elements(error_page(LOST, None, reader=replace(OWNER, lost=lost)))

    assert "Is its network up?" in page.text
    assert "On the same network" not in page.text


def test_a_page_about_the_remote_lock_leads_to_where_it_is_unlocked() -> None:
    page = refused_page(Access(is_locked=True))

    assert "Remote control is locked" in page.text
    assert "606 remote control locked" in page.text
    assert "Unlock remote control" in page.text
    assert ("href", OWNER.unlock_page) in page.attributes
    assert "sign in" not in page.text.lower()
    assert "credentials" not in page.text


def test_a_guest_of_a_locked_printer_is_offered_no_unlocking() -> None:
    page = refused_page(Access(is_locked=True), ConnectionKind.SHARED)

    assert "Remote control is locked" in page.text
    assert "a" not in page.tags


@pytest.mark.parametrize("kind", ConnectionKind)
def test_a_page_about_a_missing_permission_speaks_of_no_credentials(kind: ConnectionKind) -> None:
    page = refused_page(Access(permissions=frozenset()), kind)

    assert "has no permission for interface" in page.text
    assert "606 not allowed" in page.text
    assert "sign in" not in page.text.lower()
    assert "credentials" not in page.text


def test_pages_about_another_site_speak_of_no_credentials() -> None:
    refused = error_page(ErrorCode.BAD_CREDENTIALS, None, reader=OWNER, failure=FROM_ANOTHER_SITE)
    for page in (refused, confirmation_page(b"/", OWNER)):
        assert "606 from another site" in Elements(page).text
        assert "credentials" not in Elements(page).text
        assert "sign in" not in Elements(page).text.lower()


def test_a_person_who_is_signed_out_is_still_led_to_sign_in() -> None:
    assert refusal_of(INTERFACE, FULL_ACCESS) is None
    page = Elements(error_page(ErrorCode.BAD_CREDENTIALS, None, reader=OWNER))

    assert "Sign in and open it" in page.text
    assert "606 bad credentials" in page.text


@pytest.mark.parametrize("code", ErrorCode)
def test_every_page_can_be_in_another_language(code: ErrorCode, brackets: str) -> None:
    with speaking(brackets):
        page = error_page(code, None, reader=OWNER)

    assert b'<html lang="de">' in page
    assert _outside_brackets(page) == [str(int(code)), code.name.lower().replace("_", " ")]


@pytest.mark.parametrize(
    "make",
    [
        lambda: sign_in_page("/open", WRONG_TYPED),
        lambda: opening_page("/"),
        lambda: confirmation_page(b"/", OWNER),
        lambda: error_page(LOST, None, reader=replace(OWNER, lost=LostPrinter(name="Bench"))),
    ],
)
def test_pages_on_the_way_to_a_printer_can_be_in_another_language(
    make: Callable[[], bytes], brackets: str
) -> None:
    with speaking(brackets):
        page = make()

    assert set(_outside_brackets(page)) <= NO_WORDS


def test_what_an_error_page_is_told_stays_harmless_in_another_language(brackets: str) -> None:
    with speaking(brackets):
        harmless, hostile = (Elements(error_page(LOST, detail)) for detail in ("quiet", HOSTILE))

    assert hostile.tags == harmless.tags


NO_WORDS = {"601", "606", "printer not connected", "bad credentials", "from another site"}


def _outside_brackets(page: bytes) -> list[str]:
    text = re.sub(r"<style>.*?</style>|<code>http[^<]*</code>", "", page.decode(), flags=re.DOTALL)
    text = re.sub(r"<[^>]*>", "\n", text)
    while "⟦" in text:
        text = re.sub(r"⟦[^⟦⟧]*⟧", "", text)
    words = re.findall(r"\d+|[a-zA-Z][a-zA-Z ]+", text)
    return [word.strip() for word in words]
