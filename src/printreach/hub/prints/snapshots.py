"""Snapshots: pictures taken for events, and the last one of each printer; kept for a time."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from printreach.contract.commands import CommandStatus
from printreach.hub.core import Core
from printreach.hub.printers.pictures import take_picture
from printreach.ports.printer_http import PrinterHttp, PrinterRefusal
from printreach.ports.snapshots import SnapshotStore, SnapshotsUnavailable
from printreach.rules.connections.credentials import new_secret
from printreach.rules.printers import OwnedPrinter
from printreach.rules.prints.snapshots import (
    ACCOUNT_CHECKED_APART,
    KEPT_FOR,
    LAST_APART,
    MAX_BYTES_PER_ACCOUNT,
    MAX_BYTES_PER_PRINTER,
    MAX_PER_PRINTER,
    Snapshot,
    is_snapshot_id,
    may_be_shown,
)
from printreach.store.prints.events import StoredEvent
from printreach.store.store import Records

log = logging.getLogger(__name__)

WITHIN_S: Final = 4.5
"""Of the 5 s that an event waits for its picture; the rest is for storing it."""
NO_CAMERA_FOR: Final = timedelta(minutes=10)
"""After a printer said it has no camera, how long it is not asked for pictures."""
FORGOTTEN_AT_ONCE: Final = 200
MAX_REMEMBERED: Final = 10_000


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """A picture with when it was taken."""

    jpeg: bytes
    taken_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshots:
    """The use cases about stored pictures."""

    core: Core
    kept: SnapshotStore
    http: PrinterHttp
    _without_camera: dict[str, datetime] = field(default_factory=dict)
    _noted: dict[str, datetime] = field(default_factory=dict)
    _checked: dict[str, datetime] = field(default_factory=dict)

    async def take(self, stored: StoredEvent) -> str | None:
        """Take a picture for an event: hub.prints.fanout.TakePicture.

        It becomes the printer's last one, too.
        """
        printer_id, at = stored.printer_id, self.core.clock.now()
        without_since = self._without_camera.get(printer_id)
        if without_since is not None and abs(at - without_since) < NO_CAMERA_FOR:
            return None
        printer = await self.core.store.read(lambda records: records.printers.linked(printer_id))
        if printer is None or printer.account_id != stored.account_id:
            # the printer went to another owner, and the event belongs to the former one
            return None
        picture = await take_picture(self.http, printer.owned, WITHIN_S)
        if isinstance(picture, PrinterRefusal):
            if picture.code == CommandStatus.NOT_FOUND:
                _remember(self._without_camera, printer_id, at)
            return None
        return await self._keep(stored.account_id, printer_id, picture, at)

    async def note(self, account_id: str, printer_id: str, jpeg: bytes) -> None:
        """Store a picture that somebody was shown as the last one, at most once in a few minutes.

        A failure to store it is logged and otherwise ignored.
        """
        at = self.core.clock.now()
        if abs(at - self._noted.get(printer_id, at - LAST_APART)) < LAST_APART:
            return
        _remember(self._noted, printer_id, at)
        try:
            await self._keep(account_id, printer_id, jpeg, at)
        except Exception:
            log.exception("the last picture of printer %s was not kept", printer_id)

    async def keep(
        self, account_id: str, printer_id: str, jpeg: bytes, *, is_last: bool = True
    ) -> str:
        """Store a picture that was taken for something else; return its id.

        is_last: it becomes the printer's last one, too.
        """
        return await self._keep(
            account_id, printer_id, jpeg, self.core.clock.now(), is_last=is_last
        )

    async def drop(self, printer_id: str, snapshot_ids: Sequence[str]) -> None:
        """Delete pictures before their time is over, except the printer's last one."""
        last = await self.core.store.read(lambda records: records.snapshots.last_of(printer_id))
        spare = [
            snapshot_id
            for snapshot_id in snapshot_ids
            if last is None or snapshot_id != last.snapshot_id
        ]
        if spare:
            await self._remove(spare)

    async def public(self, snapshot_id: str) -> bytes | None:
        """Return the picture at a public address; None once its time is over."""
        if not is_snapshot_id(snapshot_id):
            return None
        known = await self.core.store.read(lambda records: _of_unblocked(records, snapshot_id))
        if known is None or not may_be_shown(known, self.core.clock.now()):
            return None
        return await self.kept.get(snapshot_id)

    async def printer_of(self, snapshot_id: str) -> OwnedPrinter | None:
        """Return the printer of a picture, as that of the account to which it was told."""
        found = await self.core.store.read(lambda records: records.snapshots.get(snapshot_id))
        return None if found is None else OwnedPrinter(found.printer_id, found.account_id)

    async def last(self, account_id: str, printer_id: str) -> StoredPicture | None:
        """Return the last picture of a printer of the account, however old."""
        last = await self.core.store.read(lambda records: records.snapshots.last_of(printer_id))
        # What a printer showed its former owner is not shown to this one.
        known = last if last is not None and last.account_id == account_id else None
        jpeg = None if known is None else await self.kept.get(known.snapshot_id)
        return None if known is None or jpeg is None else StoredPicture(jpeg, known.taken_at)

    async def forget_old(self) -> None:
        """Delete pictures whose time is over. One pass of the worker.

        Raises StoreUnavailable and SnapshotsUnavailable.
        """
        before = self.core.clock.now() - KEPT_FOR
        while old := await self.core.store.read(
            lambda records: records.snapshots.outdated(before, FORGOTTEN_AT_ONCE)
        ):
            await self._remove(old)

    async def forget_nobodys(self) -> None:
        """Delete pictures of deleted accounts. One pass of the worker.

        Raises StoreUnavailable and SnapshotsUnavailable.
        """
        while nobodys := await self.core.store.read(
            lambda records: records.snapshots.nobodys(FORGOTTEN_AT_ONCE)
        ):
            await self._remove(nobodys)

    # --- helpers ----------------------------------------------------------------------------------

    async def _keep(
        self, account_id: str, printer_id: str, jpeg: bytes, at: datetime, *, is_last: bool = True
    ) -> str:
        snapshot_id = new_secret(self.core.token_bytes)
        snapshot = Snapshot(
            snapshot_id=snapshot_id,
            account_id=account_id,
            printer_id=printer_id,
            taken_at=at,
            size=len(jpeg),
        )
        # The row comes first: a picture without a row would be kept for ever.
        # A picture is on its own: what others store meanwhile, also of the same printer, changes
        # nothing, and pictures of an account that is deleted meanwhile are nobody's.
        await self.core.store.write(
            lambda records: records.snapshots.add(snapshot), may_overlap=True
        )
        try:
            await self.kept.put(snapshot.snapshot_id, jpeg)
        except SnapshotsUnavailable:
            # Sizes of pictures that are nowhere would count.
            await self.core.store.write(lambda records: records.snapshots.forget([snapshot_id]))
            raise
        too_many = await self.core.store.write(
            lambda records: _make_room(records, snapshot, is_last=is_last), may_overlap=True
        )
        too_many += await self._beyond_of_account(account_id, at)
        if too_many:
            await self._remove(too_many)
        return snapshot_id

    async def _beyond_of_account(self, account_id: str, at: datetime) -> list[str]:
        """Return the ids of pictures that the account has too many of, at most once a minute."""
        if abs(at - self._checked.get(account_id, at - ACCOUNT_CHECKED_APART)) < (
            ACCOUNT_CHECKED_APART
        ):
            return []
        _remember(self._checked, account_id, at)
        return await self.core.store.read(
            lambda records: records.snapshots.beyond_of_account(account_id, MAX_BYTES_PER_ACCOUNT)
        )

    async def _remove(self, snapshot_ids: Sequence[str]) -> None:
        await self.kept.remove(snapshot_ids)
        await self.core.store.write(lambda records: records.snapshots.forget(snapshot_ids))


async def _of_unblocked(records: Records, snapshot_id: str) -> Snapshot | None:
    snapshot = await records.snapshots.get(snapshot_id)
    account = None if snapshot is None else await records.accounts.get(snapshot.account_id)
    return None if account is None or account.is_blocked else snapshot


async def _make_room(records: Records, snapshot: Snapshot, *, is_last: bool) -> list[str]:
    """Return the ids that have to be deleted for it. is_last: it becomes the printer's last one.

    It is deleted itself if its account was, since its file may have been written after that.
    """
    if await records.accounts.get(snapshot.account_id) is None:
        return [snapshot.snapshot_id]
    printer = await records.printers.linked(snapshot.printer_id)
    if is_last and printer is not None and printer.account_id == snapshot.account_id:
        await records.snapshots.make_last(snapshot)
    return await records.snapshots.beyond(
        snapshot.printer_id, MAX_PER_PRINTER, MAX_BYTES_PER_PRINTER
    )


def _remember(times: dict[str, datetime], key: str, at: datetime) -> None:
    if len(times) >= MAX_REMEMBERED:
        times.clear()
    times[key] = at
