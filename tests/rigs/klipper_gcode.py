"""Lines of G-code as Klipper reads them."""

import shlex
from pathlib import Path

Params = dict[str, str]


class GcodeRefused(Exception):
    """Klipper's answer to G-code that it doesn't carry out."""


def extended(rest: str) -> Params:
    """NAME=value pairs, quoted as in a shell."""
    try:
        words = shlex.split(rest, comments=True)
        return {name.upper(): value for name, value in (word.split("=", 1) for word in words)}
    except ValueError:
        raise GcodeRefused(f"Malformed command '{rest}'") from None


def lines_from(path: Path, start: int) -> list[bytes]:
    return path.read_bytes()[start:].splitlines(keepends=True)
