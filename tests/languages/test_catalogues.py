"""The catalogues say the same as the sources, in every language that is offered."""

import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

from printreach.contract.errors import FAILURES, THIS_PRINTER
from printreach.languages.catalogues import COMPLETE, FOLDER, Catalogue, catalogue_of, entries
from shipping.messages import LANGUAGES, collect, updated

PLACEHOLDER = re.compile(r"%\(\w+\)s|%%|<[^>]*>")


@cache
def template() -> Catalog:
    return collect()


@pytest.mark.slow
def test_the_sources_have_texts() -> None:
    assert len(template()) > 100


@pytest.mark.slow
def test_every_text_of_the_sources_is_in_each_catalogue() -> None:
    behind = [
        language
        for language in COMPLETE
        if (FOLDER / language / "messages.po").read_bytes() != updated(language, template())
    ]

    assert behind == [], "run `make messages`, and translate what is new"


def test_every_text_is_translated_and_none_is_doubtful() -> None:
    missing = [
        (language, text.id)
        for language, text in _translated()
        if text.fuzzy or not all(_forms(text.string))
    ]

    assert missing == []


@pytest.mark.slow
def test_a_translation_has_the_placeholders_and_the_markup_of_its_text() -> None:
    wrong = [
        (language, text.id)
        for language, text in _translated()
        for form in _forms(text.string)
        if not any(_parts(form) in _allowed(source, text.id) for source in _forms(text.id))
    ]

    assert wrong == []


def test_a_title_with_the_word_for_a_printer_takes_its_name() -> None:
    """On the pages of the relay, the name stands in place of it."""
    wrong = []
    for language in COMPLETE:
        texts = catalogue_of(language).texts
        titles = [failure.title for failure in FAILURES.values() if THIS_PRINTER in failure.title]
        wrong += [(language, title) for title in titles if texts[THIS_PRINTER] not in texts[title]]

    assert wrong == []


def _allowed(source: str, counted: object) -> list[list[str]]:
    """The parts of a source; a form for one of a thing may say so by a word."""
    parts = _parts(source)
    return [parts, [part for part in parts if part != "%(num)s"] if _is_counted(counted) else parts]


def _is_counted(text: object) -> bool:
    return isinstance(text, tuple | list)


def _translated() -> Iterator[tuple[str, Message]]:
    for language in COMPLETE:
        with (FOLDER / language / "messages.po").open("rb") as file:
            yield from ((language, text) for text in read_po(file) if text.id)


def _forms(text: str | tuple[str, ...] | list[str] | None) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text or ("",))


def _parts(text: str) -> list[str]:
    return sorted(PLACEHOLDER.findall(text))


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_catalogue_that_was_collected_is_read_again(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / language).mkdir()
    made = deepcopy(template())
    for text in made:
        if text.id:
            text.string = text.id if isinstance(text.id, str) else [f'{text.id[0]}\n"1"\\'] * 2
    content = updated(language, made)
    (tmp_path / language / "messages.po").write_bytes(content)
    monkeypatch.setattr("printreach.languages.catalogues.FOLDER", tmp_path)

    ids = [entry["msgid"] for entry in entries(content.decode())]
    assert ids[0] == ""
    assert sorted(ids[1:]) == sorted(_forms(text.id)[0] for text in made if text.id)
    assert isinstance(catalogue_of.__wrapped__(language), Catalogue)


def test_the_reader_of_catalogues_knows_escapes_contexts_and_forms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fr").mkdir()
    (tmp_path / "fr" / "messages.po").write_text(
        """
msgid ""
msgstr "Language: fr\\n"

#: src/printreach/web/pages.py web/scripts/parts/pages.ts
#: src/printreach/more.py
msgctxt "button"
msgid "Open"
msgstr "Ouvrir"

msgid "Open"
msgstr ""
"Ouv"
"ert"

msgid "a \\"b\\"\\n\\\\"
msgstr "c \\"d\\"\\n\\\\"

msgid "%(num)s day"
msgid_plural "%(num)s days"
msgstr[0] "%(num)s jour"
msgstr[1] "%(num)s jours"

#~ msgid "old"
#~ msgstr "vieux"
"""
    )
    monkeypatch.setattr("printreach.languages.catalogues.FOLDER", tmp_path)

    catalogue = catalogue_of.__wrapped__("fr")

    assert catalogue.texts == {
        "button\x04Open": "Ouvrir",
        "Open": "Ouvert",
        'a "b"\n\\': 'c "d"\n\\',
    }
    assert catalogue.scripts == {"button\x04Open": "Ouvrir"}
    assert catalogue.counted("%(num)s day", 0) == "%(num)s jour"
    assert catalogue.counted("%(num)s day", 2) == "%(num)s jours"
    assert catalogue.counted("%(num)s night", 2) is None
