"""Which print is under way: when one begins, what it is known by, what is remembered of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from printreach.contract.events import MAX_PRINT_ID
from printreach.contract.status import UNDER_WAY, JobStatus, State, StatusResult, Temps
from printreach.rules.layers import LayerMemory

_FELL_BACK_S: Final = 60
_FELL_BACK_PERCENT: Final = 5.0


class NeedKind(StrEnum):
    """What a printer may want of a person."""

    FILAMENT = "filament"
    """Filament has run out, or is to be changed."""
    ATTENTION = "attention"
    """Anything else: an answer, a plate to be cleared, a door to be closed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """What a printer wants of a person now. text: in the printer's own words, where it has any."""

    kind: NeedKind
    text: str = ""


def print_id_under_way(status: StatusResult) -> str:
    """The id of the print under way; "" where nothing prints. What no event could name is no
    print."""
    is_under_way = status.job_status.state in UNDER_WAY
    print_id = status.service_status.most_recent_print_id_str
    return print_id if is_under_way and len(print_id) <= MAX_PRINT_ID else ""


def smart_pause_sentence(temps: Temps) -> str:
    """What a person is told of a smart pause, by what the printer itself reports."""
    hotend = "is off" if temps.hotend_target <= 0 else "stays hot"
    bed = "is off" if temps.bed_target <= 0 else "stays warm"
    return f"The hotend {hotend} and the bed {bed}. Resume heats what was turned off, then goes on."


def need_of_words(words: str) -> Need:
    """What a question to a person is about, as far as its words tell."""
    is_filament = "filament" in words.lower()
    kind = NeedKind.FILAMENT if is_filament else NeedKind.ATTENTION
    return Need(kind=kind, text=words)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sighting:
    """What one look at a printer showed.

    height_mm: of the nozzle above the bed. error_code: as the platform spells it, "" for none.
    """

    job: JobStatus
    need: Need | None = None
    height_mm: float | None = None
    z_offset_mm: float | None = None
    error_code: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """What was last seen, and what of it has been told.

    state: None before the first look. is_paused: that a pause was seen. progress, duration_sec: the
    latest. decile, hours: the furthest. need: the one that stands. need_at: when one was last told.
    errors: texts and when each was told. silent_until: a pause before then is not told.
    popup_until: a pause before then is a smart one whose popup is to be shown. shows_popup: such a
    pause holds. lost_at:
    since when the printer has not been reached. gone_at: since when it reports neither the print
    nor an end of it. lost_because: what may have ended it unseen, as a sentence. cooling_until: how
    long the bed is watched. cool_since: since when it has been cool.

    Instants are seconds of a clock that goes on evenly, and about right over a restart.
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
class PrintMark:
    """The latest print. print_id: "" before the first. started_at: Unix seconds, 0 before."""

    print_id: str = ""
    started_at: int = 0
    file_name: str = ""
    is_under_way: bool = False
    memory: Memory = field(default_factory=Memory)


def observe_print(
    mark: PrintMark,
    job: JobStatus,
    unix_s: float,
    new_id: Callable[[], str],
    *,
    was_away: bool = False,
) -> PrintMark:
    """The mark after one look at the printer; its memory is as it was.

    A print that was under way when the agent stopped goes on under its id when the agent is back,
    unless the printer meanwhile prints another file, or the same one from its beginning.
    """
    file_name = job.current_print.file_name
    if job.state not in UNDER_WAY:
        return replace(mark, is_under_way=False) if mark.is_under_way else mark
    if mark.is_under_way and not _has_begun_anew(mark.memory, job, was_away=was_away):
        if mark.file_name == file_name or not file_name:
            return mark
        if not mark.file_name:
            return replace(mark, file_name=file_name)  # some platforms name the file a moment later
    return PrintMark(
        print_id=new_id(),
        started_at=int(unix_s) - (job.current_print.duration_sec if was_away else 0),
        file_name=file_name,
        is_under_way=True,
        memory=mark.memory,
    )


def _has_begun_anew(memory: Memory, job: JobStatus, *, was_away: bool) -> bool:
    """Whether a print of the same file is another one, by how far it has come.

    After an absence both figures must have fallen back: some adapters count a print's time from
    their own start on. Once the printer has reported no print at all, either of them will do.
    """
    now = job.current_print
    if memory.gone_at is not None:
        return now.duration_sec < memory.duration_sec or now.progress < memory.progress
    return (
        was_away
        and now.duration_sec < memory.duration_sec - _FELL_BACK_S
        and now.progress < memory.progress - _FELL_BACK_PERCENT
    )
