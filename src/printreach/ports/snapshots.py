"""The storage of pictures, and of the videos made of them."""

from collections.abc import Sequence
from typing import Protocol

from printreach.ports import Unavailable


class SnapshotsUnavailable(Unavailable):
    """The storage did not do what was asked: full, unreachable, or refused."""


class SnapshotStore(Protocol):
    """Pictures, or videos, by their ids. Each call raises SnapshotsUnavailable."""

    async def put(self, snapshot_id: str, content: bytes) -> None: ...
    async def get(self, snapshot_id: str) -> bytes | None: ...
    async def remove(self, snapshot_ids: Sequence[str]) -> None:
        """Remove these; missing ones are ignored."""
        ...
