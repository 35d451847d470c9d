"""App names that look the same to a person, and reserved names.

The letters that look alike are those of Unicode Technical Standard 39 which matter for names of
programs: Cyrillic, Greek and Armenian letters and digits that are drawn like Latin ones.
"""

import unicodedata
from typing import Final

_PRODUCT: Final = "printreach"
_ALIKE: Final = {
    ord(letter): same
    for same, letters in {
        "a": "\u0430\u03b1\u0251",
        "b": "\u044c\u0432\u03b2",
        "c": "\u0441\u03f2",
        "d": "\u0501",
        "e": "\u0435\u0454\u03b5",
        "g": "\u0261\u0581",
        "h": "\u04bb\u0570\u043d\u03b7",
        "k": "\u043a\u03ba",
        "l": "1i|!\u0131\u0456\u04cf\u03b9\u0406\u01c0",
        "j": "\u0458\u03f3",
        "m": "\u043c",
        "n": "\u0578\u0572",
        "o": "0\u043e\u03bf\u03c3\u0585",
        "p": "\u0440\u03c1",
        "q": "\u051b",
        "r": "\u0433",
        "s": "5$\u0455",
        "t": "\u0442\u03c4",
        "u": "\u03c5\u057d\u028b",
        "v": "\u03bd\u0475",
        "w": "\u051d\u0461\u03c9\u0561",
        "x": "\u0445\u03c7",
        "y": "\u0443\u04af\u03b3",
        "z": "\u03b6",
    }.items()
    for letter in letters
}
_PAIRS_ALIKE: Final = (("rn", "m"), ("vv", "w"), ("cl", "d"))


def look_of(name: str) -> str:
    """Return a key that is equal for names that look the same to a person; "" for no name.

    Case, accents, spaces, punctuation and letters of other scripts that look alike don't count.
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    look = "".join(letter for letter in plain.translate(_ALIKE) if letter.isalnum())
    for pair, letter in _PAIRS_ALIKE:
        look = look.replace(pair, letter)
    # Names of symbols alone look as they are written.
    return look or name.strip()


def problem_with_chosen_name(name: str) -> str | None:
    """Return a sentence where only an operator may give an app this name."""
    if look_of(_PRODUCT) in look_of(name):
        return "The name of this service can't be part of an app's name. Choose another."
    if len(_scripts(name)) > 1:
        return "This name mixes letters of several scripts, which can look like another's. Use one."
    return None


def _scripts(name: str) -> set[str]:
    """Latin, Cyrillic and so on: the first word of each letter's name in Unicode.

    The scripts of Japanese, which belong together in writing, count as one, and so do Chinese and
    Korean with them.
    """
    first_words = {unicodedata.name(one, "?").split()[0] for one in name if one.isalpha()}
    together = {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "KATAKANA-HIRAGANA"}
    return {"CJK" if word in together else word for word in first_words}
