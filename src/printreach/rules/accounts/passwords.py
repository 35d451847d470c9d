"""The rules for passwords.

NIST SP 800-63B, 5.1.1.2: a minimum length, and no password that is on a list of common ones or made
of what an attacker knows anyway; no rules about its characters.
"""

from collections.abc import Callable
from typing import Final

from printreach.languages import N_

MIN_PASSWORD_LENGTH: Final = 8
MAX_PASSWORD_LENGTH: Final = 1024
"""Bounds only the work that one sign-in can cause."""
_FEWEST_DIFFERENT: Final = 4
"""The fewest different characters."""
_MAX_ADDED: Final = 4
"""Up to this many characters added to something easy to guess leave it easy to guess."""
_SHORTEST_NAME: Final = 4
"""A shorter part of an address may be in a password by chance."""
_PRODUCT: Final = "printreach"

IsCommon = Callable[[str], bool]
"""Whether a list of common passwords has one; it is given in lower case."""


def problem_with_password(password: str, email: str, is_common: IsCommon) -> str | None:
    """Return a sentence where this is no valid password. email: of its account."""
    if len(password) < MIN_PASSWORD_LENGTH:
        return N_(
            "A password has at least %(min_password_length)s characters.",
            min_password_length=MIN_PASSWORD_LENGTH,
        )
    if len(password) > MAX_PASSWORD_LENGTH:
        return N_(
            "A password has at most %(max_password_length)s characters.",
            max_password_length=MAX_PASSWORD_LENGTH,
        )
    typed = password.casefold()
    if len(set(typed)) < _FEWEST_DIFFERENT:
        return N_("This password repeats the same few characters. Choose another.")
    if any(is_common(variant) for variant in _without_ending(typed)):
        return N_(
            "This password is one of the most common ones, which are guessed first. Choose "
            "another: a few words are easy to remember and hard to guess."
        )
    if _is_made_of(typed, _names_in(email)):
        return N_("This password is little more than the e-mail address. Choose another.")
    if _is_made_of(typed, [_PRODUCT]):
        return N_("This password is little more than the name of this service. Choose another.")
    return None


def _without_ending(typed: str) -> list[str]:
    """Return the password, and its beginning without a few digits and marks at its end."""
    variants = [typed]
    while len(variants) <= _MAX_ADDED and not variants[-1][-1].isalpha():
        shorter = variants[-1][:-1]
        if len(shorter) < MIN_PASSWORD_LENGTH:
            break
        variants.append(shorter)
    return variants


def _names_in(email: str) -> list[str]:
    """Return the address and its two halves, the longest first."""
    address = email.casefold().strip()
    name, _, host = address.rpartition("@")
    return [part for part in (address, name, host) if len(part) >= _SHORTEST_NAME]


def _is_made_of(typed: str, names: list[str]) -> bool:
    """Whether hardly anything is left once these names are taken out."""
    rest = typed
    for name in names:
        rest = rest.replace(name, "")
    return rest != typed and len(rest) <= _MAX_ADDED
