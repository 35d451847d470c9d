"""Redirect targets: a page sends a person only to another page of this service, or of the printer
that they open.
"""

import re
from typing import Final
from urllib.parse import quote, unquote_plus

HOME: Final = "/"
LONGEST: Final = 2048
FLASH_FIELD: Final = "said"
"""The parameter of an address that names a flash message. Only a form's own redirect has it."""

# Printable ASCII but for the backslash, which browsers take for a slash. A second slash at the
# start would begin a host name.
_OWN_PATH: Final = re.compile(r"/[!-\[\]-~]*")


def parse_own_path(text: str | None) -> str:
    """Return the path with its query, where it is one of ours; else the home page.

    It names no flash message: a link could otherwise have a page say what nobody did.
    """
    if text is None or len(text) > LONGEST or text.startswith("//"):
        return HOME
    return _without_flash(text) if _OWN_PATH.fullmatch(text) else HOME


def parse_printer_path(text: str | None) -> str:
    """Return the path on the printer's own host where it is one; else that of its first page.

    It has no query, since printers act on some: whoever made the link could order something.
    """
    if text is None or len(text) > LONGEST or text.startswith("//") or set("?#") & set(text):
        return HOME
    return text if _OWN_PATH.fullmatch(text) else HOME


def sign_in_path(next_path: str) -> str:
    """Return the sign-in page that leads on to that page."""
    return path_with_next("/signin", next_path)


def code_path(next_path: str) -> str:
    """Return the page that asks for a one-time code and leads on to that page."""
    return path_with_next("/signin/code", next_path)


def path_with_next(path: str, next_path: str) -> str:
    """Return the path of one of our pages that leads on to another."""
    own = parse_own_path(next_path)
    return path if own == HOME else f"{path}?next={quote(own, safe='/')}"


def _without_flash(own_path: str) -> str:
    target, hash_sign, fragment = own_path.partition("#")
    path, _, query = target.partition("?")
    rows = query.split("&")
    others = [row for row in rows if unquote_plus(row.partition("=")[0]) != FLASH_FIELD]
    if len(others) == len(rows):
        return own_path
    return path + ("?" if others else "") + "&".join(others) + hash_sign + fragment
