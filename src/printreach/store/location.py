"""Where the database is."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class PostgresqlLocation:
    """A PostgreSQL database.

    url: as libpq takes it. data_dir: of the keys, which it does not hold.
    """

    url: str = field(repr=False)
    data_dir: Path

    def __str__(self) -> str:
        """Name it without its password."""
        parts = urlsplit(self.url)
        return f"{parts.path.removeprefix('/')} at {parts.hostname or 'a socket of this machine'}"


UNFINISHED_RESTORE: Final = "restoring-unfinished"
"""A folder in the data directory while a restore moves files there. A database or keys made then
would be those of a new service."""

DatabaseLocation: TypeAlias = Path | PostgresqlLocation
"""Of an SQLite database, its file; the keys are beside it."""


def data_dir_of(location: DatabaseLocation) -> Path:
    """Return the folder of the keys."""
    return location.parent if isinstance(location, Path) else location.data_dir
