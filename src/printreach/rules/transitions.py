"""Two successive looks at a printer, and what happened to its print in between.

The platform is the truth: any state may follow any other, and is reported. Only events follow the
table of states: a print starts, pauses, resumes, and ends as complete, cancelled or failed. A print
that is gone without having ended in one of these ways was lost, with the firmware, its host or the
power, and has failed: whoever was told of its start is told of its end.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from printreach.contract.events import MAX_TEXT, EventType, PrintEvent
from printreach.contract.status import CurrentPrint, JobStatus, State
from printreach.contract.unset import UNSET
from printreach.rules.event_facts import facts_of, readable
from printreach.rules.expected_pauses import is_expected
from printreach.rules.layers import LayerDone, LayerMemory, observe_layer, reckon_layer
from printreach.rules.prints import (
    Memory,
    NeedKind,
    PrintMark,
    Sighting,
    observe_print,
)

NEED_EVERY_S: Final = 300.0
ERROR_EVERY_S: Final = 1800.0
LOSS_S: Final = 60.0
"""A printer out of reach for less is no news."""
GONE_S: Final = 10.0
"""How long a printer may report no print before the one under way is over: some report nothing for
a moment after a connection was made anew."""
DONE_PERCENT: Final = 99.5
"""A print that had come so far when it was last seen is taken for complete."""
COOL_C: Final = 40.0
COOLING_S: Final = 3600.0
COOL_FOR_S: Final = 5.0
"""One reading is none."""
YOUNG_S: Final = 120
"""A print that began while nobody looked is told of as long as it has taken no longer."""
_HOT_C: Final = 150.0
_MAX_ERRORS: Final = 16

CANCELLED: Final = "cancelled"
_NOBODY_LOOKED: Final = "the agent was not running"
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
    """steady_s: see Memory. unix_s: the time of day, for people. new_id: makes ids.

    was_away: since the last look nobody watched: the agent has just started, or the printer was
    out of reach.
    """

    steady_s: float
    unix_s: int
    new_id: Callable[[], str]
    was_away: bool = False


@dataclass(frozen=True, slots=True)
class Observed:
    """The mark after a look, and what happened since the one before, in its order."""

    mark: PrintMark
    events: tuple[PrintEvent, ...] = ()


def observe(before: PrintMark, seen: Sighting, now: Moment) -> Observed:
    """What the next look at the printer tells."""
    if before.is_under_way and seen.job.state is State.IDLE:
        before = _reported_gone(before, now)
        if now.steady_s - (before.memory.gone_at or 0.0) < GONE_S:
            return Observed(before)
    mark = observe_print(before, seen.job, now.unix_s, now.new_id, was_away=now.was_away)
    is_new = mark.print_id != before.print_id
    is_told_of = _is_told_of(before.memory, seen.job, now)
    is_quiet = before.memory.state is None or (is_new and not is_told_of)
    memory = _memory_of_new(before.memory) if is_new else before.memory
    change = _Change(mark, memory, seen, now, is_quiet=is_quiet)
    if before.is_under_way and (is_new or seen.job.state is State.IDLE):
        change.events += _unseen_end(before, now)
    if is_new and is_told_of:
        change.tell(EventType.STARTED)
    if mark.is_under_way:
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
    before: PrintMark, sentence: str, now: Moment, *, ends_prints: bool = False
) -> Observed:
    """What it tells that the printer can't be reached. sentence: why not, for people.

    ends_prints: the firmware itself is out of reach of what sends it the print, so that no print
    outlasts this.
    """
    memory = before.memory
    if not before.is_under_way or memory.has_told_loss:
        return Observed(before)
    if memory.lost_at is None or memory.lost_at > now.steady_s:
        because = memory.lost_because or (_NOBODY_LOOKED if now.was_away else sentence)
        memory = replace(memory, lost_at=now.steady_s, lost_because=because)
        return Observed(replace(before, memory=memory))
    if now.steady_s - memory.lost_at < LOSS_S:
        return Observed(before)
    if ends_prints:
        return observe_breakdown(before, sentence, now)
    seen = _last_seen(before)
    change = _Change(before, replace(memory, has_told_loss=True), seen, now, is_quiet=False)
    change.tell_error(sentence)
    return Observed(replace(before, memory=change.memory), tuple(change.events))


def observe_breakdown(before: PrintMark, sentence: str, now: Moment) -> Observed:
    """What it tells that the printer's own software has broken down. sentence: its words."""
    return observe(before, _last_seen(before, state=State.ERROR, error=sentence), now)


