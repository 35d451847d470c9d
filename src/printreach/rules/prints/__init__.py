"""The tracked print: when it begins, its id, what is remembered of it, and pauses it awaits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from printreach.contract.commands import Pause
from printreach.contract.events import MAX_PRINT_ID
from printreach.contract.status import UNDER_WAY, JobStatus, State, StatusResult, Temps
from printreach.languages import N_
from printreach.rules.prints.layers import LayerMemory

_FELL_BACK_S: Final = 60
_FELL_BACK_PERCENT: Final = 5.0

SILENCE_S: Final = 60.0
"""A pause that was ordered silently has to be observed within this time."""


class NeedKind(StrEnum):
    """The reasons for which a printer may need a person."""

    FILAMENT = "filament"
    """Filament has run out, or is to be changed."""
    ATTENTION = "attention"
    """Anything else: an answer, a plate to be cleared, a door to be closed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """The present reason to call a person. text: the printer's own words, if any."""

    kind: NeedKind
    text: str = ""


def print_id_under_way(status: StatusResult) -> str:
    """The id of the print under way; "" where nothing prints. What no event could name is no
    print."""
    is_under_way = status.job_status.state in UNDER_WAY
    print_id = status.service_status.most_recent_print_id_str
    return print_id if is_under_way and len(print_id) <= MAX_PRINT_ID else ""


def smart_pause_sentence(temps: Temps) -> str:
    """Return the sentence that explains a smart pause, by the targets that the printer reports."""
    hotend = N_("is off") if temps.hotend_target <= 0 else N_("stays hot")
    bed = N_("is off") if temps.bed_target <= 0 else N_("stays warm")
    return N_(
        "The hotend %(hotend)s and the bed %(bed)s. Resume heats what was turned off, "
        "then goes on.",
        hotend=hotend,
        bed=bed,
    )


def need_of_words(words: str) -> Need:
    """Classify a printer's question by its words."""
    is_filament = "filament" in words.lower()
    kind = NeedKind.FILAMENT if is_filament else NeedKind.ATTENTION
    return Need(kind=kind, text=words)


@dataclass(frozen=True, kw_only=True, slots=True)
class PrintObservation:
    """One status that was read from a printer.

    height_mm: of the nozzle above the bed. error_code: as the platform spells it, "" for none.
    """

    job: JobStatus
    need: Need | None = None
    height_mm: float | None = None
    z_offset_mm: float | None = None
    error_code: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class PrintMemory:
    """The last observation of a print, and the part of it that has been reported.

    state: None before the first observation. is_paused: a pause was observed. progress,
    duration_sec: the latest. decile, hours: the highest that were reported. need: the current one.
    need_at: when one was last reported. errors: texts and when each was reported. silent_until: a
    pause before then is not reported. popup_until: a pause before then is a smart pause whose popup
    is shown. shows_popup: such a pause is under way. lost_at: since when the printer has been
    unreachable. gone_at: since when it reports neither the print nor an end of it. lost_because:
    what may have ended it, as a sentence. cooling_until: how long the bed's temperature is checked.
    cool_since: since when the bed has been cool.

    Instants are seconds of a monotonic clock that is about right across a restart.
    """

    state: State | None = None
    is_paused: bool = False
    progress: float = 0.0
    duration_sec: int = 0
    decile: int = 0
    hours: int = 0
    layers: LayerMemory = field(default_factory=LayerMemory)
    need: NeedKind | None = None
    need_at: float | None = None
    error: str = ""
    errors: Mapping[str, float] = field(default_factory=dict)
    silent_until: float | None = None
    popup_until: float | None = None
    shows_popup: bool = False
    lost_at: float | None = None
    has_told_loss: bool = False
    gone_at: float | None = None
    lost_because: str = ""
    cooling_until: float | None = None
    cool_since: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TrackedPrint:
    """The latest print. print_id: "" before the first. started_at: Unix seconds, 0 before."""

    print_id: str = ""
    started_at: int = 0
    file_name: str = ""
    is_under_way: bool = False
    memory: PrintMemory = field(default_factory=PrintMemory)


def observe_print(
    tracked: TrackedPrint,
    job: JobStatus,
    unix_s: float,
    new_id: Callable[[], str],
    *,
    has_gap: bool = False,
) -> TrackedPrint:
    """Return the tracked print after one observation, with its memory unchanged.

    A print that was under way when the agent stopped keeps its id when the agent is back, unless
    the printer now prints another file, or the same one from its beginning.
    """
    file_name = job.current_print.file_name
    if job.state not in UNDER_WAY:
        return replace(tracked, is_under_way=False) if tracked.is_under_way else tracked
    if tracked.is_under_way and not _has_restarted(tracked.memory, job, has_gap=has_gap):
        if tracked.file_name == file_name or not file_name:
            return tracked
        if not tracked.file_name:
            return replace(
                tracked, file_name=file_name
            )  # some platforms name the file a moment later
    return TrackedPrint(
        print_id=new_id(),
        started_at=int(unix_s) - (job.current_print.duration_sec if has_gap else 0),
        file_name=file_name,
        is_under_way=True,
        memory=tracked.memory,
    )


def _has_restarted(memory: PrintMemory, job: JobStatus, *, has_gap: bool) -> bool:
    """Whether the same file is being printed again, judged by duration and progress.

    After a gap both must have fallen back, since some adapters count a print's time from their own
    start. Once the printer has reported no print at all, either of them is enough.
    """
    now = job.current_print
    if memory.gone_at is not None:
        return now.duration_sec < memory.duration_sec or now.progress < memory.progress
    return (
        has_gap
        and now.duration_sec < memory.duration_sec - _FELL_BACK_S
        and now.progress < memory.progress - _FELL_BACK_PERCENT
    )


def expect_pause(tracked: TrackedPrint, order: Pause, at: float) -> TrackedPrint:
    """Note an order to pause that is silent or shows a popup. at: steady_s of Moment."""
    until = at + SILENCE_S
    has_popup = order.smart_pause and order.show_smart_pause_popup
    memory = replace(
        tracked.memory,
        silent_until=until if order.is_silent else tracked.memory.silent_until,
        popup_until=until if has_popup else tracked.memory.popup_until,
    )
    return replace(tracked, memory=memory)


def forget_pause(
    tracked: TrackedPrint, expected: TrackedPrint, before: TrackedPrint
) -> TrackedPrint:
    """Undo expect_pause, because the printer refused. expected, before: with and without the order.

    Later orders stay, and so does a pause that was observed meanwhile.
    """
    memory, ordered, old = tracked.memory, expected.memory, before.memory
    if memory.silent_until == ordered.silent_until:
        memory = replace(memory, silent_until=old.silent_until)
    if memory.popup_until == ordered.popup_until:
        memory = replace(memory, popup_until=old.popup_until)
    return replace(tracked, memory=memory)


def is_expected(until: float | None, at: float) -> bool:
    """Whether an order is still valid; a clock that was set back ends it."""
    return until is not None and 0 <= until - at <= 2 * SILENCE_S
