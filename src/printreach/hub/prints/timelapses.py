"""Timelapses: pictures of a print are collected while it prints, and become a video at its end."""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import ClassVar, Final

from printreach.contract.events import EventType
from printreach.hub.core import Core
from printreach.hub.leased_queue import LeasedQueue
from printreach.hub.printers.live import read_status
from printreach.hub.prints.snapshots import Snapshots
from printreach.ports import Unavailable
from printreach.ports.printer_http import PrinterRefusal
from printreach.ports.snapshots import (
    SnapshotStore,
    SnapshotsUnavailable,
    VideoFailed,
    VideoMaker,
    VideoTooSlow,
)
from printreach.rules.connections.credentials import TokenBytes, new_record_id, new_secret
from printreach.rules.printers import Printer
from printreach.rules.printers.cameras import UNTURNED, Pose, pose_at, with_choices
from printreach.rules.prints.history import concerns_print
from printreach.rules.prints.snapshots import is_snapshot_id
from printreach.rules.prints.timelapse import (
    ABANDONED_AFTER,
    FIRST_GAP_S,
    MAX_BYTES_OF_ACCOUNT,
    MAX_PICTURES,
    PrintKey,
    Timelapse,
    TimelapsePicture,
    dropped,
    is_next,
    is_shown,
    parse_days,
    pictures_a_second,
    shown,
)
from printreach.rules.watch.choices import WatchSettings
from printreach.store.leases import Claim
from printreach.store.prints.events import StoredEvent
from printreach.store.store import Records

log = logging.getLogger(__name__)

MAX_TRIES: Final = 3
FORGOTTEN_AT_ONCE: Final = 100
MAX_REMEMBERED: Final = 1000
"""Accounts whose last turn a worker remembers."""
_ENDED: Final = frozenset({EventType.COMPLETE, EventType.FAILED})


class TimelapseConsumer:
    """A consumer of events: collects their pictures, and has the video made at the end."""

    def __init__(self, token_bytes: TokenBytes) -> None:
        self._token_bytes = token_bytes

    async def consume(self, records: Records, stored: StoredEvent) -> None:
        event, at = stored.event, stored.received_at
        if not concerns_print(event):
            return
        key = PrintKey(
            account_id=stored.account_id, printer_id=stored.printer_id, print_id=event.print_id
        )
        if stored.snapshot_id is not None:
            found = await _of_print(records, key, self._token_bytes)
            if found is not None:
                picture = TimelapsePicture(
                    snapshot_id=stored.snapshot_id, taken_at=at, is_events=True
                )
                await records.timelapses.add(found.timelapse_id, picture)
        if event.event_type in _ENDED:
            await records.timelapses.make_due(key.account_id, key.printer_id, key.print_id, at)


@dataclass(frozen=True, kw_only=True, slots=True)
class PictureCollector:
    """Collects the pictures that failure detection takes anyway."""

    core: Core
    snapshots: Snapshots

    async def add(self, key: PrintKey, jpeg: bytes) -> None:
        """Keep the picture if it is due. A failure is logged and otherwise ignored."""
        at = self.core.clock.now()
        try:
            await self._add(key, jpeg, at)
        except Unavailable as error:
            log.warning(
                "a picture for the timelapse of printer %s was not kept: %s", key.printer_id, error
            )

    async def _add(self, key: PrintKey, jpeg: bytes, at: datetime) -> None:
        known = await self.core.store.read(
            lambda records: records.timelapses.of_print(
                key.account_id, key.printer_id, key.print_id
            )
        )
        if known is not None and not is_next(known, at):
            return
        token_bytes = self.core.token_bytes
        found = known or await self.core.store.write(
            lambda records: _of_print(records, key, token_bytes)
        )
        if found is None or found.made_at is not None:
            return
        snapshot_id = await self.snapshots.keep(key.account_id, key.printer_id, jpeg, is_last=False)
        picture = TimelapsePicture(snapshot_id=snapshot_id, taken_at=at, is_events=False)
        spare = await self.core.store.write(lambda records: _added(records, found, picture))
        if spare:
            await self.snapshots.drop(key.printer_id, spare)


