"""Finds text for people in a template that is not marked for translation."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Final

from jinja2 import Environment, nodes

_MARKED: Final = re.compile(r"\{%-?\s*trans\b.*?\{%-?\s*endtrans\s*-?%\}", re.DOTALL)
_JINJA: Final = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_WORD: Final = re.compile(r"[A-Za-z]{2,}")
_READ: Final = frozenset({"aria-label", "aria-description", "alt", "placeholder", "title"})
"""The attributes that people read or hear."""
_ATTRIBUTES: Final = re.compile(r'[\w-]+="[^"]*"')
"""Of a macro that makes attributes alone."""
_NOT_READ: Final = frozenset({"code", "pre", "script", "style", "svg", "kbd"})
_NAMES: Final = frozenset(
    {"Printreach", "OctoPrint", "Klipper", "Docker", "EUR", "Home Assistant", "Stripe", "JSON"}
)
_SENTENCE: Final = re.compile(r"[A-Z][a-z-]+|\w+( [\w\u2019,.()%-]+)+[.?!\u2026:]")
"""A string that begins with a capital and a small letter, or ends as a sentence does."""
_MARKERS: Final = frozenset({"_", "gettext", "ngettext", "pgettext"})
_ENVIRONMENT: Final = Environment(autoescape=True, extensions=["jinja2.ext.i18n"])


def unmarked_texts(source: str) -> list[str]:
    """Return the texts of a template that no catalogue can translate."""
    reader = _Reader()
    reader.feed(_JINJA.sub("", _MARKED.sub("", source)))
    reader.close()
    return [*reader.found, *_unmarked_strings(source)]


def texts_made_once(source: str) -> list[str]:
    """Return the names that a template sets to a marked text outside of macros and blocks.

    Where others import it, that happens once, in the language of the first reader.
    """
    module = _ENVIRONMENT.parse(source)
    return [
        str(node.target.name)
        for node in module.body
        if isinstance(node, nodes.Assign)
        and isinstance(node.target, nodes.Name)
        and any(_is_marker(call) for call in node.node.find_all(nodes.Call))
    ]


class _Reader(HTMLParser):
    """Collects what people read of HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._not_read = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._not_read += tag in _NOT_READ
        self._note(*(value or "" for name, value in attrs if name in _READ))

    def handle_endtag(self, tag: str) -> None:
        self._not_read -= tag in _NOT_READ and self._not_read > 0

    def handle_data(self, data: str) -> None:
        if not self._not_read:
            self._note(_ATTRIBUTES.sub("", data))

    def _note(self, *texts: str) -> None:
        for text in texts:
            if _WORD.search(_without_names(text)):
                self.found.append(" ".join(text.split()))


def _unmarked_strings(source: str) -> Iterator[str]:
    """The strings in expressions that look like sentences or labels."""
    module = _ENVIRONMENT.parse(source)
    marked = {
        id(constant)
        for call in module.find_all(nodes.Call)
        if _is_marker(call)
        for constant in call.find_all(nodes.Const)
    }
    compared = {
        id(constant)
        for kind in (nodes.Compare, nodes.Getitem)
        for found in module.find_all(kind)
        for constant in found.find_all(nodes.Const)
        if isinstance(constant.value, str) and " " not in constant.value
    }
    for constant in module.find_all(nodes.Const):
        text = constant.value
        if not isinstance(text, str) or id(constant) in marked | compared:
            continue
        if _SENTENCE.match(text) and _WORD.search(_without_names(text)):
            yield text


def _is_marker(call: nodes.Call) -> bool:
    return isinstance(call.node, nodes.Name) and call.node.name in _MARKERS


def _without_names(text: str) -> str:
    for name in _NAMES:
        text = text.replace(name, "")
    return text
