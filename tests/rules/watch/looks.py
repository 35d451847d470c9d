"""Looks at a printer, one after another, and the events that follow."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from msgspec import structs

from printreach.contract.events import EventType, PrintEvent
from printreach.contract.status import CurrentPrint, JobStatus, State, Temps
from printreach.rules.prints import Need, PrintObservation, TrackedPrint
from printreach.rules.prints.transitions import (
    Moment,
    PrintUpdate,
    observe,
    observe_breakdown,
    observe_loss,
)

NOON_S = 1_800_000_000


def job(state: State, **of_print: object) -> JobStatus:
    """A job whose print is called a.gcode unless said otherwise."""
    known = CurrentPrint(file_name="a.gcode")
    return JobStatus(state=state, current_print=structs.replace(known, **of_print))


def numbered_ids() -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"id-{next(numbers):08}"


@dataclass
class PrintObserver:
    """Looks at a printer every so many seconds, and keeps what it has been told."""

    tracked: TrackedPrint = field(default_factory=TrackedPrint)
    at: float = 1000.0
    new_id: Callable[[], str] = field(default_factory=numbered_ids)
    told: list[PrintEvent] = field(default_factory=list)
    has_gap: bool = True

    def look(
        self,
        state: State,
        *,
        after_s: float = 1.0,
        need: Need | None = None,
        error: str | None = None,
        height_mm: float | None = None,
        bed_c: float = 0.0,
        hotend_c: float = 0.0,
        **of_print: object,
    ) -> list[EventType]:
        """What this look tells of."""
        self.at += after_s
        temps = Temps(bed_actual=bed_c, hotend_actual=hotend_c)
        seen = structs.replace(job(state, temps=temps, **of_print), error=error)
        observation = PrintObservation(job=seen, need=need, height_mm=height_mm)
        return self._keep(observe(self.tracked, observation, self._moment()))

    def lose(
        self, sentence: str = "It is gone.", *, after_s: float = 1.0, ends_prints: bool = False
    ) -> list[EventType]:
        self.at += after_s
        moment = self._moment()
        self.has_gap = True
        return self._keep(observe_loss(self.tracked, sentence, moment, ends_prints=ends_prints))

    def break_down(self, sentence: str = "It has shut down.") -> list[EventType]:
        self.at += 1.0
        return self._keep(observe_breakdown(self.tracked, sentence, self._moment()))

    def restart(self) -> None:
        """The agent ends and starts again, with what it had written down."""
        self.has_gap = True

    def printing(
        self,
        *,
        seconds: int = 1,
        progress: float = 0.0,
        duration_sec: int = 0,
        current_layer: int | None = None,
    ) -> list[EventType]:
        """Printing for so long, looked at each second."""
        told = []
        for _ in range(seconds):
            told += self.look(
                State.PRINTING,
                progress=progress,
                duration_sec=duration_sec,
                current_layer=current_layer,
            )
        return told

    def _moment(self) -> Moment:
        has_gap, self.has_gap = self.has_gap, False
        unix_s = NOON_S + int(self.at)
        return Moment(steady_s=self.at, unix_s=unix_s, new_id=self.new_id, has_gap=has_gap)

    def _keep(self, update: PrintUpdate) -> list[EventType]:
        self.tracked = update.tracked
        self.told += update.events
        return [EventType(one.event_type) for one in update.events]


def watching_idle() -> PrintObserver:
    """Has looked once, at a printer that does nothing."""
    looker = PrintObserver()
    assert looker.look(State.IDLE, file_name="") == []
    return looker


def watching_print() -> PrintObserver:
    """Has seen a print begin."""
    looker = watching_idle()
    assert looker.look(State.PRINTING) == [EventType.STARTED]
    looker.told.clear()
    return looker


def restarted(looker: PrintObserver) -> PrintObserver:
    """Another agent with the same memory."""
    return replace(looker, has_gap=True, told=[])