@dataclass(kw_only=True)
class TimelapseMaking(LeasedQueue[Timelapse]):
    """The queue of prints that have ended and whose video is to be made, one at a time.

    Accounts take turns: one whose videos take long delays those of another by one video.
    """

    item_name: ClassVar[str] = "timelapse"
    lease: ClassVar[timedelta] = timedelta(minutes=10)
    at_once: ClassVar[int] = 1
    batch: ClassVar[int] = 1
    stop_within_s: ClassVar[float] = 2.0

    snapshots: Snapshots
    videos: SnapshotStore
    maker: VideoMaker
    _last_turns: dict[str, None] = field(init=False, default_factory=dict)

    def key(self, item: Timelapse) -> str:
        return item.timelapse_id

    async def has_due(self, records: Records, at: datetime) -> bool:
        return await records.timelapses.has_due(at)

    async def claim(self, records: Records, claim: Claim) -> Sequence[Timelapse]:
        return await records.timelapses.claim(claim, list(self._last_turns))

    async def handle(self, item: Timelapse) -> None:
        """Make the video of one print; without enough pictures there is none."""
        self._note_turn(item.account_id)
        collected = await self.core.store.read(
            lambda records: records.timelapses.pictures(item.timelapse_id)
        )
        chosen = shown(collected)
        if not chosen or item.tries > MAX_TRIES:
            await self._give_up(item)
        else:
            try:
                pose = await self._pose(item)
                speed = pictures_a_second(len(chosen))
                video = await self.maker.make(self._jpegs(chosen), speed, pose)
            except VideoFailed as failed:
                log.warning("no timelapse of printer %s: %s", item.printer_id, failed)
                if not isinstance(failed, VideoTooSlow):
                    return  # it is tried again when the lease is over
                await self._give_up(item)
            else:
                await self._keep(item, video)
        await self._drop(item.printer_id, collected)

    async def end_abandoned(self) -> None:
        """End what was abandoned, so that its video is made. Raises StoreUnavailable."""
        at = self.core.clock.now()
        await self.core.store.write(
            lambda records: records.timelapses.make_abandoned_due(at - ABANDONED_AFTER, at)
        )

    async def _pose(self, item: Timelapse) -> Pose:
        """Return how the pictures are turned; they are not if the printer can't be asked."""

        async def read(records: Records) -> tuple[Printer | None, WatchSettings]:
            return (
                await records.printers.linked(item.printer_id),
                await records.watch_settings.get(item.printer_id),
            )

        printer, watch = await self.core.store.read(read)
        if printer is None or printer.account_id != item.account_id:
            return UNTURNED
        answer = await self.snapshots.http.ask(printer.owned, "/status")
        status = answer if isinstance(answer, PrinterRefusal) else read_status(answer)
        if isinstance(status, PrinterRefusal):
            return UNTURNED
        listed = with_choices(status.list_webcams, printer.cameras)
        return pose_at(listed.webcams, watch.camera or listed.default_index)

    async def _jpegs(self, pictures: Sequence[TimelapsePicture]) -> AsyncIterator[bytes]:
        for picture in pictures:
            jpeg = await self.snapshots.kept.get(picture.snapshot_id)
            if jpeg is not None and is_shown(jpeg):
                yield jpeg

    def _note_turn(self, account_id: str) -> None:
        self._last_turns.pop(account_id, None)
        self._last_turns[account_id] = None
        if len(self._last_turns) > MAX_REMEMBERED:
            del self._last_turns[next(iter(self._last_turns))]

    async def _give_up(self, item: Timelapse) -> None:
        # An earlier try may have stored the video before it was stopped.
        await _remove(self.core, self.videos, [item])

    async def _keep(self, item: Timelapse, video: bytes) -> None:
        at, store = self.core.clock.now(), self.core.store
        # The row comes first: a video without a row would be kept for ever.
        video_id = await store.write(
            lambda records: records.timelapses.reserve(
                item.timelapse_id, item.video_id or new_secret(self.core.token_bytes)
            )
        )
        if video_id is None:
            return
        await self.videos.put(video_id, video)

        async def settle(records: Records) -> Sequence[Timelapse]:
            if await records.timelapses.settle(item.timelapse_id, len(video), at):
                return await records.timelapses.beyond(item.account_id, MAX_BYTES_OF_ACCOUNT)
            # Its account was deleted meanwhile, perhaps before the file was there.
            return [replace(item, video_id=video_id)]

        too_many = await store.write(settle)
        if too_many:
            await _remove(self.core, self.videos, too_many)

    async def _drop(self, printer_id: str, collected: Sequence[TimelapsePicture]) -> None:
        own = [one.snapshot_id for one in collected if not one.is_events]
        with suppress(SnapshotsUnavailable):  # they are deleted by their age
            await self.snapshots.drop(printer_id, own)


