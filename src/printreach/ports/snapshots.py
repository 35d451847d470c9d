"""Where pictures are stored, and what is recorded of them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from printreach.rules.snapshots import Snapshot


class SnapshotsUnavailable(Exception):
    """The storage did not do what was asked: full, unreachable, or refused."""


class SnapshotStore(Protocol):
    """Pictures by their ids. Each call raises SnapshotsUnavailable."""

    async def put(self, snapshot_id: str, jpeg: bytes) -> None: ...
    async def get(self, snapshot_id: str) -> bytes | None: ...
    async def remove(self, snapshot_ids: Sequence[str]) -> None:
        """Remove these; missing ones are ignored."""
        ...


class SnapshotRecords(Protocol):
    """The records of stored pictures."""

    async def add(self, snapshot: Snapshot) -> None: ...
    async def get(self, snapshot_id: str) -> Snapshot | None: ...
    async def beyond(self, printer_id: str, count: int, size: int) -> list[str]:
        """Return the oldest of a printer's pictures that exceed that number or total size.

        The printer's last picture does not count.
        """
        ...

    async def outdated(self, before: datetime, at_most: int) -> list[str]:
        """Return pictures to delete: those taken before then except last ones, then those without
        account.

        Asked until there are none, each time after the records of the found ones were deleted.
        """
        ...

    async def forget(self, snapshot_ids: Sequence[str]) -> None: ...
    async def last_of(self, printer_id: str) -> Snapshot | None:
        """Return the last picture of a printer."""
        ...

    async def make_last(self, snapshot: Snapshot) -> None:
        """Make that picture, which was added, the printer's last one."""
        ...
