"""Virtual paths: their root, and checks that they never leave it."""

import re
from dataclasses import dataclass
from urllib.parse import unquote

from printreach.contract.files import FileRoot
from printreach.languages import N_, in_english

MAX_PATH_CHARS = 1024


@dataclass(frozen=True, slots=True)
class VirtualPath:
    """root and the parts below it; no part is empty, `.` or `..`."""

    root: FileRoot
    parts: tuple[str, ...]

    def __str__(self) -> str:
        return "/".join((self.root.value, *self.parts))

    @property
    def inside(self) -> str:
        """Below the root, with `/` between the parts; "" for the root itself."""
        return "/".join(self.parts)


def parse_virtual_path(text: str, roots: tuple[FileRoot, ...]) -> VirtualPath | str:
    """Return the path, or a sentence that says what is wrong with it (751).

    text: percent-encoding undone once. A `/` at the end is forgiven. What still looks encoded is
    a name like any other, but for `.` and `..`, lest a printer's server decode them again.
    """
    if not text:
        return N_("path is missing.")
    if len(text) > MAX_PATH_CHARS:
        return in_english("path is longer than %(most)s characters.", most=MAX_PATH_CHARS)
    if "\\" in text or any(ord(char) < 32 or ord(char) == 127 for char in text):
        return N_("path has a character that no file name here may have.")
    first, *parts = text.removesuffix("/").split("/")
    decoded_again = re.split(r"[/\\]", unquote(text))
    if "" in parts or any(part in (".", "..") for part in decoded_again):
        return N_("path must stay inside its root.")
    for root in roots:
        if first == root.value:
            return VirtualPath(root, tuple(parts))
    known = ", ".join(root.value for root in roots)
    return in_english("path must begin with one of: %(roots)s.", roots=known)