@dataclass(frozen=True, kw_only=True, slots=True)
class Timelapses:
    """The use cases about timelapses. is_offered: whether the service can make videos."""

    core: Core
    videos: SnapshotStore
    is_offered: bool

    async def of_print(self, key: PrintKey) -> Timelapse | None:
        """Return the timelapse of a print, whose video may not be made yet."""
        return await self.core.store.read(
            lambda records: records.timelapses.of_print(
                key.account_id, key.printer_id, key.print_id
            )
        )

    async def video(self, video_id: str) -> bytes | None:
        """Return the MP4 at a public address; None once it is deleted."""
        if not is_snapshot_id(video_id):
            return None
        known = await self.core.store.read(lambda records: _of_unblocked(records, video_id))
        return None if known is None else await self.videos.get(video_id)

    async def forget_old(self) -> None:
        """Delete videos that were kept long enough. One pass of the worker.

        Raises StoreUnavailable and SnapshotsUnavailable.
        """
        at = self.core.clock.now()
        while old := await self.core.store.read(
            lambda records: records.timelapses.outdated(at, FORGOTTEN_AT_ONCE)
        ):
            await _remove(self.core, self.videos, old)

    async def forget_nobodys(self) -> None:
        """Delete timelapses of deleted accounts. One pass of the worker.

        Raises StoreUnavailable and SnapshotsUnavailable.
        """
        while nobodys := await self.core.store.read(
            lambda records: records.timelapses.nobodys(FORGOTTEN_AT_ONCE)
        ):
            await _remove(self.core, self.videos, nobodys)

    async def delete(self, key: PrintKey) -> None:
        """Delete the video of a print. Raises SnapshotsUnavailable."""
        found = await self.of_print(key)
        if found is not None and found.made_at is not None:
            await _remove(self.core, self.videos, [found])

    async def days_of(self, account_id: str) -> int:
        """Return for how many days the account keeps videos; 0 if it wants none."""
        return await self.core.store.read(lambda records: records.timelapses.days_of(account_id))

    async def choose_days(self, account_id: str, days: str) -> bool:
        """Choose for how many days videos are kept, as typed; False if there is no such choice."""
        chosen = parse_days(days)
        if chosen is None:
            return False
        await self.core.store.write(lambda records: records.timelapses.set_days(account_id, chosen))
        return True


async def _of_print(records: Records, key: PrintKey, token_bytes: TokenBytes) -> Timelapse | None:
    """Return the timelapse of a print, begun if need be; None where its owner wants none."""
    found = await records.timelapses.of_print(key.account_id, key.printer_id, key.print_id)
    if found is not None or await records.timelapses.days_of(key.account_id) == 0:
        return found
    begun = Timelapse(
        timelapse_id=new_record_id(token_bytes),
        account_id=key.account_id,
        printer_id=key.printer_id,
        print_id=key.print_id,
        gap_s=FIRST_GAP_S,
        pictures=0,
        taken_at=None,
        tries=0,
        video_id=None,
        size=0,
        made_at=None,
    )
    await records.timelapses.begin(begun)
    return begun


async def _added(
    records: Records, timelapse: Timelapse, picture: TimelapsePicture
) -> Sequence[str]:
    """Add a picture; return the ids of those that make room for it."""
    await records.timelapses.add(timelapse.timelapse_id, picture)
    if timelapse.pictures + 1 < MAX_PICTURES:
        return []
    spare = dropped(await records.timelapses.pictures(timelapse.timelapse_id))
    ids = [one.snapshot_id for one in spare]
    await records.timelapses.thin(timelapse.timelapse_id, ids)
    return [one.snapshot_id for one in spare if not one.is_events]


async def _of_unblocked(records: Records, video_id: str) -> Timelapse | None:
    found = await records.timelapses.with_video(video_id)
    account = None if found is None else await records.accounts.get(found.account_id)
    is_shown = found is not None and found.made_at is not None
    return found if is_shown and account is not None and not account.is_blocked else None


async def _remove(core: Core, videos: SnapshotStore, timelapses: Sequence[Timelapse]) -> None:
    await videos.remove([one.video_id for one in timelapses if one.video_id is not None])
    ids = [one.timelapse_id for one in timelapses]
    await core.store.write(lambda records: records.timelapses.forget(ids))
