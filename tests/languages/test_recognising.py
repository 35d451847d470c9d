"""Sentences that come as plain English are shown in the reader's language, with their values."""

import re
import time

import pytest

from printreach.contract import codec
from printreach.contract.status import State
from printreach.languages import in_english, speaking, translate
from printreach.languages.catalogues import COMPLETE, FOLDER, KEPT_IN_ENGLISH, catalogue_of, entries
from printreach.languages.recognising import MAX_CHARS, recognised, templates_of
from printreach.printers.connecting import unreachable
from printreach.rules.printers.commands import Action, state_problem

PLACEHOLDER = re.compile(r"%\((\w+)\)s")
TEMPLATES = catalogue_of("de").templates


def kept_in_english() -> list[str]:
    catalogue = (FOLDER / "de" / "messages.po").read_text(encoding="utf-8")
    return [one["msgid"] for one in entries(catalogue) if KEPT_IN_ENGLISH in one.get("flags", "")]


def samples() -> list[tuple[str, dict[str, str], str]]:
    """Each text that is recognised, with values, and the sentence that these make."""
    made = []
    for template in TEMPLATES:
        values = {name: f"<{name} 7 %(x)s %s>" for name in template.names}
        made.append((template.source, values, template.source % values))
    return made


def test_what_an_agent_says_comes_as_plain_text() -> None:
    refused = unreachable(in_english("OctoPrint at %(host)s", host="a.local"), "Connection refused")

    assert type(refused.sentence) is str
    assert refused.sentence == "OctoPrint at a.local can't be reached: Connection refused."
    assert codec.encode({"Error": refused.sentence})


@pytest.mark.parametrize(
    ("english", "german"),
    [
        (
            "Only a running print can be paused; the printer is idle.",
            "Nur ein laufender Druck lässt sich pausieren; der Drucker ist bereit.",
        ),
        (
            "OctoPrint at a.local can't be reached: Connection refused.",
            "OctoPrint unter a.local ist nicht erreichbar: Verbindung abgelehnt.",
        ),
        ("There is no file 'Camera'.", "Die Datei 'Camera' gibt es nicht."),
        (
            "The print was lost. The printer at 10.0.0.7 can't be reached: there is no connection.",
            "Der Druck ging verloren. Der Drucker unter 10.0.0.7 ist nicht erreichbar: "
            "Es besteht keine Verbindung.",
        ),
        ("OctoPrint at home is tired", "OctoPrint at home is tired"),
        ("MCU 'mcu' shutdown: Timer too close", "MCU 'mcu' shutdown: Timer too close"),
    ],
)
def test_a_sentence_is_translated_with_its_values(english: str, german: str) -> None:
    with speaking("de"):
        assert translate(english) == german
    assert translate(english) == english


@pytest.mark.parametrize("language", COMPLETE)
def test_every_text_that_is_kept_in_english_is_recognised_with_its_values(language: str) -> None:
    for source, values, sentence in samples():
        assert recognised(sentence, TEMPLATES, is_value=True) == (source, values)
        with speaking(language):
            shown = translate(sentence, is_value=True)
        assert all(value in shown for value in values.values())
        assert shown == catalogue_of(language).texts[source] % values


def test_only_labels_with_little_text_of_their_own_are_not_recognised() -> None:
    recognisable = {template.source for template in TEMPLATES}
    letters = {
        text: len(re.findall(r"[^\W\d_]", PLACEHOLDER.sub("", text)))
        for text in kept_in_english()
        if text not in recognisable
    }

    assert all(count < 7 for count in letters.values()), letters


def test_every_refusal_of_a_state_is_translated() -> None:
    said = {
        problem
        for action in Action
        for state in State
        if (problem := state_problem(action, state)) is not None
    }

    with speaking("de"):
        shown = {translate(sentence) for sentence in said}
    assert len(shown) == len(said) > 20
    assert not any(re.search(r"\b(the|is|print)\b", sentence) for sentence in shown)


def test_a_longer_text_than_any_sentence_of_ours_is_left_alone() -> None:
    sentence = "There is no file " + "x" * MAX_CHARS + "."

    assert recognised(sentence, TEMPLATES) is None


@pytest.mark.parametrize("part", [" can't be reached: ", ": ", "The printer refused: ", "%(why)s"])
def test_a_hostile_text_takes_no_longer_than_another(part: str) -> None:
    hostile = (part * MAX_CHARS)[:MAX_CHARS]
    started = time.perf_counter()

    with speaking("de"):
        for _ in range(20):
            translate(hostile)

    assert time.perf_counter() - started < 2.0


def test_a_text_fits_only_as_a_whole() -> None:
    templates = templates_of(["The print %(name)s has ended.", "%(where)s refuses %(what)s here."])

    assert recognised("The print a has ended.", templates) == (
        "The print %(name)s has ended.",
        {"name": "a"},
    )
    for sentence in ("The print  has ended", "The print has ended.", "A print a has ended.", ""):
        assert recognised(sentence, templates) is None


def test_a_value_that_stands_twice_is_the_same_each_time() -> None:
    templates = templates_of(["It is at %(host)s, so allow %(host)s there."])

    assert recognised("It is at a, so allow a there.", templates) is not None
    assert recognised("It is at a, so allow b there.", templates) is None


def test_a_value_is_never_taken_for_a_placeholder() -> None:
    with speaking("de"):
        shown = translate("There is no file '%(path)s %s %%'.")

    assert shown == "Die Datei '%(path)s %s %%' gibt es nicht."
