"""Text of callers, printers and agents, made safe for a log, a terminal or a page."""

import re
from typing import Final

LONGEST_LINE: Final = 4000
"""The most characters of a line; longer ones are cut."""
_EMOJI: Final = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u25aa-\u27bf\u2934\u2935"
    "\u2b05-\u2b55\ufe0f\U0001f000-\U0001faff"
)
_JOINED: Final = re.compile(
    f"(?<=[{_EMOJI}])\u200d(?=[{_EMOJI}])"
    "|(?<=\U0001f3f4)[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,8}\U000e007f"
)
"""What is invisible within emoji: the joiner between two, and the region behind a flag."""
_INDENT: Final = "    "


def printable(text: str, instead: str = " ") -> str:
    """Put something else in place of each character that can't be printed, such as controls."""
    return text if text.isprintable() else "".join(c if c.isprintable() else instead for c in text)


def is_printable_name(text: str) -> bool:
    """Return whether a text can be a name: all of it is visible, with emoji that are joined."""
    return _JOINED.sub("", text).isprintable()


def readable(text: str, at_most: int) -> str:
    """Cut a text, and replace lone surrogates and control characters. at_most: characters."""
    return printable(text[:at_most].encode("utf-8", "replace").decode("utf-8")).strip()


def one_line(text: str) -> str:
    """Return the text without anything that ends a line, moves a cursor or turns letters around."""
    cut = text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}... (cut)"
    return cut if cut.isprintable() else "".join(map(_escaped, cut))


def lines(text: str) -> str:
    """Return the same of each of its lines, for a text of our own with others' words in it."""
    return "\n".join(map(one_line, text.split("\n")))


def indented(text: str) -> str:
    """Return the same of each of its lines, none of which looks like the beginning of a record."""
    return "\n".join(f"{_INDENT}{one_line(line)}" for line in text.rstrip().split("\n"))


def _escaped(char: str) -> str:
    return char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
