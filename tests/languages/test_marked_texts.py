"""Every text of a page is marked, so that it can be translated."""

import re

import pytest

from tests.languages.unmarked import texts_made_once, unmarked_texts
from tests.languages.untranslated import untranslated_values
from tests.look.test_every_page import TEMPLATES
from tests.rigs.peers import ROOT

COMMENT = re.compile(r"^\s*//.*", re.MULTILINE)
UNMARKED_IN_SCRIPT = re.compile(r"""(?<!\bt\()(?<![/*"'`])(["`][A-Z][a-z\u2019]+ [^"`\n]+["`])""")
"""A string of two words, the first with a capital; names of headers and keys are one word."""
MESSAGE = re.compile(r"{% trans.*?{% endtrans %}")
BARE_PERCENT = re.compile(r"""[^{%]*(?:}}%(?!")|~ "%").*""")
"""After a value; lengths of drawings are in quotation marks."""
PAGES = sorted(path.relative_to(TEMPLATES).as_posix() for path in TEMPLATES.rglob("*.html"))
SOURCES = "".join((TEMPLATES / name).read_text() for name in PAGES)
IMPORTS = re.compile(r'\{% from "([^"]+)" import (?:(?!with context|%\}).)*%\}')
IMPORTED = sorted(set(IMPORTS.findall(SOURCES)))
"""Those made once for all pages; one that is imported with a page's context is made for each."""


@pytest.mark.parametrize("name", PAGES)
def test_every_text_of_a_template_is_marked(name: str) -> None:
    assert unmarked_texts((TEMPLATES / name).read_text()) == []


@pytest.mark.parametrize("name", IMPORTED)
def test_no_text_is_made_once_for_all_readers(name: str) -> None:
    assert texts_made_once((TEMPLATES / name).read_text()) == []


@pytest.mark.slow
def test_no_marked_text_becomes_part_of_another_in_english() -> None:
    found = [
        (path.relative_to(ROOT).as_posix(), name)
        for path in sorted((ROOT / "src/printreach").rglob("*.py"))
        for name in untranslated_values(path.read_text())
    ]

    assert found == [], "translate() it first"


def test_a_marked_text_that_becomes_part_of_another_in_english_is_found() -> None:
    source = """
WORDS = {1: N_("files"), 2: N_("camera")}
def limits(given):
    missing = [word for key, word in WORDS.items() if key not in given]
    *first, last = missing
    print(f"{key} {translate(last)}")
    return _("%(list)s and %(last)s", list=", ".join(first), last=last)
"""

    assert sorted(untranslated_values(source)) == ["first", "last"]


@pytest.mark.parametrize("name", PAGES)
def test_a_percent_sign_stands_as_the_language_has_it(name: str) -> None:
    """The filter `percent` puts it, or a message that has the number as a value."""
    text = MESSAGE.sub("", (TEMPLATES / name).read_text())

    assert BARE_PERCENT.findall(text) == []


def test_every_text_of_a_script_is_marked() -> None:
    unmarked = [
        (path.name, text)
        for path in sorted((ROOT / "web").glob("[sw]*/**/*.ts"))
        for text in UNMARKED_IN_SCRIPT.findall(COMMENT.sub("", path.read_text()))
    ]

    assert unmarked == []


def test_an_unmarked_text_of_a_script_is_found() -> None:
    script = 'say("Try again."); say(t("Try again.")); say(`Box ${n} of all`); fetch("/a b");'

    assert UNMARKED_IN_SCRIPT.findall(script) == ['"Try again."', "`Box ${n} of all`"]


def test_an_unmarked_text_is_found_wherever_it_stands() -> None:
    found = unmarked_texts(
        '<p title="Seen">Read {{ button("Press") }}{{ _("Fine") }}</p>{% trans %}Good{% endtrans %}'
    )

    assert found == ["Seen", "Read", "Press"]


def test_code_and_names_are_no_text() -> None:
    assert unmarked_texts("<code>curl it</code><b>Printreach</b>{{ x == 'Ready' }}") == []


def test_a_text_that_an_imported_template_makes_once_is_found() -> None:
    source = '{% set WORDS = [_("Open")] %}{% macro x() %}{% set y = _("Fine") %}{% endmacro %}'

    assert texts_made_once(source) == ["WORDS"]
