"""Compares two successive observations of a printer, and derives the events in between.

The platform decides the state: any state may follow any other, and is reported. Only events follow
the table of states: a print starts, pauses, resumes, and ends as complete, cancelled or failed. A
print that disappears without one of these ends was lost with the firmware, its host or the power,
and counts as failed, so that every start that was reported is followed by an end.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from printreach.contract.events import MAX_TEXT, EventType, PrintEvent
from printreach.contract.status import CurrentPrint, JobStatus, State
from printreach.contract.unset import UNSET
from printreach.languages import N_, in_english
from printreach.rules.prints import (
    NeedKind,
    PrintMemory,
    PrintObservation,
    TrackedPrint,
    is_expected,
    observe_print,
)
from printreach.rules.prints.event_facts import facts_of
from printreach.rules.prints.layers import LayerDone, LayerMemory, estimate_layer, observe_layer
from printreach.rules.safe_text import readable

NEED_EVERY_S: Final = 300.0
ERROR_EVERY_S: Final = 1800.0
LOSS_AFTER_S: Final = 60.0
"""A printer that is out of reach for less is not reported."""
GONE_AFTER_S: Final = 10.0
"""The time for which a printer may report no print before the one under way counts as over: some
report nothing for a moment after reconnecting."""
DONE_PERCENT: Final = 99.5
"""A print that had reached this when it was last observed is taken for complete."""
COOL_C: Final = 40.0
COOLING_S: Final = 3600.0
COOL_AFTER_S: Final = 5.0
"""A single reading is not enough."""
RECENT_PRINT_S: Final = 120
"""The start of a print that began unobserved is reported if it has taken no longer than this."""
_HOT_C: Final = 150.0
_MAX_ERRORS: Final = 16

CANCELLED: Final = "cancelled"
_AGENT_WAS_OFF: Final = "the agent was not running"
_NEEDS: Final = {
    NeedKind.FILAMENT: EventType.FILAMENT_CHANGE_REQUIRED,
    NeedKind.ATTENTION: EventType.USER_INTERACTION_REQUIRED,
}
_LAYERS: Final = {
    LayerDone.FIRST: EventType.FIRST_LAYER_COMPLETE,
    LayerDone.THIRD: EventType.THIRD_LAYER_COMPLETE,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """The context of an observation.

    steady_s: see PrintMemory. unix_s: the time of day, for people. new_id: makes ids. has_gap: the
    printer was not observed since the last time: the agent has just started, or it was unreachable.
    """

    steady_s: float
    unix_s: int
    new_id: Callable[[], str]
    has_gap: bool = False


@dataclass(frozen=True, slots=True)
class PrintUpdate:
    """The tracked print after an observation, and the events since the one before, in order."""

    tracked: TrackedPrint
    events: tuple[PrintEvent, ...] = ()


def observe(before: TrackedPrint, observation: PrintObservation, now: Moment) -> PrintUpdate:
    """Update the tracked print by the next observation of the printer."""
    if before.is_under_way and observation.job.state is State.IDLE:
        before = _reported_gone(before, now)
        if now.steady_s - (before.memory.gone_at or 0.0) < GONE_AFTER_S:
            return PrintUpdate(before)
    tracked = observe_print(before, observation.job, now.unix_s, now.new_id, has_gap=now.has_gap)
    is_new = tracked.print_id != before.print_id
    is_reported = _is_reported(before.memory, observation.job, now)
    is_quiet = before.memory.state is None or (is_new and not is_reported)
    memory = _memory_of_new(before.memory) if is_new else before.memory
    change = _Change(tracked, memory, observation, now, is_quiet=is_quiet)
    if before.is_under_way and (is_new or observation.job.state is State.IDLE):
        change.events += _unreported_end(before, now)
    if is_new and is_reported:
        change.tell(EventType.STARTED)
    if tracked.is_under_way:
        change.pausing()
        change.progress()
        change.layers()
        change.needs()
    elif before.is_under_way:
        change.ending()
    change.errors()
    change.cooling()
    return change.result()


def observe_loss(
    before: TrackedPrint, sentence: str, now: Moment, *, ends_prints: bool = False
) -> PrintUpdate:
    """Update the tracked print of a printer that can't be reached. sentence: why, for people.

    ends_prints: the host that sends the print has itself lost the firmware, so no print survives.
    """
    memory = before.memory
    if not before.is_under_way or memory.has_told_loss:
        return PrintUpdate(before)
    if memory.lost_at is None or memory.lost_at > now.steady_s:
        because = memory.lost_because or (_AGENT_WAS_OFF if now.has_gap else sentence)
        memory = replace(memory, lost_at=now.steady_s, lost_because=because)
        return PrintUpdate(replace(before, memory=memory))
    if now.steady_s - memory.lost_at < LOSS_AFTER_S:
        return PrintUpdate(before)
    if ends_prints:
        return observe_breakdown(before, sentence, now)
    observation = _last_seen(before)
    change = _Change(before, replace(memory, has_told_loss=True), observation, now, is_quiet=False)
    change.tell_error(sentence)
    return PrintUpdate(replace(before, memory=change.memory), tuple(change.events))


def observe_breakdown(before: TrackedPrint, sentence: str, now: Moment) -> PrintUpdate:
    """Update the tracked print after a fault of the printer's own software, in its words."""
    return observe(before, _last_seen(before, state=State.ERROR, error=sentence), now)


