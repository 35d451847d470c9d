"""The decision of the watch after a look at a print: warn, pause or keep the look, and when to
look next.

A warning is given once. It is given again only after the print has looked good for a while, or
after half an hour: an owner who has looked knows. Nothing is paused that was not warned of at an
earlier look. A pause needs the whole time of bad looks again after each resume, and after two
pauses that the owner took back the watch only warns.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Final

from printreach.contract.status import DetectorStatus
from printreach.contract.unset import UNSET
from printreach.rules.detection import (
    DOUBTFUL_QUALITY,
    NORMAL_INTERVAL_S,
    DetectionContext,
    ImageAssessment,
    Suspicion,
    Verdict,
    observe,
)
from printreach.rules.detection.appearance import Appearance
from printreach.rules.detection.contexts import stretched_s
from printreach.rules.detection.scene import UNSEEING_VIEWS
from printreach.rules.watch.choices import Judgement, Look, WatchSettings
from printreach.rules.watch.memory import WatchMemory

HISTORY: Final = 60
"""Scores that `ServiceStatus` carries: 20 minutes at normal intervals."""
GOOD_QUALITY: Final = 6
GOOD_FOR_S: Final = 120.0
"""Twice what warns. A print that is good again may go wrong again."""
WARNED_FOR: Final = timedelta(minutes=30)
MAX_PAUSES: Final = 2
MAX_TRIES: Final = 4
"""A printer that refuses to be paused is not asked for ever."""
KEPT_EVERY: Final = timedelta(minutes=1)
"""Looks that show nothing new; a day of them is 1,440 rows."""
KEPT_SUSPICIOUS_EVERY: Final = timedelta(seconds=10)
KEPT_CHANGE: Final = 2
"""A step of quality that is kept whenever it comes."""

GIVEN_UP_AFTER: Final = timedelta(days=2)
"""A printer that was offline for this long prints nothing any more that is worth watching."""

_LONGEST_STEP_S: Final = 60.0


class NoLook(Enum):
    """The reasons why there was no look."""

    OFF = "off"
    """The owner wants none. What they choose next makes the print due at once."""
    PAUSED = "paused"
    """The picture does not change; an event makes the print due as soon as it resumes."""
    NOT_PRINTING_YET = "not printing yet"
    """It heats, or is about to go on."""
    AWAY = "away"
    """The agent isn't here, which is known without asking anybody."""
    UNREACHED = "unreached"
    """The printer gave no status."""
    NO_CAMERA = "no camera"
    NO_PICTURE = "no picture"
    BUSY = "busy"
    """Too many pictures wait to be scored."""
    UNSCORED = "unscored"
    """No detector can score a picture until an operator acts."""


