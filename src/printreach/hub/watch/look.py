"""One look at a claimed print: its status, a picture, a score, and what follows.

Everything that a look changes is stored in one unit of work, together with its event. So a worker
that is killed leaves either nothing, and its claim to the next worker, or all of it.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from printreach.contract.commands import CommandStatus
from printreach.contract.errors import ErrorCode
from printreach.contract.events import EventType
from printreach.contract.status import State, StatusResult
from printreach.hub.printers.pictures import take_picture
from printreach.hub.watch import WatchParts, ask_status, is_off, publish_report
from printreach.hub.watch.pause import conclude, pause
from printreach.languages import N_
from printreach.limiters.fair_semaphore import FairSemaphore
from printreach.ports.printer_http import PrinterRefusal
from printreach.ports.scoring import ImageScore, ScorerBusy, ScorerUnavailable, ScoringRefused
from printreach.ports.snapshots import SnapshotsUnavailable
from printreach.rules.prints import print_id_under_way
from printreach.rules.prints.timelapse import PrintKey
from printreach.rules.watch import (
    Decision,
    NoLook,
    after_answer,
    after_none,
    after_resume,
    decide,
    is_degraded,
    is_given_up,
)
from printreach.rules.watch.background import begun, still_counting
from printreach.rules.watch.choices import LastLook, WatchSettings, levels_after
from printreach.rules.watch.memory import WatchedPrint, WatchMemory
from printreach.rules.watch.why import watch_event
from printreach.store.store import Records

log = logging.getLogger(__name__)

PICTURE_WITHIN_S: Final = 8.0
SCORE_WITHIN_S: Final = 8.0
SLOW_S: Final = 4.0
"""A print whose camera takes longer counts as degraded."""
NEXT_PRINT_AFTER: Final = timedelta(seconds=10)
"""Keeps an agent that names another print each time from being asked without a pause."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Seen:
    """A picture that was scored. picture: its id, if it was stored."""

    scored: ImageScore
    at: datetime
    status: StatusResult
    picture: str | None
    is_slow: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class _Settled:
    """What was stored. spare: pictures that need not be kept any longer."""

    held: WatchedPrint
    decision: Decision
    spare: Sequence[str]


