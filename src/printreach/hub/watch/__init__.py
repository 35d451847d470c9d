"""The failure watch over prints: what all its parts use, and the last state of each watch.

Agents and apps are told the state that was reported in this process, or else that of the store. So
a restart forgets nothing, and a process without a worker knows as much as the worker.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from printreach.contract.commands import CommandStatus
from printreach.contract.events import EventType
from printreach.contract.status import StatusResult
from printreach.hub.core import Core
from printreach.hub.printers.live import read_status
from printreach.hub.prints.snapshots import Snapshots
from printreach.hub.prints.timelapses import PictureCollector
from printreach.languages import N_
from printreach.ports import Clock
from printreach.ports.printer_http import PrinterHttp, PrinterRefusal
from printreach.ports.relaying import DetectorReport, DetectorStates
from printreach.ports.scoring import Scorer
from printreach.rules.printers import OwnedPrinter
from printreach.rules.watch import status_of
from printreach.rules.watch.background import ended_well, learnt
from printreach.rules.watch.choices import WatchSettings
from printreach.rules.watch.memory import WatchedPrint, WatchMemory
from printreach.store.gathered import Gathered
from printreach.store.prints.events import StoredEvent
from printreach.store.store import Records, Store

ASK_WITHIN_S: Final = 5.0
"""Timeout for a printer's status, which its agent has at hand."""

_MID_PRINT: Final = frozenset(
    {
        EventType.STARTED,
        EventType.PAUSED,
        EventType.RESUMED,
        EventType.PROGRESS,
        EventType.FIRST_LAYER_COMPLETE,
        EventType.THIRD_LAYER_COMPLETE,
    }
)
"""Events of a print that has begun and has not ended."""
_ENDED: Final = frozenset({EventType.COMPLETE, EventType.FAILED})


class WatchStarter:
    """A consumer of events: begins and ends watches.

    A look corrects what an old event got wrong.
    """

    async def consume(self, records: Records, stored: StoredEvent) -> None:
        event, at, watches = stored.event, stored.received_at, records.watches
        if not event.print_id:
            return
        if event.event_type == EventType.COMPLETE:
            await _learn(records, stored)
        if event.event_type in _ENDED:
            await watches.end(stored.printer_id, event.print_id, at)
        elif event.event_type in _MID_PRINT:
            await watches.begin(stored.printer_id, stored.account_id, event.print_id, at)
        if event.event_type == EventType.RESUMED:
            await watches.resume(stored.printer_id, event.print_id, at)


async def _learn(records: Records, stored: StoredEvent) -> None:
    """Let the camera learn from a print that ended well."""
    watched = await records.watches.under_watch(stored.printer_id)
    if watched is None or watched.print_id != stored.event.print_id:
        return
    judged = await records.watches.judged(stored.printer_id)
    if ended_well(watched.memory, watched.answer(judged)):
        camera = watched.settings.camera or 0
        before = await records.watch_backgrounds.get(stored.printer_id, camera)
        after = learnt(before, watched.memory, stored.received_at)
        if after != before:
            await records.watch_backgrounds.put(watched.printer, camera, after)


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchParts:
    """The dependencies of the watch.

    states: where its state goes, for agents and apps. timelapses: what else becomes of its
    pictures; None where no videos are made.
    """

    core: Core
    http: PrinterHttp
    scorer: Scorer
    snapshots: Snapshots
    states: DetectorStates
    timelapses: PictureCollector | None = None


class EventPictures:
    """Takes pictures for events: hub.prints.fanout.TakePicture.

    An event of the watch gets the picture that caused it, since the present one may look different.
    """

    def __init__(self, core: Core, snapshots: Snapshots) -> None:
        self._core = core
        self._snapshots = snapshots

    async def take(self, stored: StoredEvent) -> str | None:
        if stored.event.event_type in (EventType.POSSIBLE_FAILURE, EventType.PAUSED_BY_DETECTOR):
            seen = await self._core.store.read(lambda records: _alarming(records, stored))
            if seen is not None:
                return seen
        return await self._snapshots.take(stored)


async def _alarming(records: Records, stored: StoredEvent) -> str | None:
    alarms = await records.watches.alarms(stored.printer_id, stored.event.print_id)
    picture = alarms[-1].picture if alarms else None
    known = await records.snapshots.get(picture) if picture is not None else None
    return picture if known is not None and known.account_id == stored.account_id else None


async def ask_status(http: PrinterHttp, printer: OwnedPrinter) -> StatusResult | PrinterRefusal:
    """Ask for the printer's present status."""
    try:
        async with asyncio.timeout(ASK_WITHIN_S):
            answer = await http.ask(printer, "/status")
    except TimeoutError:
        return PrinterRefusal(
            int(CommandStatus.TIMED_OUT), N_("The printer gave no status in time.")
        )
    return answer if isinstance(answer, PrinterRefusal) else read_status(answer)


def is_off(settings: WatchSettings, print_id: str) -> bool:
    """Return whether this print is not to be watched."""
    return not settings.enabled or settings.off_for_print == print_id


async def publish_report(
    parts: WatchParts, printer_id: str, print_id: str, memory: WatchMemory, settings: WatchSettings
) -> None:
    """Publish the state of the watch over a print to the agent and apps."""
    await parts.states.put(
        printer_id, report_of(print_id, memory, settings, parts.core.clock.now())
    )


def report_of(
    print_id: str, memory: WatchMemory, settings: WatchSettings, at: datetime
) -> DetectorReport:
    """Return the state of the watch over a print, in the words for agents and apps."""
    is_suppressed = settings.off_for_print == print_id
    return DetectorReport(
        # An unwatched printer has no state, and so its print has none.
        print_id=print_id if settings.enabled else "",
        status=status_of(memory, at, is_suppressed=is_suppressed),
        at=at,
    )


@dataclass(kw_only=True, slots=True)
class CachedDetectorStates:
    """ports.DetectorStates. heard: states that were reported in this process."""

    heard: DetectorStates
    store: Store
    clock: Clock
    _looking_up: Gathered[str, WatchedPrint | None] = field(init=False)

    def __post_init__(self) -> None:
        self._looking_up = Gathered(self._under_watch)

    async def put(self, printer_id: str, said: DetectorReport) -> None:
        await self.heard.put(printer_id, said)

    async def latest(self, printer_id: str) -> DetectorReport | None:
        said = await self.heard.latest(printer_id)
        if said is not None:
            return said
        watched = await self._looking_up.do(printer_id)
        if watched is None:
            return None
        at = self.clock.now()
        return report_of(watched.print_id, watched.memory, watched.settings, at)

    async def _under_watch(self, printer_ids: Sequence[str]) -> Sequence[WatchedPrint | None]:
        found = await self.store.read_for_service(
            lambda records: records.watches.all_under_watch(printer_ids)
        )
        return [found.get(printer_id) for printer_id in printer_ids]
