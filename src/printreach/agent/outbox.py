"""The agent's outbox: events that the service has not stored yet, sent in order; the tracked print.

An event and the checkpoint that says it was reported are one record of the journal, so a power cut
loses both or neither: no event is sent twice under two ids, and none is forgotten. An event is sent
once it is on the disk. While the disk is full events are sent without that, and everything is
written when there is space again.
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
from printreach.contract import codec, signin
from printreach.contract.codec import BAD_JSON
from printreach.contract.events import MAX_EVENTS_AT_ONCE, EventType, PrintEvent
from printreach.rules.prints import TrackedPrint
from printreach.wire.frames import CHUNK_BYTES

log = logging.getLogger(__name__)

FILE: Final = "events.journal"
MAX_EVENTS: Final = 1000
"""A month of prints. Beyond it the oldest progress events are dropped first."""
REWRITE_BYTES: Final = 256 * 1024
TRY_AGAIN_S: Final = 30.0
"""Seconds that writing pauses after the disk was full."""
MAX_BYTES = CHUNK_BYTES - 1024
"""The size of the events in one message, which is not fragmented."""


class _Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One record of the journal.

    checkpoint: the tracked print at that time; it is stored as `mark`. put: events, appended in
    order. done: ids of events that the service has acknowledged.
    """

    checkpoint: TrackedPrint | None = msgspec.field(default=None, name="mark")
    put: list[PrintEvent] = []
    done: list[str] = []


_decoder = msgspec.json.Decoder(_Record)
_encode = msgspec.json.Encoder().encode


class Outbox:
    """The queue of events. Whatever `put` is given counts at once, and is durable after `save`."""

    def __init__(self, data_dir: Path, steady_time: Callable[[], float]) -> None:
        self._steady_time = steady_time
        self._journal = Journal(data_dir / FILE)
        self.tracked = TrackedPrint()
        self._waiting: OrderedDict[str, PrintEvent] = OrderedDict()
        self._unsaved: list[PrintEvent] = []  # not on the disk yet; sent only after a save
        self._unsaved_checkpoint: TrackedPrint | None = None
        self._being_saved: frozenset[str] = frozenset()
        self._done: list[str] = []
        self._needs_rewrite = False
        self._failed_at: float | None = None
        self._on_new: list[Callable[[], None]] = []
        self._read()

    def put(self, tracked: TrackedPrint, events: Sequence[PrintEvent]) -> None:
        """Set the tracked print, and have the events sent after the next save."""
        self.tracked = tracked
        self._unsaved_checkpoint = tracked
        self._unsaved += events

    async def save(self) -> None:
        """Write what is new to the journal. One call at a time. A full disk is only logged."""
        events, checkpoint = self._unsaved, self._unsaved_checkpoint
        has_news = checkpoint is not None or bool(self._done) or self._needs_rewrite
        if not has_news or (not events and self._is_waiting_for_room()):
            return
        self._unsaved, self._unsaved_checkpoint = [], None
        done, self._done = self._done, []
        self._waiting.update((event.event_id, event) for event in events)
        self._being_saved = frozenset(event.event_id for event in events)
        self._drop_surplus()
        try:
            if self._is_waiting_for_room():
                self._needs_rewrite = True
            else:
                await self._write(_Record(checkpoint=checkpoint, put=events, done=done))
        finally:
            self._being_saved = frozenset()
        if events:
            for tell in list(self._on_new):
                tell()

    def batch(self, at_most: int) -> list[PrintEvent]:
        """Return the oldest events that may be sent."""
        safe = (
            event for event in self._waiting.values() if event.event_id not in self._being_saved
        )
        return list(islice(safe, at_most))

    def acknowledged(self, event_ids: Collection[str]) -> None:
        """Remove events that the service has stored."""
        for event_id in event_ids:
            if self._waiting.pop(event_id, None) is not None:
                self._done.append(event_id)

    def clear(self) -> None:
        """Drop all events: the printer has no owner, or another one than when they happened."""
        if self._waiting or self._unsaved:
            log.info("%d event(s) are dropped: nobody owned the printer", len(self._waiting))
        self._waiting.clear()
        self._unsaved.clear()
        self._done.clear()
        self._needs_rewrite = True

    def on_new(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Call `tell` whenever there are events to send; the function returned unsubscribes."""
        self._on_new.append(tell)
        return lambda: self._on_new.remove(tell)

    def __len__(self) -> int:
        return len(self._waiting)

    # --- the file ---------------------------------------------------------------------------------

    def _read(self) -> None:
        for line in self._journal.read():
            try:
                record = _decoder.decode(line)
            except BAD_JSON as error:
                log.warning("skipped a record of another version: %s", error)
                self._needs_rewrite = True
                continue
            self.tracked = record.checkpoint or self.tracked
            self._waiting.update((event.event_id, event) for event in record.put)
            for event_id in record.done:
                self._waiting.pop(event_id, None)
        self._drop_surplus()

    async def _write(self, record: _Record) -> None:
        wants_rewrite = (
            self._needs_rewrite
            or not self._journal.is_whole
            or self._journal.size > REWRITE_BYTES + 1024 * len(self._waiting)
        )
        self._needs_rewrite = False  # a request made during the rewrite needs another rewrite
        try:
            if wants_rewrite:
                lines = [
                    _encode(_Record(checkpoint=self.tracked, put=list(self._waiting.values())))
                ]
                await asyncio.to_thread(self._journal.replace, lines)
            else:
                line, durable = _encode(record), record.checkpoint is not None
                await asyncio.to_thread(self._journal.add, line, durable=durable)
        except OSError as error:
            if self._failed_at is None:
                log.warning(
                    "events can't be written to disk and are kept in memory: %s", error.strerror
                )
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
            event.event_id
            for event in self._waiting.values()
            if event.event_type == EventType.PROGRESS
        )
        for event_id in [event for _, event in zip(range(surplus), progress, strict=False)]:
            del self._waiting[event_id]
        while len(self._waiting) > MAX_EVENTS:
            self._waiting.popitem(last=False)
        self._needs_rewrite = True


class EventSender:
    """Sends waiting events once it has begun, and the next when those are stored.

    send_message: sends a control message. Events under way when the tunnel ends are sent again over
    the next one; the service knows events by their ids.
    """

    def __init__(self, outbox: Outbox, send_message: Callable[[bytes], None]) -> None:
        self._outbox = outbox
        self._send_message = send_message
        self._under_way: frozenset[str] = frozenset()
        self._stop: Callable[[], None] | None = None

    def begin(self) -> None:
        """Start sending: the service stores events, and the printer belongs to an account."""
        if self._stop is None:
            self._stop = self._outbox.on_new(self._send)
            self._send()

    def stored(self, event_ids: Collection[str]) -> None:
        """Remove events that the service has stored, and send the next."""
        self._outbox.acknowledged(event_ids)
        self._under_way -= frozenset(event_ids)
        self._send()

    def end(self) -> None:
        """Stop sending: the tunnel has ended, or the agent moves to another one."""
        if self._stop is not None:
            self._stop()
            self._stop = None

    def _send(self) -> None:
        if self._stop is None or self._under_way:
            return
        events = _cut(self._outbox.batch(MAX_EVENTS_AT_ONCE))
        if events:
            self._under_way = frozenset(event.event_id for event in events)
            self._send_message(signin.encode(signin.Events(events=events)))


def _cut(events: list[PrintEvent]) -> list[PrintEvent]:
    """Return as many events as fit into one message; always the first."""
    size = 0
    for count, event in enumerate(events):
        size += len(codec.encode(event)) + 1
        if size > MAX_BYTES and count:
            return events[:count]
    return events
