"""Pausing a print for its owner: ordered at most once, and never another print than was seen.

The intention is stored before the order, and the outcome after it. A worker that is killed in
between has ordered the pause or not; its successor looks at the printer and reports.
"""

import asyncio
import logging
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from printreach.contract import codec
from printreach.contract.commands import CommandStatus, Pause
from printreach.contract.events import EventType
from printreach.contract.status import State, StatusResult
from printreach.hub.watch import WatchParts, ask_status, is_off
from printreach.languages import N_, in_english
from printreach.ports.printer_http import PrinterRefusal
from printreach.rules.printers import OwnedPrinter
from printreach.rules.printers.commands import plain_pause
from printreach.rules.prints import print_id_under_way
from printreach.rules.watch import NoLook, after_answer, after_none, after_pause, after_refusal
from printreach.rules.watch.choices import WatchPause
from printreach.rules.watch.memory import WatchedPrint, WatchMemory
from printreach.rules.watch.why import watch_event
from printreach.store.store import Records

log = logging.getLogger(__name__)

ORDER_WITHIN_S: Final = 30.0
"""Timeout of the order; the agent gives a printer 25 s."""
AFTER_REFUSAL: Final = timedelta(seconds=20)


async def pause(parts: WatchParts, watched: WatchedPrint, seen: StatusResult) -> WatchMemory | None:
    """Order the pause that was decided on and report the outcome; return what to remember.

    The owner's present settings count.

    seen: the printer's status at the look. None where there is nothing to remember: the print has
    ended, or the claim was lost.
    """
    status = await ask_status(parts.http, watched.printer)
    if isinstance(status, PrinterRefusal):
        return await conclude(parts, watched, seen, _in_words(status))
    if print_id_under_way(status) != watched.print_id:
        await parts.core.store.write(
            lambda records: _ended(records, watched, parts.core.clock.now())
        )
        return None
    if status.job_status.state is State.PAUSED:
        return await _was_paused(parts, watched)
    how = await _still_chosen(parts, watched)
    if not isinstance(how, WatchPause):
        return how
    refusal = await _order(parts, watched.printer, how)
    if refusal is None:
        return await conclude(parts, watched, status, "")
    log.warning("printer %s was not paused: %s", watched.printer_id, refusal.sentence)
    after = await ask_status(parts.http, watched.printer)
    is_paused = (
        isinstance(after, StatusResult)
        and print_id_under_way(after) == watched.print_id
        and after.job_status.state is State.PAUSED
    )
    return await conclude(parts, watched, status, "" if is_paused else _in_words(refusal))


async def conclude(
    parts: WatchParts, watched: WatchedPrint, status: StatusResult, error: str
) -> WatchMemory | None:
    """Report once that the print was paused, or why it was not.

    error: a sentence for people; "" for a pause. Returns what to remember, or None if the claim was
    lost. Raises StoreUnavailable.
    """
    at = parts.core.clock.now()

    async def conclude(records: Records) -> WatchMemory | None:
        held = await records.watches.held(watched)
        decided_at = held.memory.ordering_at if held is not None else None
        if held is None or decided_at is None:
            return None
        kind = EventType.POSSIBLE_FAILURE if error else EventType.PAUSED_BY_DETECTOR
        memory = (after_refusal if error else after_pause)(held.memory, at)
        due_at = at + AFTER_REFUSAL
        if not error:
            memory, due_at = after_none(memory, NoLook.PAUSED, at)
        await records.watches.mark(held, decided_at, paused=not error)
        event = watch_event(kind, held.printer_id, held.print_id, status, decided_at, at, error)
        await records.events.append(held.printer_id, [event], at)
        await records.watches.release(held, memory, due_at)
        return memory

    return await parts.core.store.write(conclude)


async def _still_chosen(
    parts: WatchParts, watched: WatchedPrint
) -> WatchPause | WatchMemory | None:
    """Return how to pause, or what to remember if the owner wants no pause any more, or has
    meanwhile answered that the print is fine.

    None if the claim was lost.
    """
    at = parts.core.clock.now()

    async def look(records: Records) -> WatchPause | WatchMemory | None:
        held = await records.watches.held(watched)
        if held is None:
            return None
        judged = await records.watches.judged(held.printer_id)
        answered = after_answer(held.memory, held.answer(judged))
        is_wanted = not is_off(held.settings, held.print_id) and answered == held.memory
        if held.settings.pauses is not None and is_wanted:
            return held.settings.pauses
        memory = replace(answered, ordering_at=None, tries=max(0, held.memory.tries - 1))
        await records.watches.release(held, memory, at)
        return memory

    return await parts.core.store.write(look)


async def _order(
    parts: WatchParts, printer: OwnedPrinter, how: WatchPause
) -> PrinterRefusal | None:
    """Order the pause.

    The agent does not report it as a pause by a person: the watch reports it.
    """
    owner = await parts.core.store.read(lambda records: records.accounts.get(printer.account_id))
    order = Pause(
        smart_pause=True,
        disable_hotend=how.disable_hotend,
        disable_bed=how.disable_bed,
        z_lift_mm=how.z_lift_mm,
        retract_filament_mm=how.retract_filament_mm,
        suppress_notification=True,
    )
    if owner is None or owner.is_locked:
        order = plain_pause(order)
    try:
        async with asyncio.timeout(ORDER_WITHIN_S):
            answer = await parts.http.order(printer, "/pause", arguments=codec.encode(order))
    except TimeoutError:
        return PrinterRefusal(
            int(CommandStatus.TIMED_OUT), N_("The printer gave no answer in time.")
        )
    return answer if isinstance(answer, PrinterRefusal) else None


async def _was_paused(parts: WatchParts, watched: WatchedPrint) -> WatchMemory | None:
    """Remember that somebody else paused it first: nothing is ordered and nothing reported."""
    at = parts.core.clock.now()

    async def note(records: Records) -> WatchMemory | None:
        held = await records.watches.held(watched)
        if held is None:
            return None
        memory, due_at = after_none(held.memory, NoLook.PAUSED, at)
        memory = replace(memory, ordering_at=None, is_paused=True)
        await records.watches.release(held, memory, due_at)
        return memory

    return await parts.core.store.write(note)


async def _ended(records: Records, watched: WatchedPrint, at: datetime) -> None:
    if await records.watches.held(watched) is not None:
        await records.watches.end(watched.printer_id, watched.print_id, at)


def _in_words(refusal: PrinterRefusal) -> str:
    return in_english("It could not be paused. %(sentence)s", sentence=refusal.sentence)
