"""Which text a sentence in plain English was made of, and with which values.

An agent and the store keep a sentence in English, as programs do. Whoever reads it on a page gets
it in their language, since the sentence is recognised by the text that `N_` was given. A sentence
comes from anywhere: what is done for it is bounded by its length, and a sentence that isn't
recognised stays as it is.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

MAX_CHARS: Final = 1000
"""Of a sentence; longer ones are no sentences of ours."""
_MIN_LETTERS: Final = 7
"""Of a text without its values: one with fewer, such as "%(room)s on %(host)s", fits too much."""
_PLACEHOLDER: Final = re.compile(r"%\((\w+)\)s")
_LETTER: Final = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Template:
    """A text with values. words: what stands before, between and after the values, in order."""

    source: str
    words: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def is_sentence(self) -> bool:
        """Whether it ends as a sentence does, or with another sentence."""
        return self.words[-1].endswith((".", "!", "?")) or self.names[-1] == "sentence"

    def values_in(self, sentence: str) -> dict[str, str] | None:
        """Return the values that a sentence has; None if it is made of another text.

        A value ends where the words after it first stand. So the time is that of reading the
        sentence once, whatever is in it.
        """
        first, *between, last = self.words
        end = len(sentence) - len(last)
        if not (sentence.startswith(first) and sentence.endswith(last)) or end <= len(first):
            return None
        values: dict[str, str] = {}
        start = len(first)
        for name, words in zip(self.names, (*between, ""), strict=True):
            found = sentence.find(words, start + 1, end) if words else end
            if (
                found <= start
                or values.setdefault(name, sentence[start:found]) != (sentence[start:found])
            ):
                return None
            start = found + len(words)
        return values


def templates_of(texts: Iterable[str]) -> tuple[Template, ...]:
    """Return the templates of texts with values, in the order in which they are tried.

    Sentences come before others, and those that begin with a value, which fit whatever precedes
    them, after those that don't; of several the longest is first.
    """
    made = [template for text in texts if (template := _template_of(text)) is not None]
    return tuple(
        sorted(
            made,
            key=lambda one: (
                not one.is_sentence,
                not one.words[0],
                -sum(map(len, one.words)),
                one.source,
            ),
        )
    )


def _template_of(text: str) -> Template | None:
    parts = [part.replace("%%", "%") for part in _PLACEHOLDER.split(text)]
    words, names = tuple(parts[::2]), tuple(parts[1::2])
    is_clear = names and all(words[1:-1]) and len(_LETTER.findall("".join(words))) >= _MIN_LETTERS
    return Template(text, words, names) if is_clear else None


def recognised(
    text: str, templates: tuple[Template, ...], *, is_value: bool = False
) -> tuple[str, Mapping[str, str]] | None:
    """Return what a text was made of, and its values; None for any other text.

    is_value: of another text, as "OctoPrint at 10.0.0.7" is of a longer sentence. Otherwise it
    has to be a whole sentence.
    """
    if len(text) <= MAX_CHARS:
        for template in templates:
            if not (is_value or template.is_sentence):
                break
            values = template.values_in(text)
            if values is not None:
                return template.source, values
    return None
