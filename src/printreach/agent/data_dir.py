"""The agent's folder on disk: private to one user, held by one running agent."""

import fcntl
import os
import stat
from pathlib import Path
from types import TracebackType
from typing import Final, Self

LOCK_FILE: Final = "agent.lock"

_GROUP_OR_OTHERS_WRITE: Final = 0o022


class DataDirRefused(Exception):
    """The folder cannot be used as it is; the message is a sentence that says why."""


def prepare(path: Path) -> None:
    """Make the folder, with mode 0700, unless it is there. Raises DataDirRefused.

    An existing folder keeps its mode, since it may be more than ours, unless others could put
    their own key into it.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = path.stat().st_mode
    except OSError as error:
        raise DataDirRefused(
            f"The data directory {path} cannot be made: {_reason(error)}."
        ) from error
    if mode & _GROUP_OR_OTHERS_WRITE:
        raise DataDirRefused(f"Others may write to the data directory {path}: run chmod 700 on it.")


class DataDirLock:
    """Held while an agent runs on the folder. The system releases it with the process."""

    def __init__(self, file: int) -> None:
        self._file = file

    @classmethod
    def take(cls, path: Path) -> "DataDirLock | None":
        """Take the lock, or None when another process has it. Raises DataDirRefused."""
        try:
            file = os.open(path / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise DataDirRefused(
                f"The data directory {path} cannot be written: {_reason(error)}."
            ) from error
        if not _lock(file, fcntl.LOCK_EX):
            os.close(file)
            return None
        return cls(file)

    def release(self) -> None:
        """Release the lock; the file stays, since removing it would let two agents in."""
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def is_locked(path: Path) -> bool:
    """True while an agent runs on the folder. Raises DataDirRefused when that cannot be told.

    Takes the lock for an instant to find out, so an agent that starts just then tries twice.
    """
    try:
        file = os.open(path / LOCK_FILE, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise DataDirRefused(
            f"The data directory {path} cannot be read: {_reason(error)}."
        ) from error
    try:
        return not _lock(file, fcntl.LOCK_SH)
    finally:
        os.close(file)


def read_private(path: Path, *, at_most: int) -> bytes | None:
    """Return a file that only its owner may open, or None when there is none.

    at_most: the longest content that can be meant, in bytes.
    Raises DataDirRefused when others may open it, when it is longer, or not a plain file.
    """
    try:
        # Without waiting: a named pipe in its place would hold the start for ever.
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataDirRefused(f"The file {path} cannot be read: {_reason(error)}.") from error
    with os.fdopen(file, "rb") as opened:
        mode = os.fstat(file).st_mode
        if not stat.S_ISREG(mode):
            raise DataDirRefused(f"{path} is not a plain file.")
        if stat.S_IMODE(mode) & 0o077:
            raise DataDirRefused(f"Others may open the file {path}: run chmod 600 on it.")
        content = opened.read(at_most + 1)
    if len(content) > at_most:
        raise DataDirRefused(f"The file {path} is longer than anything the agent writes there.")
    return content


def write_private(path: Path, content: bytes, *, durable: bool) -> None:
    """Replace a file as a whole, mode 0600: a reader, or a power cut, sees the old or the new.

    durable: also wait until it is on the disk; needless for files that each start writes.
    Raises OSError, and then the old file is as it was.
    """
    draft = path.with_name(f".{path.name}.new")
    # One process writes here, so a draft that is there was left by a crash.
    draft.unlink(missing_ok=True)
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(file, "wb") as opened:
        opened.write(content)
        opened.flush()
        if durable:
            os.fsync(file)
    draft.replace(path)
    if durable:
        _sync_folder(path.parent)


def _sync_folder(path: Path) -> None:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _lock(file: int, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _reason(error: OSError) -> str:
    return (error.strerror or "unknown reason").lower()
