"""Languages: texts for people, in the language of who reads them.

A text is written in English where it is needed, and marked: `_("Sign in")` in a template or in
Python. The English text is the key of its translation in a catalogue of `printreach.languages`.
Whoever answers a request or writes to an account says in which language: `speaking`.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from printreach.languages.catalogues import COMPLETE, catalogue_of, in_context
from printreach.languages.recognising import recognised

ENGLISH: Final = "en"
NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        ENGLISH: "English",
        **{
            code: name
            for code, name in (
                ("de", "Deutsch"),
                ("es", "Español"),
                ("fr", "Français"),
                ("zh-Hans", "简体中文"),
            )
            if code in COMPLETE
        },
    }
)
"""The languages that are offered, each by its own name. The key is a tag of BCP 47."""


@dataclass(slots=True)
class Reader:
    """The reader of the texts that are made now. language: a key of NAMES."""

    language: str


_READER: ContextVar[Reader | None] = ContextVar("reader", default=None)


def language() -> str:
    """Return the language of the texts that are made now."""
    reader = _READER.get()
    return ENGLISH if reader is None else reader.language


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Make texts within this context in a language; English if the language is not offered."""
    token = _READER.set(Reader(language if language in NAMES else ENGLISH))
    try:
        yield
    finally:
        _READER.reset(token)


def switch_to(language: str) -> None:
    """Go on in another language until the current `speaking` ends, in every task of it.

    A request is answered in the browser's language until it is known whose account it is. A
    language that is not offered, such as "", changes nothing.
    """
    reader = _READER.get()
    if reader is not None and language in NAMES:
        reader.language = language


class Sentence(str):
    """A text in English with values in it, which `translate` can make in another language.

    It is an ordinary string for logs and programs.
    """

    __slots__ = ("number", "plural", "source", "values")

    source: str
    plural: str
    number: int
    values: Mapping[str, object]


def translate(text: str, *, is_value: bool = False) -> str:
    """Return the translation of a text that was marked by `N_`; other texts as they are.

    A sentence with values is recognised where it comes as plain English: from an agent, the store.
    is_value: it stands in another text.
    """
    if language() == ENGLISH:
        return text
    if not isinstance(text, Sentence):
        return _translate_plain(text, is_value=is_value)
    values = {
        name: translate(value, is_value=True)
        if isinstance(value, Sentence) or (name in _TEXTS and isinstance(value, str))
        else value
        for name, value in text.values.items()
    }
    if text.plural:
        return ngettext(
            text.source, text.plural, text.number, **{**values, "num": grouped(text.number)}
        )
    return message(text.source) % values


_TEXTS: Final = frozenset(
    (
        *("action", "answer", "bed", "error", "heater", "hotend", "label", "problem"),
        *("reason", "sentence", "state", "time", "what", "where", "why"),
    )
)
"""The placeholders of values that are texts themselves; others are names, numbers and addresses."""


def _translate_plain(text: str, *, is_value: bool) -> str:
    catalogue = catalogue_of(language())
    if text in catalogue.texts:
        return catalogue.texts[text]
    found = recognised(text, catalogue.templates, is_value=is_value)
    if found is None:
        return message(text)
    source, values = found
    return translate(_sentence(source, "", 0, text, values))


def message(text: str) -> str:
    """Return the translation of a text, with its placeholders."""
    current = language()
    return text if current == ENGLISH else catalogue_of(current).texts.get(text, text)


def script_messages() -> Mapping[str, str]:
    """Return the translations that the scripts of a page need, by their English texts."""
    current = language()
    return {} if current == ENGLISH else catalogue_of(current).scripts


def translate_in_context(context: str, text: str) -> str:
    """Return the translation of a text by its context, with its placeholders."""
    current = language()
    if current == ENGLISH:
        return text
    return catalogue_of(current).texts.get(in_context(context, text), text)


def translate_counted(singular: str, plural: str, count: int) -> str:
    """Return the form of a text that fits a number, with its placeholders."""
    current = language()
    if current != ENGLISH:
        found = catalogue_of(current).counted(singular, count)
        if found is not None:
            return found
    return singular if count == 1 else plural