def differs_durably(before: TrackedPrint, after: TrackedPrint) -> bool:
    """Whether the memory has changed in a way that must survive a restart.

    The rest (progress, how long a layer has lasted) changes all the time, and is written along.
    """
    return _durable(before) != _durable(after)


def _durable(tracked: TrackedPrint) -> TrackedPrint:
    m = tracked.memory
    layers = LayerMemory(is_first_done=m.layers.is_first_done, is_third_done=m.layers.is_third_done)
    memory = replace(
        m,
        progress=0.0,
        duration_sec=0,
        layers=layers,
        lost_at=None,
        gone_at=None,
        lost_because="",
        cool_since=None,
    )
    return replace(tracked, memory=memory)


def _reported_gone(before: TrackedPrint, now: Moment) -> TrackedPrint:
    """Note since when the printer reports no print, and a possible reason."""
    memory = before.memory
    gone_at = memory.gone_at
    if gone_at is None or gone_at > now.steady_s:
        gone_at = now.steady_s
    because = memory.lost_because or (_AGENT_WAS_OFF if now.has_gap else "")
    memory = replace(
        memory, gone_at=gone_at, lost_because=because, lost_at=None, has_told_loss=False
    )
    return replace(before, memory=memory)


def _unreported_end(before: TrackedPrint, now: Moment) -> list[PrintEvent]:
    """Return the events of a print that ended without the printer reporting how."""
    memory = before.memory
    change = _Change(before, memory, _last_seen(before), now, is_quiet=False)
    because = memory.lost_because or (_AGENT_WAS_OFF if now.has_gap else "")
    if memory.progress >= DONE_PERCENT:
        change.tell(EventType.COMPLETE)
        return change.events
    text = N_("The printer ended the print and reported no reason.")
    if because == _AGENT_WAS_OFF:
        text = N_("The print ended while the agent was not running; how is not known.")
    elif because:
        text = in_english("The print was lost. %(sentence)s", sentence=because)
    change.tell(EventType.FAILED, text)
    return change.events


def _last_seen(
    tracked: TrackedPrint, *, state: State | None = None, error: str | None = None
) -> PrintObservation:
    """Rebuild the last observation of the print, in its state then or in the given one."""
    memory = tracked.memory
    last = CurrentPrint(
        progress=memory.progress, duration_sec=memory.duration_sec, file_name=tracked.file_name
    )
    state = state or memory.state or State.IDLE
    return PrintObservation(job=JobStatus(state=state, error=error, current_print=last))


def _memory_of_new(old: PrintMemory) -> PrintMemory:
    """Return what carries over to a new print: the throttles, which belong to the printer."""
    return PrintMemory(
        state=old.state,
        need=old.need,
        need_at=old.need_at,
        error=old.error,
        errors=old.errors,
        silent_until=old.silent_until,
        popup_until=old.popup_until,
    )


def _is_reported(memory: PrintMemory, job: JobStatus, now: Moment) -> bool:
    """Whether a start is reported: not for a print that was first seen long after it began."""
    if memory.state is None:
        return False
    return not now.has_gap or job.current_print.duration_sec <= RECENT_PRINT_S