def differs_durably(before: PrintMark, after: PrintMark) -> bool:
    """Whether what is remembered has changed in a way that a restart must not forget.

    The rest (how far it came, since when a layer lasts) changes all the time, and is written along.
    """
    return _durable(before) != _durable(after)


def _durable(mark: PrintMark) -> PrintMark:
    m = mark.memory
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
    return replace(mark, memory=memory)


def _reported_gone(before: PrintMark, now: Moment) -> PrintMark:
    """The same print, with since when its printer reports none, and why that may be."""
    memory = before.memory
    gone_at = memory.gone_at
    if gone_at is None or gone_at > now.steady_s:
        gone_at = now.steady_s
    because = memory.lost_because or (_NOBODY_LOOKED if now.was_away else "")
    memory = replace(
        memory, gone_at=gone_at, lost_because=because, lost_at=None, has_told_loss=False
    )
    return replace(before, memory=memory)


def _unseen_end(before: PrintMark, now: Moment) -> list[PrintEvent]:
    """The end of a print that its printer neither finished, cancelled nor reported a fault of."""
    memory = before.memory
    change = _Change(before, memory, _last_seen(before), now, is_quiet=False)
    because = memory.lost_because or (_NOBODY_LOOKED if now.was_away else "")
    if memory.progress >= DONE_PERCENT:
        change.tell(EventType.COMPLETE)
    elif because == _NOBODY_LOOKED:
        change.tell(EventType.FAILED, f"The print ended while {because}; how is not known.")
    elif because:
        change.tell(EventType.FAILED, f"The print was lost. {because}")
    else:
        change.tell(EventType.FAILED, "The printer ended the print and reported no reason.")
    return change.events


def _last_seen(
    mark: PrintMark, *, state: State | None = None, error: str | None = None
) -> Sighting:
    """The print as it was when it was last seen, in its state of then or in another one."""
    memory = mark.memory
    last = CurrentPrint(
        progress=memory.progress, duration_sec=memory.duration_sec, file_name=mark.file_name
    )
    state = state or memory.state or State.IDLE
    return Sighting(job=JobStatus(state=state, error=error, current_print=last))


def _memory_of_new(old: Memory) -> Memory:
    """What outlives a print: throttles, which are the printer's."""
    return Memory(
        state=old.state,
        need=old.need,
        need_at=old.need_at,
        error=old.error,
        errors=old.errors,
        silent_until=old.silent_until,
        popup_until=old.popup_until,
    )


def _is_told_of(memory: Memory, job: JobStatus, now: Moment) -> bool:
    """Of a print that was under way before anybody ever looked, or for long, nothing is said."""
    if memory.state is None:
        return False
    return not now.was_away or job.current_print.duration_sec <= YOUNG_S