_WAITS_S: Final = {
    NoLook.OFF: (3600,),
    NoLook.PAUSED: (120,),
    NoLook.NOT_PRINTING_YET: (10,),
    NoLook.AWAY: (30, 60),
    NoLook.UNREACHED: (20, 60, 120, 300),
    NoLook.NO_CAMERA: (600,),
    NoLook.NO_PICTURE: (20, 60, 120, 300),
    NoLook.BUSY: (20, 40, 60),
    NoLook.UNSCORED: (60, 300),
}
"""The waits after the first miss in a row, the second, and so on; the last one repeats."""
_MISSES: Final = frozenset(
    {
        NoLook.AWAY,
        NoLook.UNREACHED,
        NoLook.NO_CAMERA,
        NoLook.NO_PICTURE,
        NoLook.BUSY,
        NoLook.UNSCORED,
    }
)
_TAKE_TIME: Final = frozenset({NoLook.UNREACHED, NoLook.NO_PICTURE})
"""The reasons that may take until a timeout; all others are known at once."""
_OUT_OF_REACH: Final = frozenset({NoLook.AWAY, NoLook.UNREACHED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """look: as it is to be kept, where is_kept. pauses: a pause is to be ordered, once."""

    memory: WatchMemory
    look: Look
    is_kept: bool
    pauses: bool


def decide(
    memory: WatchMemory,
    assessment: ImageAssessment,
    settings: WatchSettings,
    at: datetime,
    load: float = 0.0,
) -> Decision:
    """Take one look into account. settings: with the levels in force. load: see Scored."""
    before = mended(memory, at)
    context = replace(
        before.context, warning_level=settings.warning_level, pause_level=settings.pause_level
    )
    context, verdict = observe(context, assessment, at)
    after = _with_look(before, context, verdict, at)
    is_for_pause = _may_pause(after, settings) and _suggests(verdict, pause=True)
    pauses = is_for_pause and after.is_warned
    warns = not pauses and _may_warn(after, at) and (is_for_pause or _suggests(verdict))
    if pauses:
        after = replace(after, ordering_at=at, tries=after.tries + 1)
    if warns:
        after = warned(after, at)
    look = Look(
        at=at,
        probability=assessment.probability,
        score=verdict.score,
        quality=verdict.print_quality,
        view=verdict.view,
        warned=warns,
    )
    view_changed = after.unseeing != before.unseeing
    is_kept = warns or pauses or view_changed or _is_worth_keeping(after, look)
    if is_kept:
        after = replace(after, kept_at=at, kept_quality=look.quality)
    after = replace(after, interval_s=_interval_s(after, verdict, settings, load))
    return Decision(memory=after, look=look, is_kept=is_kept, pauses=pauses)


def warned(memory: WatchMemory, at: datetime) -> WatchMemory:
    """Note that the owner was warned."""
    return replace(memory, warned_at=at, is_warned=True, good_s=0.0)


def after_pause(memory: WatchMemory, at: datetime) -> WatchMemory:
    """Note that the watch paused the print.

    The owner was told, so a warning counts as given, too.
    """
    return replace(
        _unsuspicious(memory),
        ordering_at=None,
        paused_at=at,
        pauses=memory.pauses + 1,
        is_paused=True,
        is_own_pause=True,
        is_warned=True,
        good_s=0.0,
    )


def after_refusal(memory: WatchMemory, at: datetime) -> WatchMemory:
    """Note that the pause failed, or may have: the owner was told, and suspicion starts again."""
    return replace(warned(_unsuspicious(memory), at), ordering_at=None)


def after_answer(memory: WatchMemory, answer: Judgement | None) -> WatchMemory:
    """Note the owner's answer about the print; it counts for the alarms before it.

    A "no" ends the alarm, and the print is compared with its next pictures, as after a resume. It
    is neither warned of nor paused until it has looked good for a while, or until a warning is due
    again: see is_silenced. A "yes" takes that back, and so does no answer any more.
    """
    if answer is None:
        return replace(memory, dismissed_at=None)
    alarmed_at = _last_alarm(memory)
    if alarmed_at is None or answer.at < alarmed_at:
        return memory
    if answer.was_failure:
        return replace(memory, dismissed_at=None)
    if _is_dismissed(memory):
        return memory
    after = _unsuspicious(memory)
    context = replace(after.context, appearance=Appearance())
    return replace(after, context=context, dismissed_at=answer.at)


def is_silenced(looks: Sequence[Look], at: datetime) -> bool:
    """Return whether a "no" to the latest alarm still keeps a print from being warned of.

    looks: those that are kept of the print, oldest first.
    """
    alarmed_at = max((look.at for look in looks if look.warned or look.paused), default=None)
    if alarmed_at is None:
        return False
    bad_at = max(
        (look.at for look in looks if look.at > alarmed_at and look.quality < GOOD_QUALITY),
        default=alarmed_at,
    )
    is_good_again = (looks[-1].at - bad_at).total_seconds() >= GOOD_FOR_S
    return at < alarmed_at + WARNED_FOR and not is_good_again


def after_resume(memory: WatchMemory, resumed_at: datetime | None) -> WatchMemory:
    """Note a resume: what was suspected before the owner looked no longer counts.

    Who resumes what the watch paused says that the print is good as it looks now, or has mended it:
    it is compared with its next pictures.
    """
    after = _unsuspicious(memory)
    if memory.is_own_pause:
        after = replace(after, context=replace(after.context, appearance=Appearance()))
    return replace(after, is_paused=False, is_own_pause=False, resumed_at=resumed_at)


def mended(memory: WatchMemory, at: datetime) -> WatchMemory:
    """Clear instants that lie in the future because a clock was wrong."""
    return replace(
        memory,
        looked_at=_by(memory.looked_at, at),
        kept_at=_by(memory.kept_at, at),
        warned_at=_by(memory.warned_at, at),
        paused_at=_by(memory.paused_at, at),
        unreached_at=_by(memory.unreached_at, at),
        dismissed_at=_by(memory.dismissed_at, at),
    )


def status_of(memory: WatchMemory, at: datetime, *, is_suppressed: bool = False) -> DetectorStatus:
    """Return what is said of the print. is_suppressed: it is left alone."""
    is_dismissed = _is_dismissed(memory)
    return DetectorStatus(
        last_score=float(memory.history[-1]) if memory.history else 0.0,
        score_history=[float(score) for score in memory.history],
        time_since_last_score_sec=_since(memory.looked_at, at) or 0.0,
        interval_sec=memory.interval_s,
        is_suppressed=is_suppressed,
        time_since_last_warn_sec=None if is_dismissed else _since(memory.warned_at, at),
        time_since_last_pause_sec=None if is_dismissed else _since(memory.paused_at, at),
        cannot_see=memory.unseeing or UNSET,
    )


# --- helpers --------------------------------------------------------------------------------------


def _with_look(
    memory: WatchMemory, context: DetectionContext, verdict: Verdict, at: datetime
) -> WatchMemory:
    step_s = min(_LONGEST_STEP_S, _since(memory.looked_at, at) or 0.0)
    is_good = verdict.print_quality >= GOOD_QUALITY
    good_s = memory.good_s
    is_seen, history = verdict.view not in UNSEEING_VIEWS, memory.history
    if is_seen:
        good_s = good_s + step_s if is_good else 0.0
        history = (*history, verdict.score)[-HISTORY:]
    return replace(
        memory,
        context=context,
        history=history,
        unseeing="" if is_seen else verdict.view.value,
        looked_at=at,
        is_warned=memory.is_warned and good_s < GOOD_FOR_S,
        good_s=good_s,
        misses=0,
        unreached_at=None,
    )


def _suggests(verdict: Verdict, *, pause: bool = False) -> bool:
    suggested = verdict.pause_suggested if pause else verdict.warning_suggested
    return suggested and verdict.view not in UNSEEING_VIEWS


def _may_pause(memory: WatchMemory, settings: WatchSettings) -> bool:
    has_room = memory.pauses < MAX_PAUSES and memory.tries < MAX_TRIES
    is_free = memory.ordering_at is None and not _is_dismissed(memory)
    return settings.pauses is not None and has_room and is_free


def _last_alarm(memory: WatchMemory) -> datetime | None:
    return max(filter(None, (memory.warned_at, memory.paused_at)), default=None)


def _is_dismissed(memory: WatchMemory) -> bool:
    alarmed_at, dismissed_at = _last_alarm(memory), memory.dismissed_at
    return alarmed_at is not None and dismissed_at is not None and alarmed_at <= dismissed_at


def _may_warn(memory: WatchMemory, at: datetime) -> bool:
    told_at = _last_alarm(memory)
    return not memory.is_warned or told_at is None or at >= told_at + WARNED_FOR


def _is_worth_keeping(memory: WatchMemory, look: Look) -> bool:
    if memory.kept_at is None or abs(look.quality - memory.kept_quality) >= KEPT_CHANGE:
        return True
    is_doubtful = look.quality <= DOUBTFUL_QUALITY
    return look.at >= memory.kept_at + (KEPT_SUSPICIOUS_EVERY if is_doubtful else KEPT_EVERY)


def _interval_s(
    memory: WatchMemory, verdict: Verdict, settings: WatchSettings, load: float
) -> float:
    """Return the interval; there is no hurry where all is reported and nothing more can be done."""
    recommended_s = verdict.recommended_interval_s
    if memory.is_warned and not _may_pause(memory, settings):
        recommended_s = max(recommended_s, NORMAL_INTERVAL_S)
    return float(stretched_s(recommended_s, load))


def _unsuspicious(memory: WatchMemory) -> WatchMemory:
    context = replace(
        memory.context,
        appearance=memory.context.appearance.forgiven(),
        warning=Suspicion(),
        pause=Suspicion(),
    )
    return replace(memory, context=context)


def _by(time: datetime | None, at: datetime) -> datetime | None:
    return None if time is None else min(time, at)


def _since(time: datetime | None, at: datetime) -> float | None:
    return None if time is None else max(0.0, (at - time).total_seconds())


def after_none(memory: WatchMemory, why: NoLook, at: datetime) -> tuple[WatchMemory, datetime]:
    """Return what to remember of a look that was not possible, and when to try again."""
    misses = memory.misses + 1 if why in _MISSES else 0
    waits_s = _WAITS_S[why]
    wait_s = waits_s[min(max(misses, 1), len(waits_s)) - 1]
    since = (memory.unreached_at or at) if why in _OUT_OF_REACH else None
    after = replace(memory, misses=misses, unreached_at=since)
    return after, at + timedelta(seconds=wait_s)


def is_degraded(why: NoLook) -> bool:
    """Whether the next look is made in the slots for looks that may hang."""
    return why in _TAKE_TIME


def is_given_up(memory: WatchMemory, at: datetime) -> bool:
    return memory.unreached_at is not None and at >= memory.unreached_at + GIVEN_UP_AFTER
