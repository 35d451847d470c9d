"""Text of callers, printers and agents, as it may stand in a log or on a terminal."""

from typing import Final

LONGEST_LINE: Final = 4000
"""Characters; what is longer is cut."""
_INDENT: Final = "    "


def one_line(text: str) -> str:
    """Return the text without anything that ends a line, moves a cursor or turns letters around."""
    cut = text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}... (cut)"
    return cut if cut.isprintable() else "".join(map(_printable, cut))


def indented(text: str) -> str:
    """Return the same of each of its lines, none of which looks like the beginning of a record."""
    return "\n".join(f"{_INDENT}{one_line(line)}" for line in text.rstrip().split("\n"))


def _printable(char: str) -> str:
    return char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
