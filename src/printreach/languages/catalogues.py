"""The catalogues: files in the format of gettext, one folder for each language.

They are read as they are kept in git, each when its language is first asked for. So nothing has to
be compiled before a changed text is seen, and a service that speaks English reads none of them.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from printreach.languages.recognising import Template, templates_of

FOLDER: Final = Path(__file__).parent
COMPLETE: Final[tuple[str, ...]] = ("de", "es", "fr", "zh-Hans")
"""The languages that every text is translated into; no others are offered."""

_FORM_OF: Final[Mapping[str, Callable[[int], int]]] = MappingProxyType(
    {
        "de": lambda count: int(count != 1),
        "es": lambda count: int(count != 1),
        "fr": lambda count: int(count > 1),
        "zh-Hans": lambda _count: 0,
    }
)
"""The form of a text that fits a number; the heads of the files say the same to translators."""
_KEYWORD: Final = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[(\d)\])?)\s+(?=")')
FILES: Final = "files"
FLAGS: Final = "flags"
KEPT_IN_ENGLISH: Final = "kept-in-english"
"""The flag of a text that `N_` marks: its sentences come back in English, and are recognised."""
_COMMENTS: Final[Mapping[str, str]] = MappingProxyType({"#: ": FILES, "#, ": FLAGS})
_SCRIPTS: Final = "web/scripts/"
_ESCAPED: Final = re.compile(r"\\(.)")
_ESCAPES: Final[Mapping[str, str]] = MappingProxyType({"n": "\n", "t": "\t", "r": "\r"})


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The texts of a language by their English. forms: of texts with a number, by the singular.

    scripts: the texts that scripts of pages use, too. templates: of the sentences that are kept in
    English, the same for each language.
    """

    texts: Mapping[str, str]
    scripts: Mapping[str, str]
    forms: Mapping[str, tuple[str, ...]]
    form_of: Callable[[int], int]
    templates: tuple[Template, ...] = ()

    def counted(self, singular: str, count: int) -> str | None:
        """Return the form that fits; None if the text is in no catalogue."""
        forms = self.forms.get(singular)
        return None if forms is None else forms[self.form_of(count)]


@cache
def catalogue_of(language: str) -> Catalogue:
    """Return the catalogue of a language that is offered. It is read once."""
    texts: dict[str, str] = {}
    scripts: dict[str, str] = {}
    forms: dict[str, tuple[str, ...]] = {}
    kept: list[str] = []
    for entry in entries((FOLDER / language / "messages.po").read_text(encoding="utf-8")):
        if "msgid_plural" in entry:
            found = tuple(value for name, value in entry.items() if name.startswith("msgstr["))
            if all(found):
                forms[entry["msgid"]] = found
        elif entry["msgid"] and entry["msgstr"]:
            text = entry["msgid"]
            key = in_context(entry["msgctxt"], text) if "msgctxt" in entry else text
            texts[key] = entry["msgstr"]
            if _SCRIPTS in entry.get(FILES, ""):
                scripts[key] = entry["msgstr"]
            if KEPT_IN_ENGLISH in entry.get(FLAGS, ""):
                kept.append(text)
    return Catalogue(texts, scripts, forms, _FORM_OF[language], templates_of(kept))


def in_context(context: str, text: str) -> str:
    """Return the key of a text that is translated by its context, as gettext makes it."""
    return f"{context}\x04{text}"


def entries(content: str) -> Iterator[dict[str, str]]:
    """Read the entries of a file, each with the strings of its keywords; the first is the head.

    FILES stands for those that the text is in, FLAGS for its flags. Obsolete entries and other
    comments are left out.
    """
    entry: dict[str, str] = {}
    keyword = ""
    comments: dict[str, str] = {}
    for line in content.splitlines():
        about = _COMMENTS.get(line[:3])
        if about is not None:
            comments[about] = comments.get(about, "") + line[3:]
        if not line or line.startswith("#"):
            continue
        match = _KEYWORD.match(line)
        if match is not None:
            keyword = match[0].rstrip()
            line = line[match.end() :]
            if keyword in ("msgctxt", "msgid") and "msgid" in entry:
                yield entry
                entry = {}
            entry |= comments
            comments = {}
        entry[keyword] = entry.get(keyword, "") + _ESCAPED.sub(_unescaped, line.strip()[1:-1])
    if entry:
        yield entry


def _unescaped(escape: re.Match[str]) -> str:
    return _ESCAPES.get(escape[1], escape[1])