class LookAtPrint:
    """Runs once. Raises StoreUnavailable; then the claim lapses."""

    def __init__(
        self,
        parts: WatchParts,
        watched: WatchedPrint,
        slots: FairSemaphore,
        crowd: Callable[[str], float],
    ) -> None:
        """crowd: returns the part of its own slots that an account uses, 0 to 1."""
        self._parts = parts
        self._watched = watched
        self._slots = slots
        self._crowd = crowd

    async def run(self) -> None:
        watched = self._watched
        if is_off(watched.settings, watched.print_id):
            await self._put_off(NoLook.OFF)
            return
        status = await ask_status(self._parts.http, watched.printer)
        if isinstance(status, PrinterRefusal):
            is_away = status.code == ErrorCode.PRINTER_NOT_CONNECTED
            await self._put_off(NoLook.AWAY if is_away else NoLook.UNREACHED)
        elif print_id_under_way(status) != watched.print_id:
            await self._end(print_id_under_way(status))
        elif watched.memory.ordering_at is not None:
            await self._resolve(status)
        elif status.job_status.state is State.PAUSED:
            await self._put_off(NoLook.PAUSED)
        elif status.job_status.state is not State.PRINTING:
            await self._put_off(NoLook.NOT_PRINTING_YET)
        else:
            await self._look(status)

    # --- without a look ---------------------------------------------------------------------------

    async def _put_off(self, why: NoLook) -> None:
        at, before = self._parts.core.clock.now(), self._watched.memory
        held = await self._parts.core.store.write(lambda records: self._none(records, why, at))
        is_answered = held is not None and held.memory.dismissed_at != before.dismissed_at
        if held is not None and (why in (NoLook.OFF, NoLook.PAUSED) or is_answered):
            await self._say(held)

    async def _none(self, records: Records, why: NoLook, at: datetime) -> WatchedPrint | None:
        held = await records.watches.held(self._watched)
        if held is None:
            return None
        judged = await records.watches.judged(held.printer_id)
        memory, due_at = after_none(after_answer(held.memory, held.answer(judged)), why, at)
        if why is NoLook.PAUSED:
            memory = replace(memory, is_paused=True)
        if is_given_up(memory, at):
            await records.watches.end(held.printer_id, held.print_id, at)
        else:
            await self._release(records, held, memory, due_at, degraded=is_degraded(why))
        return replace(held, memory=memory)

    async def _end(self, other_print_id: str) -> None:
        """End the watch: the printer prints nothing, or another print, which is watched from now
        on."""
        at, watched = self._parts.core.clock.now(), self._watched

        async def end(records: Records) -> None:
            held = await records.watches.held(watched)
            if held is None:
                return
            await records.watches.end(held.printer_id, held.print_id, at)
            if other_print_id:
                await records.watches.begin(
                    held.printer_id, held.account_id, other_print_id, at + NEXT_PRINT_AFTER
                )

        await self._parts.core.store.write(end)

    async def _resolve(self, status: StatusResult) -> None:
        """Conclude a pause that may have been ordered by a worker that was stopped; do not repeat
        it."""
        is_paused = status.job_status.state is State.PAUSED
        error = "" if is_paused else N_("It was to be paused, but the service was interrupted.")
        memory = await conclude(self._parts, self._watched, status, error)
        if memory is not None:
            await self._say(replace(self._watched, memory=memory))

    # --- with one ---------------------------------------------------------------------------------

    async def _look(self, status: StatusResult) -> None:
        watched, loop = self._watched, asyncio.get_running_loop()
        began = loop.time()
        picture = await take_picture(
            self._parts.http, watched.printer, PICTURE_WITHIN_S, watched.settings.camera or 0
        )
        if isinstance(picture, PrinterRefusal):
            has_none = picture.code == CommandStatus.NOT_FOUND
            await self._put_off(NoLook.NO_CAMERA if has_none else NoLook.NO_PICTURE)
            return
        is_slow, at = loop.time() - began > SLOW_S, self._parts.core.clock.now()
        if self._parts.timelapses is not None:
            key = PrintKey(
                account_id=watched.account_id,
                printer_id=watched.printer_id,
                print_id=watched.print_id,
            )
            await self._parts.timelapses.add(key, picture)
        scored = await self._score(picture)
        if isinstance(scored, NoLook):
            await self._put_off(scored)
            return
        expected = _decide(watched, watched.settings, scored, at)
        kept = await self._keep(picture) if expected.is_kept else None
        seen = _Seen(scored=scored, at=at, status=status, picture=kept, is_slow=is_slow)
        settled = await self._parts.core.store.write(lambda records: self._settle(records, seen))
        await self._drop(settled, kept)
        if settled is not None:
            await self._act(settled, status)

    async def _score(self, picture: bytes) -> ImageScore | NoLook:
        """Score the picture.

        A large farm is looked at less often by its own load, before it slows others.
        """
        watched = self._watched
        try:
            async with asyncio.timeout(SCORE_WITHIN_S), self._slots.slot(watched.account_id):
                scored = await self._parts.scorer.score(picture, watched.settings.masked)
            return replace(scored, load=max(scored.load, self._crowd(watched.account_id)))
        except (ScorerBusy, TimeoutError):
            return NoLook.BUSY
        except ScorerUnavailable:
            return NoLook.UNSCORED
        except ScoringRefused as refused:
            log.info("printer %s sent a picture that has no score: %s", self._of, refused)
            return NoLook.NO_PICTURE

    async def _settle(self, records: Records, seen: _Seen) -> _Settled | None:
        """Store all that the look changes, by the present settings; None without the claim."""
        held = await records.watches.held(self._watched)
        if held is None:
            return None
        if is_off(held.settings, held.print_id):
            await self._release(records, held, held.memory, seen.at)
            return None
        background = await records.watch_backgrounds.get(held.printer_id, held.settings.camera or 0)
        judged = await records.watches.judged(held.printer_id)
        memory = after_answer(begun(held.memory, background), held.answer(judged))
        held = replace(held, memory=memory)
        counting = still_counting(judged, background)
        warning, pausing = levels_after(held.settings, counting, seen.at)
        settings = replace(held.settings, warning_level=warning, pause_level=pausing)
        decision = _decide(held, settings, seen.scored, seen.at)
        spare: Sequence[str] = []
        if decision.is_kept:
            evidence = seen.scored.assessment.evidence
            last = LastLook(
                look=decision.look,
                evidence=evidence,
                picture=seen.picture,
                camera=self._watched.settings.camera,
            )
            spare = await records.watches.add_look(held, last)
        if decision.look.warned:
            await self._tell_warning(records, seen)
        if decision.pauses:
            await records.watches.keep(held, decision.memory)
        else:
            due_at = seen.at + timedelta(seconds=decision.memory.interval_s)
            await self._release(records, held, decision.memory, due_at, degraded=seen.is_slow)
        return _Settled(held=held, decision=decision, spare=spare)

    async def _tell_warning(self, records: Records, seen: _Seen) -> None:
        printer_id, print_id = self._watched.printer_id, self._watched.print_id
        event = watch_event(
            EventType.POSSIBLE_FAILURE, printer_id, print_id, seen.status, seen.at, seen.at
        )
        await records.events.append(printer_id, [event], seen.at)

    async def _act(self, settled: _Settled, status: StatusResult) -> None:
        held = replace(settled.held, memory=settled.decision.memory)
        await self._say(held)
        if settled.decision.pauses:
            memory = await pause(self._parts, held, status)
            if memory is not None:
                await self._say(replace(held, memory=memory))

    # --- helpers ----------------------------------------------------------------------------------

    @property
    def _of(self) -> str:
        return self._watched.printer_id

    async def _release(
        self,
        records: Records,
        held: WatchedPrint,
        memory: WatchMemory,
        due_at: datetime,
        *,
        degraded: bool = False,
    ) -> None:
        """Release the claim; due at once if the owner has meanwhile changed whether to watch."""
        print_id, before = held.print_id, self._watched.settings
        if is_off(held.settings, print_id) != is_off(before, print_id):
            due_at = self._parts.core.clock.now()
        await records.watches.release(held, memory, due_at, degraded=degraded)

    async def _say(self, held: WatchedPrint) -> None:
        await publish_report(
            self._parts, held.printer_id, held.print_id, held.memory, held.settings
        )

    async def _keep(self, picture: bytes) -> str | None:
        """Store the picture; a look without its picture is better than none."""
        watched = self._watched
        try:
            return await self._parts.snapshots.keep(
                watched.account_id,
                watched.printer_id,
                picture,
                is_last=not watched.settings.camera,
            )
        except SnapshotsUnavailable as error:
            log.warning("a picture of printer %s was not kept: %s", self._of, error)
            return None

    async def _drop(self, settled: _Settled | None, kept: str | None) -> None:
        """Delete pictures that nothing refers to; one left behind by a failure is deleted by its
        age."""
        spare = list(settled.spare) if settled is not None else []
        if kept is not None and (settled is None or not settled.decision.is_kept):
            spare.append(kept)
        if spare:
            try:
                await self._parts.snapshots.drop(self._of, spare)
            except SnapshotsUnavailable as error:
                log.warning("could not delete old pictures of printer %s yet: %s", self._of, error)


def _decide(
    held: WatchedPrint, settings: WatchSettings, scored: ImageScore, at: datetime
) -> Decision:
    """Decide on a print that prints: if it was paused before, it has gone on since."""
    memory = held.memory
    if memory.is_paused or held.resumed_at != memory.resumed_at:
        memory = after_resume(memory, held.resumed_at)
    return decide(memory, scored.assessment, settings, at, scored.load)
