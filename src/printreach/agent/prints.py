"""The watch over a printer's prints: which one is under way, and what happens to it."""

import asyncio
import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from msgspec import structs

from printreach.agent.outbox import Outbox
from printreach.contract.commands import Pause
from printreach.contract.events import PrintEvent
from printreach.contract.status import DetectorStatus, JobStatus, ServiceStatus
from printreach.contract.unset import UNSET
from printreach.printers.port import Printer, TellsOfChanges, Trouble, View
from printreach.rules.expected_pauses import expect_pause, forget_pause
from printreach.rules.prints import Sighting, smart_pause_sentence
from printreach.rules.transitions import (
    Moment,
    Observed,
    differs_durably,
    observe,
    observe_breakdown,
    observe_loss,
)

LOOK_EVERY_S: Final = 1.0
LOOK_AT_MOST_EVERY_S: Final = 0.1
"""However often a printer says that something has changed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PrintSenses:
    """steady_time: seconds that go on evenly. unix_time: this machine's time of day.
    service_time: the service's, None before the first sign-in. token_bytes: unguessable ones."""

    steady_time: Callable[[], float]
    unix_time: Callable[[], float]
    service_time: Callable[[], float | None]
    token_bytes: Callable[[int], bytes]


class Prints:
    """Looks at a printer, and writes down which print is which and what happens to it.

    detector: what the failure detector said of the print with this id. tell: is given the events
    as they happen, whether the service can be reached or not.
    """

    def __init__(
        self,
        printer: Printer,
        outbox: Outbox,
        senses: PrintSenses,
        *,
        detector: Callable[[str], DetectorStatus],
        tell: Callable[[Sequence[PrintEvent]], None] = lambda _: None,
    ) -> None:
        self._printer = printer
        self._tell = tell
        self._outbox = outbox
        self._senses = senses
        self._detector = detector
        # Even, and about right over a restart: what is remembered has instants in it.
        self._steady_offset_s = senses.unix_time() - senses.steady_time()
        self._was_away = True
        self._seen: View | None = None
        self._changed = asyncio.Event()
        self._mark = outbox.mark

    def service_status(self) -> ServiceStatus:
        """What `ServiceStatus` says of the latest print, as the printer's view is now.

        The view may have changed since the last look: whoever is told of a state is told of the
        print that it belongs to.
        """
        if self._printer.view is not self._seen:
            self.look()
        return ServiceStatus(
            most_recent_print_id_str=self._mark.print_id,
            print_start_time_sec=self._mark.started_at,
            detector=self._detector(self._mark.print_id),
            show_smart_pause_popup=True if self._mark.memory.shows_popup else UNSET,
        )

    def smart_pause_popup(self) -> str:
        """What to show of the smart pause that holds, as a sentence; "" where there is no popup."""
        if not self._mark.memory.shows_popup:
            return ""
        return smart_pause_sentence(self._printer.view.job.current_print.temps)

    def resume_ordered(self) -> None:
        """The printer has accepted a resume: there is nothing to explain any more."""
        if self._mark.memory.shows_popup:
            memory = replace(self._mark.memory, shows_popup=False)
            self._mark = replace(self._mark, memory=memory)
            self._outbox.put(self._mark, ())

    def expect_pause(self, order: Pause) -> Callable[[], None]:
        """A pause is about to be ordered; call what this gives where the printer refuses it."""
        before = self._mark
        expected = self._mark = expect_pause(before, order, self._at())
        self._outbox.put(self._mark, ())

        def refused() -> None:
            self._mark = forget_pause(self._mark, expected, before)
            self._outbox.put(self._mark, ())

        return refused

    async def watch(self) -> None:
        """Look until cancelled: each second, and at each change of which the printer tells."""
        printer = self._printer
        if isinstance(printer, TellsOfChanges):
            printer.on_change(self._changed.set)
        while True:
            self._changed.clear()
            self.look()
            await self._outbox.save()
            await asyncio.sleep(LOOK_AT_MOST_EVERY_S)
            try:
                async with asyncio.timeout(LOOK_EVERY_S - LOOK_AT_MOST_EVERY_S):
                    await self._changed.wait()
            except TimeoutError:
                pass  # time to look, then

    def look(self) -> None:
        """What is new is in the outbox then, and not saved yet."""
        view = self._seen = self._printer.view
        if view.trouble is not None:
            observed = self._lost(view.trouble)
            self._was_away = True
        else:
            observed = observe(self._mark, _sighting_of(view), self._moment())
            self._was_away = False
        self._note(observed)

    def _lost(self, trouble: Trouble) -> Observed:
        if trouble.is_fault:
            return observe_breakdown(self._mark, trouble.sentence, self._moment())
        return observe_loss(
            self._mark, trouble.sentence, self._moment(), ends_prints=trouble.has_lost_firmware
        )

    def _note(self, observed: Observed) -> None:
        before, self._mark = self._mark, observed.mark
        if observed.events or differs_durably(before, self._mark):
            self._outbox.put(self._mark, observed.events)
            self._tell(observed.events)

    def _moment(self) -> Moment:
        unix_s = self._senses.service_time()
        return Moment(
            steady_s=self._at(),
            unix_s=max(0, int(self._senses.unix_time() if unix_s is None else unix_s)),
            new_id=self._new_id,
            was_away=self._was_away,
        )

    def _at(self) -> float:
        return self._senses.steady_time() + self._steady_offset_s

    def _new_id(self) -> str:
        return base64.b32encode(self._senses.token_bytes(15)).decode("ascii").lower()


def _sighting_of(view: View) -> Sighting:
    return Sighting(
        job=_encodable(view.job),
        need=view.need,
        height_mm=view.height_mm,
        z_offset_mm=view.z_offset_mm,
        error_code=view.error_code,
    )


def _encodable(job: JobStatus) -> JobStatus:
    """Without halves of characters, which printers may send and no file takes."""
    name, error = job.current_print.file_name, job.error
    clean_name, clean_error = _clean(name), None if error is None else _clean(error)
    if clean_name == name and clean_error == error:
        return job
    current = structs.replace(job.current_print, file_name=clean_name)
    return structs.replace(job, current_print=current, error=clean_error)


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
