"""The permissions of a connection: the four words that both ends of a tunnel use."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final


class Permission(StrEnum):
    """One permission that the owner of a printer grants a connection, or doesn't."""

    CONTROL = "control"
    """Orders of the command API: start, pause and stop prints, heat, move, lights."""
    FILES = "files"
    """List, read, upload and delete files by the command API."""
    CAMERA = "camera"
    """Pictures and streams of webcams by the command API, and pictures in events."""
    INTERFACE = "interface"
    """The printer's own web server and broker. They offer all that the printer's page can do."""


ALL_PERMISSIONS: Final = frozenset(Permission)


def format_permissions(permissions: Iterable[Permission]) -> str:
    """Return the words with commas between them, always in the same order."""
    chosen = set(permissions)
    return ",".join(permission.value for permission in Permission if permission in chosen)


def parse_permissions(text: str) -> frozenset[Permission]:
    """Parse the words of format_permissions. Blanks around words are ignored; "" is none.

    Raises ValueError, with a sentence that names the word that is none.
    """
    words = [word.strip() for word in text.split(",")]
    if words == [""]:
        return frozenset()
    for word in words:
        if word not in list(Permission):
            known = ", ".join(Permission)
            raise ValueError(f"There is no permission {word!r}; there are {known}.")
    return frozenset(map(Permission, words))
