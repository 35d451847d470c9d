"""Smart pauses that are made of commands, and their restore: alike on each platform.

Where it is doubtful whether this is the same print, nothing is restored. Before each command of a
restore the printer has to be paused in the print that the smart pause was made in, at the same
progress. After a time in which the printer was not observed, that has to be proven. An order to
cancel, a lock of remote control and a lost connection end a restore before its next command.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from msgspec import structs

from printreach.contract.commands import CommandStatus, Pause
from printreach.contract.status import AT_WORK, UNDER_WAY, State
from printreach.languages import N_, in_english

from .pause_plan import PAUSED_WITHIN_S, PausePlan, SavedStateFile, no_longer_paused
from .port import PrinterRefused, View, failed
from .print_progress import PrintReport, SavedState

log = logging.getLogger(__name__)

PAUSED_LATE_WITHIN_S: Final = 120.0
"""Such a printer first finishes its current move, and may park its head."""
WARM_WITHIN_S: Final = 1800.0
HELD_WITHIN_S: Final = 1800.0
"""Seconds that the service may be unreachable during a restore ordered through it."""
LOOK_EVERY_S: Final = 1.0
SENT_WITHIN_S: Final = 2.0
"""For an order that was under way when another one ended the restore."""
WARMING_UP: Final = N_("Heating up again")
UNPROVEN: Final = N_(
    "Whether this is still the print that the smart pause was made in can't be known, so nothing"
    " was given back. Set temperatures and the nozzle's height yourself, then resume again."
)


class SmartPauses:
    """The pauses, resumes and cancels of one printer. Owns the restore that is under way.

    folder: for the saved state. on_change: called when a restore begins or ends to show.
    """

    def __init__(
        self, folder: Path, plan: PausePlan[Any], on_change: Callable[[], None] = lambda: None
    ) -> None:
        self._current = SavedStateFile(folder / plan.file, plan.shape)
        self._plan = plan
        self._on_change = on_change
        self._is_followed = False  # the paused print was observed without a gap since
        self._needs_order = False  # nothing is restored unless a resume is ordered
        self._cancels = 0
        self._work: asyncio.Task[None] | None = None
        self._sending: asyncio.Future[None] | None = None
        self._is_accepted = asyncio.Event()
        self._is_giving_back = False
        self._is_held = False
        self._pause: object | None = None  # the latest that was begun, and nothing ordered since
        self.is_restoring = False

    def shown(self, view: View) -> View:
        """A print that heats up before it goes on is resuming."""
        if not self.is_restoring or view.job.state is not State.PAUSED:
            return view
        job = structs.replace(view.job, state=State.RESUMING, sub_state=WARMING_UP)
        return replace(view, job=job)

    # --- orders -----------------------------------------------------------------------------------

    async def pause(self, order: Pause) -> None:
        """Pause, and where the order says so, park the nozzle and turn heaters off then."""
        plan, planned = self._plan, self._plan.planned(order)
        require_paused = await self.begin_pause()
        if not order.smart_pause or plan.is_plain(planned):
            await plan.order("pause")
        elif plan.pauses_slowly:
            await plan.order("pause")
            self.start(self._change(planned, order, require_paused))
        else:
            await plan.pause_fully()
            await self._change(planned, order, require_paused)

    async def begin_pause(self) -> "Callable[[], None]":
        """Before a pause is ordered. What is returned raises PrinterRefused as soon as the print
        isn't paused any more, or something else was ordered since: call it before each step."""
        await self.close()
        work = object()
        self._pause = work

        def require_paused() -> None:
            if self._pause is not work or not self._plan.is_paused():
                raise PrinterRefused(
                    CommandStatus.INVALID_STATE,
                    N_(
                        "The print isn't paused any more, or remote control was locked: nothing"
                        " else was done."
                    ),
                )

        return require_paused

    def remember(self, saved: SavedState) -> bool:
        """Save it once the print is paused, before anything is done. Raises PrinterRefused.

        False: the printer doesn't tell this print from others. Nothing could ever be restored then,
        and the pause has to stay a plain one.
        """
        report = self._plan.print_report()
        if report is None or not report.is_paused:
            raise no_longer_paused()
        saved = replace(saved, progress=report.progress)
        if not report.is_as_paused(saved):
            log.warning("this print can't be told from others, so its pause is a plain one")
            return False
        self._current.remember(saved)
        self._is_followed, self._needs_order = True, False
        return True

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Start work that no caller waits for."""
        self._is_accepted.set()
        self._start(work)

    async def resume(self) -> None:
        """Returns when the print goes on, or begins to heat up for it. Raises PrinterRefused."""
        if self._cancels:
            raise PrinterRefused(CommandStatus.INVALID_STATE, N_("The print is being cancelled."))
        if self._is_giving_back:
            return
        await self.close()
        self._is_accepted.clear()
        work = self._start(self._resume())
        try:
            await self._is_accepted.wait()
        except asyncio.CancelledError:
            await self.close()
            raise
        if work.cancelled():
            raise PrinterRefused(CommandStatus.INVALID_STATE, N_("Another order ended the resume."))
        if work.done():
            work.result()

    async def cancel(self) -> None:
        """End the restore, then cancel. Nothing is given back from here on."""
        self._cancels += 1
        self._needs_order = True
        try:
            await self.close()
            await self._plan.order("cancel")
            self._current.forget()
        finally:
            self._cancels -= 1

    async def lock(self) -> None:
        """Remote control was locked: what was taken is given back to an order alone."""
        self._needs_order = True
        if self._is_giving_back:
            log.warning("remote control was locked: the smart pause is not undone")
        await self.close()

    def hold(self, *, is_held: bool) -> None:
        """While held, a restore that was ordered waits before it moves anything."""
        self._is_held = is_held

    # --- what the printer reports -----------------------------------------------------------------

    def on_update(self) -> None:
        """The printer has sent something, or was lost."""
        report = self._plan.print_report()
        if report is None:
            self._is_followed = False
            if self._is_giving_back and self._work is not None:
                self._work.cancel()
            return
        saved = self._current.saved
        if saved is None or self._work is not None:
            return
        if report.state is State.PAUSED:
            self._follow(saved, report)
            return
        is_same = self._is_followed and report.can_be(saved)
        self._is_followed = False
        if report.state in AT_WORK and is_same and not self._needs_order:
            self.start(self._restore_ended_pause(saved))
        else:
            self._drop(report)

    def _follow(self, saved: SavedState, report: PrintReport) -> None:
        """Follow a paused print: update its saved progress, or drop the state of another print."""
        is_same, now = report.is_as_paused(saved), report.progress
        if self._is_followed and (is_same or report.can_be(saved)):
            if not is_same or (now.began_s is not None and saved.progress.began_s is None):
                self._current.remember(replace(saved, progress=now))
        elif is_same:
            self._is_followed = report.is_proven(saved)
        else:
            self._drop(report)

    def _drop(self, report: PrintReport) -> None:
        self._current.forget()
        if report.state in UNDER_WAY and not self._needs_order:
            log.warning("the smart pause is not undone: this may be another print by now")

    # --- what a smart pause changes ---------------------------------------------------------------

    async def _change(
        self, planned: SavedState, order: Pause, require_paused: Callable[[], None]
    ) -> None:
        """Park the nozzle while it is hot, then turn heaters off even if the moves are refused."""
        plan, refusal = self._plan, None
        if plan.pauses_slowly and not await plan.wait_until(plan.is_paused, PAUSED_LATE_WITHIN_S):
            return  # it was resumed or cancelled before it was paused
        saved = await plan.completed(planned, order)
        require_paused()
        if plan.is_plain(saved) or not self.remember(saved):
            return
        if saved.has_moves:
            try:
                await self.send(plan.park(saved))
            except PrinterRefused as refused:
                # Whatever was moved, a nozzle that is lowered without having been lifted does harm.
                refusal, saved = refused, saved.without_moves()
                require_paused()
                self.remember(saved)
        if plan.has_heat(saved):
            require_paused()
            await self.send(plan.set_heaters(saved, on=False))
        if refusal is not None:
            raise failed(
                in_english(
                    "The print is paused, but its nozzle not moved: %(sentence)s",
                    sentence=refusal.sentence,
                )
            )

    # --- giving back ------------------------------------------------------------------------------

    async def _resume(self) -> None:
        await self._plan.until_resumable()
        saved, report = self._current.saved, self._plan.print_report()
        if saved is not None and (report is None or not report.is_as_paused(saved)):
            if report is not None:
                self._drop(report)
            saved = None
        if saved is None or report is None:
            await self.send(self._plan.order("resume"))
            return
        if not self._is_followed and not report.is_proven(saved):
            self._current.forget()
            raise failed(UNPROVEN)
        if (problem := self._plan.limit_problem(saved)) is not None:
            raise failed(
                in_english(
                    "What the smart pause took can't be given back: %(problem)s", problem=problem
                )
            )
        self._needs_order = False
        await self._restore(saved, is_ordered=True)

    async def _restore_ended_pause(self, saved: SavedState) -> None:
        """Somebody resumed the print at the printer, where it would go on cold and lifted."""
        log.warning("a smart pause was ended at the printer: the print gets its heat back")
        self._needs_order = True  # this is tried once
        if (problem := self._plan.limit_problem(saved)) is not None:
            raise failed(problem)
        if self._plan.repauses:
            await self._restore(await self._pause_again(saved), is_ordered=False)
            return
        self._plan.require_going(saved)
        self._is_giving_back = True
        await self.send(self._plan.set_heaters(saved, on=True))
        self._current.forget()

    async def _pause_again(self, saved: SavedState) -> SavedState:
        self._plan.require_going(saved)
        self._is_giving_back = True
        await self.send(self._plan.order("pause"))
        if not await self._plan.wait_until(self._plan.has_stopped, PAUSED_WITHIN_S):
            raise failed(N_("The print did not pause in time."))
        report = self._plan.print_report()
        if report is None or not report.is_paused or not report.can_be(saved):
            raise no_longer_paused()
        saved = replace(saved, progress=report.progress)
        self._current.remember(saved)
        return saved

    async def _restore(self, saved: SavedState, *, is_ordered: bool) -> None:
        """Heat, wait for it, come down, go on: each where the print is still as it was paused.

        is_ordered: remotely, so the service has to be there to tell of a lock.
        """
        plan = self._plan
        self._is_giving_back = True
        if plan.has_heat(saved):
            plan.require_paused(saved)
            await self.send(plan.set_heaters(saved, on=True))
            await self._until_warm(saved)
        if is_ordered and self._is_held:
            await self._while_held(saved)
        if plan.has_moves_back(saved):
            plan.require_paused(saved)
            # They must not be made twice, whatever happens from here on.
            with_moves, saved = saved, saved.without_moves()
            self._current.remember(saved)
            try:
                await self.send(plan.move_back(with_moves))
            except PrinterRefused as refused:
                is_refused = refused.status == CommandStatus.EXECUTION_FAILED
                if is_refused and plan.refuses_moves_whole:
                    self._current.remember(with_moves)
                raise
        if is_ordered and self._is_held:
            await self._while_held(saved)
        plan.require_paused(saved)
        self._needs_order = True  # should it go on although its answer is lost, it is left alone
        await self.send(plan.order("resume"))
        self._current.forget()

    async def _until_warm(self, saved: SavedState) -> None:
        if self._plan.is_warm(saved):
            return
        self._show_restoring(True)
        self._is_accepted.set()
        is_decided = await self._plan.wait_until(
            lambda: self._plan.is_warm(saved) or not self._plan.is_paused_in(saved), WARM_WITHIN_S
        )
        if not is_decided:
            raise failed(N_("It does not get warm."))

    async def _while_held(self, saved: SavedState) -> None:
        self._show_restoring(True)
        self._is_accepted.set()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + HELD_WITHIN_S
        while not await self._plan.wait_until(
            lambda: not self._is_held or not self._plan.is_paused_in(saved), LOOK_EVERY_S
        ):
            if loop.time() >= deadline:
                raise failed(N_("The service could not be reached any more."))

    # --- the work under way -----------------------------------------------------------------------

    def _start(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        self._work = task = asyncio.create_task(work)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, work: "asyncio.Task[None]") -> None:
        if self._work is work:
            self._work = None
            self._is_giving_back = False
            self._show_restoring(False)
        has_caller = not self._is_accepted.is_set()  # who waits for the result, and logs it
        if not work.cancelled() and (fault := work.exception()) is not None and not has_caller:
            log.warning("a smart pause could not go on: %s", fault)
        self._is_accepted.set()

    async def send(self, order: Coroutine[Any, Any, None]) -> None:
        """An order that has begun is not interrupted: it might have arrived or not."""
        self._sending = sending = asyncio.ensure_future(order)
        sending.add_done_callback(_retrieve_exception)
        await asyncio.shield(sending)

    async def close(self) -> None:
        """End whatever is under way, and wait until the printer has heard what was being sent."""
        self._pause = None
        work, self._work = self._work, None
        if work is not None:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
        self._is_giving_back = False
        self._show_restoring(False)
        sending, self._sending = self._sending, None
        if sending is not None and not sending.done():
            await asyncio.wait({sending}, timeout=SENT_WITHIN_S)
            sending.cancel()

    def _show_restoring(self, is_shown: bool) -> None:
        if self.is_restoring is not is_shown:
            self.is_restoring = is_shown
            # Not from in here: the callback may report a change of the printer.
            asyncio.get_running_loop().call_soon(self._on_change)


def _retrieve_exception(sent: "asyncio.Future[None]") -> None:
    """Drop a fault that another order made meaningless."""
    if not sent.cancelled():
        sent.exception()