class _Change:
    """One look, worked through part by part.

    is_quiet: a print is found in its midst; what it has come to is learned and no news.
    """

    def __init__(
        self, mark: PrintMark, memory: Memory, seen: Sighting, now: Moment, *, is_quiet: bool
    ) -> None:
        self.mark = mark
        self.memory = memory
        self.seen = seen
        self.now = now
        self.events: list[PrintEvent] = []
        self._is_quiet = is_quiet

    @property
    def state(self) -> State:
        return self.seen.job.state

    def tell(self, kind: EventType, error: str = "") -> None:
        facts = facts_of(self.mark, self.seen)
        code = self.seen.error_code if error else ""
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
        """The same text at most once in half an hour."""
        at = self.now.steady_s
        recent = {
            one: when for one, when in self.memory.errors.items() if 0 <= at - when < ERROR_EVERY_S
        }
        if text not in recent:
            self.tell(EventType.ERROR, text)
        newest = sorted((recent | {text: recent.get(text, at)}).items(), key=lambda one: one[1])
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
        """Numbers count while it prints: before, they may be those of the print before."""
        if not self._counts():
            return
        now, memory = self.seen.job.current_print, self.memory
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
        memory, now = self.memory.layers, self.seen.job.current_print
        if not self._counts():  # a layer that waits through a pause has not lasted
            waiting = replace(memory, since=None, window_mm=None)
            self.memory = replace(self.memory, layers=waiting)
            return
        layer, height_mm = now.current_layer, self.seen.height_mm
        if layer is None and self._is_quiet:  # by its height alone nobody knows where it began
            memory = LayerMemory(is_first_done=True, is_third_done=True)
        elif layer is None and height_mm is not None and now.temps.hotend_actual >= _HOT_C:
            memory, layer = reckon_layer(memory, height_mm)
        was_away = self.now.was_away or self._is_quiet
        memory, done = observe_layer(memory, layer, self.now.steady_s, was_away=was_away)
        if done is not None:
            self.tell(_LAYERS[done])
        self.memory = replace(self.memory, layers=memory)

    def needs(self) -> None:
        """The first of a kind that stands; both kinds share one throttle."""
        memory, need, at = self.memory, self.seen.need, self.now.steady_s
        kind = need.kind if need is not None else None
        if need is not None and kind is not memory.need and not self._is_quiet:
            since_s = None if memory.need_at is None else at - memory.need_at
            if since_s is None or not 0 <= since_s < NEED_EVERY_S:
                self.tell(_NEEDS[need.kind], need.text)
                memory = replace(memory, need_at=at)
        self.memory = replace(memory, need=kind)

    def ending(self) -> None:
        """In one of the ways of the table; see _unseen_end for a print that is simply gone."""
        job = self.seen.job
        if self.state is State.COMPLETE:
            self.tell(EventType.COMPLETE)
        elif self.state is State.CANCELLED:
            self.tell(EventType.FAILED, CANCELLED)
        elif self.state is State.ERROR:
            text = job.error or "The print failed."
            self.tell(EventType.FAILED, text)
            told = dict(self.memory.errors) | {text: self.now.steady_s}
            self.memory = replace(self.memory, error=text, errors=told)
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
        text = self.seen.job.error or ""
        if text and text != self.memory.error and not self._is_quiet:
            self.tell_error(text)
        self.memory = replace(self.memory, error=text)

    def cooling(self) -> None:
        memory, at = self.memory, self.now.steady_s
        if memory.cooling_until is None:
            return
        left_s = memory.cooling_until - at
        if not 0 <= left_s <= 2 * COOLING_S:  # or else the clock was set back
            self.memory = replace(memory, cooling_until=None, cool_since=None)
            return
        bed_c = self.seen.job.current_print.temps.bed_actual
        if not 0 < bed_c < COOL_C:
            self.memory = replace(memory, cool_since=None)
        elif memory.cool_since is None or memory.cool_since > at:
            self.memory = replace(memory, cool_since=at)
        elif at - memory.cool_since >= COOL_FOR_S:
            self.tell(EventType.BED_COOLED_DOWN)
            self.memory = replace(memory, cooling_until=None, cool_since=None)

    def result(self) -> Observed:
        memory = replace(
            self.memory,
            state=self.state,
            lost_at=None,
            has_told_loss=False,
            gone_at=None,
            lost_because="",
        )
        return Observed(replace(self.mark, memory=memory), tuple(self.events))

    def _counts(self) -> bool:
        is_found_paused = self._is_quiet and self.state in (State.PAUSED, State.RESUMING)
        return self.state is State.PRINTING or is_found_paused
