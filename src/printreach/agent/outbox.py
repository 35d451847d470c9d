"""Events that the service has not stored yet, and what is remembered of the print: one file.

An event and the memory that it has been told of are one record, so a power cut loses both or none:
nothing is told twice under two ids, and nothing is forgotten. An event leaves for the service once
it is on the disk. Where the disk is full it leaves all the same, and all is written when there is
room again.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from printreach.agent.journal import Journal
from printreach.contract.events import EventType, PrintEvent
from printreach.rules.prints import PrintMark

log = logging.getLogger(__name__)

FILE: Final = "events.journal"
MAX_EVENTS: Final = 1000
"""A month of prints; of more, the oldest progress goes first."""
REWRITE_BYTES: Final = 256 * 1024
TRY_AGAIN_S: Final = 30.0
"""After the disk was full."""


class _Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line. mark: as of then. put: events, each behind the last. done: ids that may go."""

    mark: PrintMark | None = None
    put: list[PrintEvent] = []
    done: list[str] = []


_decoder = msgspec.json.Decoder(_Record)
_encode = msgspec.json.Encoder().encode


class Outbox:
    """What `put` is given is remembered at once, and safe after `save`."""

    def __init__(self, data_dir: Path, steady_time: Callable[[], float]) -> None:
        self._steady_time = steady_time
        self._journal = Journal(data_dir / FILE)
        self.mark = PrintMark()
        self._waiting: OrderedDict[str, PrintEvent] = OrderedDict()
        self._unsaved: list[PrintEvent] = []  # not on the disk yet; sent only behind a save
        self._unsaved_mark: PrintMark | None = None
        self._being_saved: frozenset[str] = frozenset()
        self._done: list[str] = []
        self._needs_rewrite = False
        self._failed_at: float | None = None
        self._on_new: list[Callable[[], None]] = []
        self._read()

    def put(self, mark: PrintMark, events: Sequence[PrintEvent]) -> None:
        """Remember the mark, and have the events sent behind the next save."""
        self.mark = mark
        self._unsaved_mark = mark
        self._unsaved += events

    async def save(self) -> None:
        """Write down what is new. One call at a time. A full disk costs a line in the log."""
        events, mark = self._unsaved, self._unsaved_mark
        has_news = mark is not None or bool(self._done) or self._needs_rewrite
        if not has_news or (not events and self._is_waiting_for_room()):
            return
        self._unsaved, self._unsaved_mark = [], None
        done, self._done = self._done, []
        self._waiting.update((one.event_id, one) for one in events)
        self._being_saved = frozenset(one.event_id for one in events)
        self._drop_surplus()
        try:
            if self._is_waiting_for_room():
                self._needs_rewrite = True
            else:
                await self._write(_Record(mark=mark, put=events, done=done))
        finally:
            self._being_saved = frozenset()
        if events:
            for tell in list(self._on_new):
                tell()

    def batch(self, at_most: int) -> list[PrintEvent]:
        """The oldest that wait; they may be sent."""
        safe = (one for one in self._waiting.values() if one.event_id not in self._being_saved)
        return list(islice(safe, at_most))

    def acknowledged(self, event_ids: Collection[str]) -> None:
        """The service has stored these."""
        for event_id in event_ids:
            if self._waiting.pop(event_id, None) is not None:
                self._done.append(event_id)

    def clear(self) -> None:
        """Forget what waits: the printer has no owner, or another one than when it happened."""
        if self._waiting or self._unsaved:
            log.info("%d event(s) are dropped: nobody owned the printer", len(self._waiting))
        self._waiting.clear()
        self._unsaved.clear()
        self._done.clear()
        self._needs_rewrite = True

    def on_new(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Call back when there is something to send; the result ends that."""
        self._on_new.append(tell)
        return lambda: self._on_new.remove(tell)

    def __len__(self) -> int:
        return len(self._waiting)

    # --- the file ---------------------------------------------------------------------------------

    def _read(self) -> None:
        for line in self._journal.read():
            try:
                record = _decoder.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                log.warning("a record of another version is passed over: %s", error)
                self._needs_rewrite = True
                continue
            self.mark = record.mark or self.mark
            self._waiting.update((one.event_id, one) for one in record.put)
            for event_id in record.done:
                self._waiting.pop(event_id, None)
        self._drop_surplus()

    async def _write(self, record: _Record) -> None:
        wants_rewrite = (
            self._needs_rewrite
            or not self._journal.is_whole
            or self._journal.size > REWRITE_BYTES + 1024 * len(self._waiting)
        )
        self._needs_rewrite = False  # who wants one meanwhile, wants another
        try:
            if wants_rewrite:
                whole = [_encode(_Record(mark=self.mark, put=list(self._waiting.values())))]
                await asyncio.to_thread(self._journal.replace, whole)
            else:
                line, durable = _encode(record), record.mark is not None
                await asyncio.to_thread(self._journal.add, line, durable=durable)
        except OSError as error:
            if self._failed_at is None:
                log.warning("events are kept in memory, the disk takes none: %s", error.strerror)
            self._failed_at = self._steady_time()
            self._needs_rewrite = True
        else:
            self._failed_at = None

    def _is_waiting_for_room(self) -> bool:
        return self._failed_at is not None and self._steady_time() - self._failed_at < TRY_AGAIN_S

    def _drop_surplus(self) -> None:
        surplus = len(self._waiting) - MAX_EVENTS
        if surplus <= 0:
            return
        log.warning("%d event(s) are dropped: the service has taken none for long", surplus)
        progress = (
            one.event_id for one in self._waiting.values() if one.event_type == EventType.PROGRESS
        )
        for event_id in [one for _, one in zip(range(surplus), progress, strict=False)]:
            del self._waiting[event_id]
        while len(self._waiting) > MAX_EVENTS:
            self._waiting.popitem(last=False)
        self._needs_rewrite = True