class _Change:
    """One observation, evaluated part by part.

    is_quiet: the first observation found the print under way: record its progress, emit no events.
    """

    def __init__(
        self,
        tracked: TrackedPrint,
        memory: PrintMemory,
        observation: PrintObservation,
        now: Moment,
        *,
        is_quiet: bool,
    ) -> None:
        self.tracked = tracked
        self.memory = memory
        self.observation = observation
        self.now = now
        self.events: list[PrintEvent] = []
        self._is_quiet = is_quiet

    @property
    def state(self) -> State:
        return self.observation.job.state

    def tell(self, kind: EventType, error: str = "") -> None:
        facts = facts_of(self.tracked, self.observation)
        code = self.observation.error_code if error else ""
        self.events.append(
            PrintEvent(
                event_id=self.now.new_id(),
                event_type=kind,
                event_time_sec=self.now.unix_s,
                error=readable(error, MAX_TEXT) or UNSET,
                platform_error_code=readable(code, 64) or UNSET,
                **facts,
            )
        )

    def tell_error(self, text: str) -> None:
        """Emit an error event, for the same text at most once in half an hour."""
        at = self.now.steady_s
        recent = {
            one: when for one, when in self.memory.errors.items() if 0 <= at - when < ERROR_EVERY_S
        }
        if text not in recent:
            self.tell(EventType.ERROR, text)
        newest = sorted((recent | {text: recent.get(text, at)}).items(), key=lambda error: error[1])
        self.memory = replace(self.memory, errors=dict(newest[-_MAX_ERRORS:]))

    def pausing(self) -> None:
        memory, at = self.memory, self.now.steady_s
        if self.state is State.PAUSED and not memory.is_paused:
            if not is_expected(memory.silent_until, at) and not self._is_quiet:
                self.tell(EventType.PAUSED)
            self.memory = replace(
                memory,
                is_paused=True,
                silent_until=None,
                popup_until=None,
                shows_popup=is_expected(memory.popup_until, at),
            )
        elif memory.shows_popup and self.state is State.RESUMING:
            self.memory = replace(memory, shows_popup=False)
        elif memory.is_paused and self.state in (State.PRINTING, State.WARMING_UP):
            self.tell(EventType.RESUMED)
            self.memory = replace(memory, is_paused=False, shows_popup=False)

    def progress(self) -> None:
        """Evaluate progress while it prints; before, the numbers may be of the previous print."""
        if not self._counts():
            return
        now, memory = self.observation.job.current_print, self.memory
        decile, hours = min(int(now.progress // 10), 9), now.duration_sec // 3600
        has_news = decile > memory.decile or hours > memory.hours
        if has_news and not self._is_quiet:
            self.tell(EventType.PROGRESS)
        self.memory = replace(
            memory,
            progress=now.progress,
            duration_sec=now.duration_sec,
            decile=max(decile, memory.decile),
            hours=max(hours, memory.hours),
        )

    def layers(self) -> None:
        memory, now = self.memory.layers, self.observation.job.current_print
        if not self._counts():  # the time of a pause does not count
            waiting = replace(memory, since=None, window_mm=None)
            self.memory = replace(self.memory, layers=waiting)
            return
        layer, height_mm = now.current_layer, self.observation.height_mm
        if layer is None and self._is_quiet:  # the height alone does not tell where it began
            memory = LayerMemory(is_first_done=True, is_third_done=True)
        elif layer is None and height_mm is not None and now.temps.hotend_actual >= _HOT_C:
            memory, layer = estimate_layer(memory, height_mm)
        has_gap = self.now.has_gap or self._is_quiet
        memory, done = observe_layer(memory, layer, self.now.steady_s, has_gap=has_gap)
        if done is not None:
            self.tell(_LAYERS[done])
        self.memory = replace(self.memory, layers=memory)

    def needs(self) -> None:
        """Report a need when it appears; both kinds of needs share one throttle."""
        memory, need, at = self.memory, self.observation.need, self.now.steady_s
        kind = need.kind if need is not None else None
        if need is not None and kind is not memory.need and not self._is_quiet:
            since_s = None if memory.need_at is None else at - memory.need_at
            if since_s is None or not 0 <= since_s < NEED_EVERY_S:
                self.tell(_NEEDS[need.kind], need.text)
                memory = replace(memory, need_at=at)
        self.memory = replace(memory, need=kind)

    def ending(self) -> None:
        """Report an end that the printer reports; see _unreported_end for the others."""
        job = self.observation.job
        if self.state is State.COMPLETE:
            self.tell(EventType.COMPLETE)
        elif self.state is State.CANCELLED:
            self.tell(EventType.FAILED, CANCELLED)
        elif self.state is State.ERROR:
            text = job.error or N_("The print failed.")
            self.tell(EventType.FAILED, text)
            errors = dict(self.memory.errors) | {text: self.now.steady_s}
            self.memory = replace(self.memory, error=text, errors=errors)
        self.memory = replace(
            self.memory,
            is_paused=False,
            need=None,
            silent_until=None,
            popup_until=None,
            shows_popup=False,
        )
        if job.current_print.temps.bed_actual >= COOL_C:
            until = self.now.steady_s + COOLING_S
            self.memory = replace(self.memory, cooling_until=until, cool_since=None)

    def errors(self) -> None:
        text = self.observation.job.error or ""
        if text and text != self.memory.error and not self._is_quiet:
            self.tell_error(text)
        self.memory = replace(self.memory, error=text)

    def cooling(self) -> None:
        memory, at = self.memory, self.now.steady_s
        if memory.cooling_until is None:
            return
        left_s = memory.cooling_until - at
        if not 0 <= left_s <= 2 * COOLING_S:  # otherwise the clock was set back
            self.memory = replace(memory, cooling_until=None, cool_since=None)
            return
        bed_c = self.observation.job.current_print.temps.bed_actual
        if not 0 < bed_c < COOL_C:
            self.memory = replace(memory, cool_since=None)
        elif memory.cool_since is None or memory.cool_since > at:
            self.memory = replace(memory, cool_since=at)
        elif at - memory.cool_since >= COOL_AFTER_S:
            self.tell(EventType.BED_COOLED_DOWN)
            self.memory = replace(memory, cooling_until=None, cool_since=None)

    def result(self) -> PrintUpdate:
        memory = replace(
            self.memory,
            state=self.state,
            lost_at=None,
            has_told_loss=False,
            gone_at=None,
            lost_because="",
        )
        return PrintUpdate(replace(self.tracked, memory=memory), tuple(self.events))

    def _counts(self) -> bool:
        is_found_paused = self._is_quiet and self.state in (State.PAUSED, State.RESUMING)
        return self.state is State.PRINTING or is_found_paused
