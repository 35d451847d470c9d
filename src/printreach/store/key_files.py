"""Key files in the data directory: written once, as a whole or not at all, and never replaced."""

import os
from pathlib import Path


class KeyFileRefused(Exception):
    """A key file cannot be used; the message is a sentence."""


def write_once(path: Path, content: bytes) -> None:
    """Write a draft beside its place, then link it there; an existing file stays."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            return
        flush_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def flush_folder(folder: Path) -> None:
    """Wait until the names of a folder's files survive a loss of power."""
    directory = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
