"""A text in the language of who reads it."""

import pytest
from jinja2 import Environment

from printreach.contract.status import Temps
from printreach.languages import (
    N_,
    N_ngettext,
    _,
    language,
    negotiate,
    ngettext,
    pgettext,
    speaking,
    switch_to,
    translate,
)
from printreach.rules.prints import smart_pause_sentence
from printreach.web.templating import speak_the_readers_language
from printreach.web.wording import typeset


@pytest.mark.parametrize(
    ("field", "chosen"),
    [
        ("", "en"),
        ("de", "de"),
        ("de-AT, en;q=0.9", "de"),
        ("en, de;q=0.9", "en"),
        ("en;q=0.5, de", "de"),
        ("pt-BR, de;q=0.1", "de"),
        ("de;q=0", "en"),
        ("*", "en"),
        ("zh-CN,zh;q=0.9", "zh-Hans"),
        ("zh-Hans-SG", "zh-Hans"),
        ("zh-TW, en;q=0.5", "en"),
        ("zh-TW, zh;q=0.9, en;q=0.5", "zh-Hans"),
        (";;q=, de;q=much, =,,-", "en"),
        ("x" * 100_000, "en"),
    ],
)
def test_a_browser_gets_the_offered_language_that_it_wants_most(
    field: str, chosen: str, brackets: str
) -> None:
    assert negotiate(field) == chosen


def test_texts_are_english_where_nobody_says_otherwise() -> None:
    assert (language(), _("Sign in")) == ("en", "Sign in")


def test_a_text_is_in_the_language_of_its_context(brackets: str) -> None:
    with speaking(brackets):
        assert _("Sign in") == "⟦Sign in⟧"
    assert _("Sign in") == "Sign in"


def test_a_language_that_is_not_offered_is_english(brackets: str) -> None:
    with speaking("tlh"):
        assert language() == "en"


def test_the_language_of_the_account_takes_over(brackets: str) -> None:
    with speaking("en"):
        switch_to("")
        assert language() == "en"
        switch_to("de")
        assert language() == "de"


def test_values_are_put_into_the_translation(brackets: str) -> None:
    with speaking(brackets):
        assert _("Add %(what)s", what="it") == "⟦Add it⟧"
        assert pgettext("button", "Open") == "⟦Open⟧"
        assert ngettext("%(num)s day", "%(num)s days", 1204) == "⟦1.204 day⟧"


def test_numbers_are_grouped_in_english() -> None:
    assert ngettext("%(num)s call", "%(num)s calls", 1204) == "1,204 calls"


def test_a_marked_sentence_is_english_for_programs_and_translated_for_people(brackets: str) -> None:
    wait = N_ngettext("%(num)s minute", "%(num)s minutes", 3)
    sentence = N_("Wait %(time)s.", time=wait)

    assert sentence == "Wait 3 minutes."
    assert translate(sentence) == "Wait 3 minutes."
    with speaking(brackets):
        assert translate(sentence) == "⟦Wait ⟦3 minute⟧.⟧"
        assert typeset(N_("It isn't there.")) == "⟦It isn\u2019t there.⟧"


def test_a_name_in_a_sentence_is_not_translated(brackets: str) -> None:
    """People call their printers by words that are texts, too."""
    refused = N_("%(name)s gave no answer: %(why)s", name="Bed", why="It's off, 100%%.")

    with speaking(brackets):
        assert translate(refused) == "⟦Bed gave no answer: ⟦It's off, 100%%.⟧⟧"


def test_a_smart_pause_says_in_the_readers_language_what_is_off(brackets: str) -> None:
    with speaking(brackets):
        said = translate(smart_pause_sentence(Temps()))

    assert said.startswith("⟦The hotend ⟦is off⟧ and the bed ⟦is off⟧.")


def _rendered(source: str, **values: object) -> str:
    environment = Environment(autoescape=True, extensions=["jinja2.ext.i18n"])
    speak_the_readers_language(environment)
    return environment.from_string(source).render(values)


@pytest.mark.parametrize(
    "source",
    [
        "{% trans name %}<b>Hello</b> {{ name }}{% endtrans %}",
        '{{ _("<b>Hello</b> %(name)s", name=name) }}',
        '{{ ngettext("<b>Hello</b> %(name)s", "%(num)s", 1, name=name) }}',
    ],
)
@pytest.mark.parametrize("speaks", ["en", "de"])
def test_the_values_in_a_text_with_markup_are_escaped(
    source: str, speaks: str, brackets: str
) -> None:
    with speaking(speaks):
        made = _rendered(source, name="<script>alert(1)</script> %(name)s %s")

    hostile = "&lt;script&gt;alert(1)&lt;/script&gt; %(name)s %s"
    assert made.strip("⟦⟧") == f"<b>Hello</b> {hostile}"


def test_a_block_of_a_template_is_one_line_for_translators(brackets: str) -> None:
    with speaking(brackets):
        made = _rendered("{% trans %}\n  A long\n  sentence, 100% of it.\n{% endtrans %}")

    assert made == "⟦A long sentence, 100% of it.⟧"
