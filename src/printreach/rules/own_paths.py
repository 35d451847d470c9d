"""Redirect targets: a page sends a person only to another page of this service."""

import re
from typing import Final
from urllib.parse import quote

HOME: Final = "/"
LONGEST: Final = 2048

# Printable ASCII but for the backslash, which browsers take for a slash. A second slash at the
# start would begin a host name.
_OWN_PATH: Final = re.compile(r"/[!-\[\]-~]*")


def parse_own_path(text: str | None) -> str:
    """Return the path with its query, where it is one of ours; else the home page."""
    if text is None or len(text) > LONGEST or text.startswith("//"):
        return HOME
    return text if _OWN_PATH.fullmatch(text) else HOME


def sign_in_path(next_path: str) -> str:
    """Return the sign-in page that leads on to that page."""
    return _with_next("/signin", next_path)


def code_path(next_path: str) -> str:
    """Return the page that asks for a one-time code and leads on to that page."""
    return _with_next("/signin/code", next_path)


def _with_next(path: str, next_path: str) -> str:
    own = parse_own_path(next_path)
    return path if own == HOME else f"{path}?next={quote(own, safe='/')}"
