"""One line of G-code as a value. What the simulated printer does with it is in program.py."""

import re
from dataclasses import dataclass, field

_COMMENT = re.compile(r"\(([^)]*)\)|;(.*)")
_CODE = re.compile(r"\s*(?:N\d+\s*)?([GMT])\s*(\d{1,5})(?![\d.])", re.IGNORECASE)
_WORD = re.compile(r"([A-Z])\s*([-+]?(?:\d+\.?\d*|\.\d+))?", re.IGNORECASE)

_LARGEST = 1e7
"""A number beyond this is a broken file's, and is read as missing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line. words: the letters after the code with their numbers, None for a bare letter.

    code: such as "G1", leading zeros dropped; "" where the line is empty, a comment or no G-code.
    text: what follows the code, as it stands, for codes that take words instead of numbers.
    """

    code: str = ""
    words: dict[str, float | None] = field(default_factory=dict)
    text: str = ""
    comment: str = ""

    def number(self, letter: str) -> float | None:
        """Return the letter's number; None where it is missing or has none."""
        return self.words.get(letter)


def parse_line(line: str) -> Line:
    """Read one line; what is no G-code becomes a line that does nothing."""
    comment = ""
    found = _COMMENT.search(line)
    if found is not None:
        comment = (found[1] or found[2] or "").strip()
        line = _COMMENT.sub(" ", line)
    code = _CODE.match(line)
    if code is None:
        return Line(comment=comment)
    rest = line[code.end() :].partition("*")[0]  # after the star: a checksum
    return Line(
        code=f"{code[1].upper()}{int(code[2])}",
        words={word[1].upper(): _number(word[2]) for word in _WORD.finditer(rest)},
        text=rest.strip(),
        comment=comment,
    )


def _number(digits: str | None) -> float | None:
    value = float(digits) if digits else None
    return value if value is not None and abs(value) <= _LARGEST else None
