"""Tracks a printer's prints: which one is under way, and which events it causes."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from msgspec import structs

from printreach.agent.outbox import Outbox
from printreach.contract.commands import Pause
from printreach.contract.events import PrintEvent
from printreach.contract.status import UNDER_WAY, DetectorStatus, JobStatus, ServiceStatus
from printreach.contract.unset import UNSET
from printreach.printers.port import Printer, Trouble, View
from printreach.rules.connections.credentials import base32_text
from printreach.rules.prints import (
    PrintObservation,
    expect_pause,
    forget_pause,
    smart_pause_sentence,
)
from printreach.rules.prints.transitions import (
    Moment,
    PrintUpdate,
    differs_durably,
    observe,
    observe_breakdown,
    observe_loss,
)

LOOK_EVERY_S: Final = 1.0
MIN_LOOK_INTERVAL_S: Final = 0.1
"""The shortest interval, however often a printer reports a change."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TrackerEnvironment:
    """Clocks and randomness for the tracker.

    steady_time: monotonic seconds. unix_time: this machine's time of day. service_time: the
    service's time of day, None before the first sign-in. token_bytes: unguessable bytes.
    """

    steady_time: Callable[[], float]
    unix_time: Callable[[], float]
    service_time: Callable[[], float | None]
    token_bytes: Callable[[int], bytes]


class PrintTracker:
    """Observes a printer, and writes its tracked print and events to the outbox.

    detector: returns the failure detector's status for the print with this id. tell: is called with
    the events as they happen, whether the service can be reached or not.
    """

    def __init__(
        self,
        printer: Printer,
        outbox: Outbox,
        environment: TrackerEnvironment,
        *,
        detector: Callable[[str], DetectorStatus],
        tell: Callable[[Sequence[PrintEvent]], None] = lambda _: None,
    ) -> None:
        self._printer = printer
        self._tell = tell
        self._outbox = outbox
        self._environment = environment
        self._detector = detector
        # Monotonic, and about right across a restart: the stored memory contains such instants.
        self._steady_offset_s = environment.unix_time() - environment.steady_time()
        self._has_gap = True
        self._observed: View | None = None
        self._changed = asyncio.Event()
        self._tracked = outbox.tracked

    def service_status(self) -> ServiceStatus:
        """Return the `ServiceStatus` of the latest print, as the printer's view is now.

        The view may have changed since the last observation, so a new view is observed first: a
        state is always reported with the print that it belongs to.
        """
        if self._printer.view is not self._observed:
            self.observe()
        return ServiceStatus(
            most_recent_print_id_str=self._tracked.print_id,
            print_start_time_sec=self._tracked.started_at,
            detector=self._detector(self._tracked.print_id),
            show_smart_pause_popup=True if self._tracked.memory.shows_popup else UNSET,
        )

    def smart_pause_popup(self) -> str:
        """Return the popup's sentence for the current smart pause; "" where there is no popup."""
        if not self._tracked.memory.shows_popup:
            return ""
        return str(smart_pause_sentence(self._printer.view.job.current_print.temps))

    def resume_ordered(self) -> None:
        """Take down the popup: the printer has accepted a resume."""
        if self._tracked.memory.shows_popup:
            memory = replace(self._tracked.memory, shows_popup=False)
            self._tracked = replace(self._tracked, memory=memory)
            self._outbox.put(self._tracked, ())

    def expect_pause(self, order: Pause) -> Callable[[], None]:
        """Note a pause that is about to be ordered; call the result if the printer refuses it."""
        before = self._tracked
        expected = self._tracked = expect_pause(before, order, self._at())
        self._outbox.put(self._tracked, ())

        def refused() -> None:
            self._tracked = forget_pause(self._tracked, expected, before)
            self._outbox.put(self._tracked, ())

        return refused

    async def run(self) -> None:
        """Observe until cancelled: every second, and at each change that the printer reports."""
        self._printer.on_change(self._on_change)
        while True:
            self._changed.clear()
            self.observe()
            await self._outbox.save()
            await asyncio.sleep(MIN_LOOK_INTERVAL_S)
            try:
                async with asyncio.timeout(LOOK_EVERY_S - MIN_LOOK_INTERVAL_S):
                    await self._changed.wait()
            except TimeoutError:
                pass  # the interval is over

    def _on_change(self) -> None:
        """Observe a start or an end of a print at once: it may show for a moment only."""
        before, view = self._observed, self._printer.view
        if before is not None and _is_under_way(before) != _is_under_way(view):
            self.observe()
        self._changed.set()

    def observe(self) -> None:
        """Observe the printer once, and put what is new into the outbox without saving it."""
        view = self._observed = self._printer.view
        if view.trouble is not None:
            update = self._lost(view.trouble)
            self._has_gap = True
        else:
            update = observe(self._tracked, _observation_of(view), self._moment())
            self._has_gap = False
        self._note(update)

    def _lost(self, trouble: Trouble) -> PrintUpdate:
        if trouble.is_fault:
            return observe_breakdown(self._tracked, trouble.sentence, self._moment())
        return observe_loss(
            self._tracked,
            trouble.sentence,
            self._moment(),
            ends_prints=trouble.has_lost_firmware,
        )

    def _note(self, update: PrintUpdate) -> None:
        before, self._tracked = self._tracked, update.tracked
        if update.events or differs_durably(before, self._tracked):
            self._outbox.put(self._tracked, update.events)
            self._tell(update.events)

    def _moment(self) -> Moment:
        unix_s = self._environment.service_time()
        return Moment(
            steady_s=self._at(),
            unix_s=max(0, int(self._environment.unix_time() if unix_s is None else unix_s)),
            new_id=self._new_id,
            has_gap=self._has_gap,
        )

    def _at(self) -> float:
        return self._environment.steady_time() + self._steady_offset_s

    def _new_id(self) -> str:
        return base32_text(self._environment.token_bytes(15))


def _is_under_way(view: View) -> bool:
    return view.trouble is None and view.job.state in UNDER_WAY


def _observation_of(view: View) -> PrintObservation:
    return PrintObservation(
        job=_encodable(view.job),
        need=view.need,
        height_mm=view.height_mm,
        z_offset_mm=view.z_offset_mm,
        error_code=view.error_code,
    )


def _encodable(job: JobStatus) -> JobStatus:
    """Replace lone surrogates, which printers may send and no file can hold."""
    name, error = job.current_print.file_name, job.error
    clean_name, clean_error = _clean(name), None if error is None else _clean(error)
    if clean_name == name and clean_error == error:
        return job
    current = structs.replace(job.current_print, file_name=clean_name)
    return structs.replace(job, current_print=current, error=clean_error)


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