def _(text: str, **values: object) -> str:
    """Translate a text, which has to stand in the call itself.

    values: of its placeholders, such as `%(name)s`. A percent sign is written as `%%`.
    """
    return message(text) % values


def pgettext(context: str, text: str, **values: object) -> str:
    """Translate a text that means two things in English. context: where it stands, for translators.

    `pgettext("button", "Open")` is another text than `_("Open")`.
    """
    return translate_in_context(context, text) % values


def ngettext(singular: str, plural: str, count: int, **values: object) -> str:
    """Translate a text with a number in it: `ngettext("%(num)s day", "%(num)s days", count)`.

    `%(num)s` is the number as the language writes it.
    """
    values.setdefault("num", grouped(count))
    return translate_counted(singular, plural, count) % values


def N_(text: str, **values: object) -> str:  # noqa: N802 - gettext's own name
    """Mark a text that is English here, and that `translate` is given where it is shown.

    With values it is one with placeholders: see `_`. Values that are marked are translated, too.
    """
    return _sentence(text, "", 0, text % values, values) if values else text


def in_english(text: str, **values: object) -> str:
    """Mark a text that goes to programs, to other machines or into the store, in English.

    Whoever shows it gives it to `translate`, which recognises it. Values that are such texts
    themselves have the name of a placeholder in _TEXTS.
    """
    return text % values


def N_ngettext(singular: str, plural: str, count: int, **values: object) -> str:  # noqa: N802
    """Mark a text with a number in it: see `N_` and `ngettext`."""
    values.setdefault("num", f"{count:,}")
    english = (singular if count == 1 else plural) % values
    return _sentence(singular, plural, count, english, values)


def _sentence(
    source: str, plural: str, count: int, english: str, values: Mapping[str, object]
) -> Sentence:
    made = Sentence(english)
    made.source, made.plural, made.number, made.values = source, plural, count, values
    return made


def grouped(number: int) -> str:
    """Format a whole number: "1,204" in English, "1.204" in German."""
    return punctuated(f"{number:,}")


def punctuated(number: str) -> str:
    """Write a number that is written in English, such as "1,204.50", as the language does."""
    current = language()
    if current == ENGLISH:
        return number
    from printreach.languages.formats import decimal_in  # loads Babel

    return decimal_in(number, current)


def negotiate(accept_language: str) -> str:
    """Choose the language of a browser: RFC 9110, 12.5.4, and the lookup of RFC 4647, 3.4.

    accept_language: the field's value, whatever a stranger put there.
    """
    wanted = sorted(
        (
            (-quality, place, tag)
            for place, (tag, quality) in enumerate(_parse(accept_language[:_LONGEST_FIELD]))
            if quality > 0
        ),
    )
    for _quality, _place, tag in wanted:
        if tag == "*":
            break
        found = _look_up(tag)
        if found is not None:
            return found
    return ENGLISH


_LONGEST_FIELD: Final = 1000
_SIMPLIFIED_CHINESE: Final = "zh-Hans"
_SIMPLIFIED_TAGS: Final = frozenset({"zh", "zh-cn", "zh-sg"})
_OTHER_SCRIPT: Final = frozenset({"zh-hant", "zh-tw", "zh-hk", "zh-mo"})
"""Not understood by everybody who reads the simplified script."""


def _parse(field: str) -> Iterator[tuple[str, float]]:
    for part in field.split(","):
        tag, _semicolon, parameter = part.partition(";")
        name, _equals, value = parameter.partition("=")
        quality = 1.0
        if name.strip().lower() == "q":
            try:
                quality = float(value)
            except ValueError:
                continue
        if tag.strip():
            yield tag.strip().lower(), quality


def _look_up(tag: str) -> str | None:
    by_tag = {name.lower(): name for name in NAMES}
    while tag and tag not in _OTHER_SCRIPT:
        if tag in by_tag:
            return by_tag[tag]
        if tag in _SIMPLIFIED_TAGS and _SIMPLIFIED_CHINESE in NAMES:
            return _SIMPLIFIED_CHINESE
        tag = tag.rpartition("-")[0]
    return None
