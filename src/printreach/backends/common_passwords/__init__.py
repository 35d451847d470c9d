"""Passwords that so many people have that they are guessed first.

The list is the one of zxcvbn, MIT licence; LICENSE.txt beside it says more.
"""

import gzip
from functools import cache
from importlib.resources import files


def is_common(password: str) -> bool:
    """Return whether the list has it. password: in lower case, 8 characters or more."""
    return password in _passwords()


@cache
def _passwords() -> frozenset[str]:
    packed = (files(__package__) / "passwords.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode().splitlines())
