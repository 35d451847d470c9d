"""Where pictures are kept, and what is known of them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from printreach.rules.snapshots import Snapshot


class SnapshotsUnavailable(Exception):
    """The place of the pictures did not do what was asked: full, away, or refused."""


class SnapshotStore(Protocol):
    """Pictures by their ids. Each call raises SnapshotsUnavailable."""

    async def put(self, snapshot_id: str, jpeg: bytes) -> None: ...
    async def get(self, snapshot_id: str) -> bytes | None: ...
    async def remove(self, snapshot_ids: Sequence[str]) -> None:
        """Those that are not there are left out."""
        ...


class SnapshotRecords(Protocol):
    """What is known of the pictures that are kept."""

    async def add(self, snapshot: Snapshot) -> None: ...
    async def get(self, snapshot_id: str) -> Snapshot | None: ...
    async def beyond(self, printer_id: str, count: int, size: int) -> list[str]:
        """Of a printer's pictures those that are more, or larger together, than that; the oldest.

        The last picture of the printer isn't counted.
        """
        ...

    async def outdated(self, before: datetime, at_most: int) -> list[str]:
        """Those taken before then that are no last ones; then all of accounts that are no more.

        Asked until there are none, each time after what was found is forgotten.
        """
        ...

    async def forget(self, snapshot_ids: Sequence[str]) -> None: ...
    async def last_of(self, printer_id: str) -> Snapshot | None:
        """The last picture of a printer."""
        ...

    async def make_last(self, snapshot: Snapshot) -> None:
        """That picture, which was added, is the printer's last one from now on."""
        ...
