"""The failure detector's status: with its age, and in one line."""

from enum import Enum

from printreach.contract.app_answers import WatchColour, WatchState, WatchStatus
from printreach.contract.status import UNDER_WAY, DetectorStatus, State
from printreach.contract.unset import UnsetType
from printreach.languages import N_, _, translate
from printreach.rules.detection.scene import ViewCondition

BEST_QUALITY = 10


class DetectorOff(Enum):
    """The reasons why a service runs no failure watch; each value completes a sentence.

    All pages and APIs take their words from here.
    """

    SWITCHED_OFF = N_("Failure detection is switched off on this service")
    NOT_INSTALLED = N_(
        "Failure detection can't run on this service: its libraries are not installed"
    )
    BROKEN = N_("Failure detection can't run on this service: its model can't be loaded")
    NO_NODE = N_("Failure detection can't run on this service now: no detector node answers")


NO_CAMERA = N_("Failure detection has no camera to look through, so nothing is watched")
_NOT_LOOKED = N_("Not looked yet")
_CANNOT_SEE = {
    ViewCondition.DARK.value: N_("Too dark to see the print"),
    ViewCondition.BLOCKED.value: N_("The camera is covered"),
    ViewCondition.FROZEN.value: N_("The camera shows the same picture again and again"),
}
_QUALITY_WORDS = (
    *(
        "",
        N_("Print failure"),
        N_("Probable failure"),
        N_("Possible failure"),
        N_("Possible issue"),
    ),
    *(N_("Possible issue"), N_("Good"), N_("Good"), N_("Great"), N_("Great"), N_("Perfect")),
)
"""By quality, as apps are told; there is none of 0."""
POSSIBLE_FAILURE = N_("Possible failure")
"""What pages call every quality that may be warned of, and the warning itself."""


def aged(status: DetectorStatus, by_s: float) -> DetectorStatus:
    """Return the status after that many seconds. A negative time makes nothing younger."""
    later_s = max(0.0, by_s)
    return DetectorStatus(
        last_score=status.last_score,
        score_history=status.score_history,
        time_since_last_score_sec=status.time_since_last_score_sec + later_s,
        interval_sec=status.interval_sec,
        is_suppressed=status.is_suppressed,
        time_since_last_warn_sec=_later(status.time_since_last_warn_sec, later_s),
        time_since_last_pause_sec=_later(status.time_since_last_pause_sec, later_s),
        cannot_see=status.cannot_see,
    )


def quality_of(score: float) -> int:
    """1 to 10, 10 the best, of a score of 0 to 100, 0 the best."""
    bounded = max(0.0, min(100.0, score))
    return max(1, BEST_QUALITY - int(bounded // 10))


def newest_quality(detector: DetectorStatus) -> int | None:
    """Return the quality in the newest look; None if it saw nothing, there was none, or this print
    is not watched."""
    if detector.is_suppressed or not detector.score_history or unseen_words(detector):
        return None
    return quality_of(detector.last_score)


def unseen_words(detector: DetectorStatus) -> str:
    """Say why the newest look saw nothing of the print; "" if it did."""
    if detector.is_suppressed or isinstance(detector.cannot_see, UnsetType):
        return ""
    return _CANNOT_SEE.get(detector.cannot_see, N_("The print can't be seen"))


def quality_in_words(quality: int | None) -> str:
    """Format a quality of 1 to 10: "Great, quality 9 of 10". None: no image was scored yet."""
    if quality is None:
        return translate(_NOT_LOOKED)
    return _(
        "%(words)s, quality %(quality)s of %(best)s",
        words=translate(_page_words(quality)),
        quality=quality,
        best=BEST_QUALITY,
    )


def watch_status(
    status: DetectorStatus | None,
    state: State | None,
    *,
    is_enabled: bool = True,
    has_camera: bool = True,
) -> WatchStatus:
    """Describe the failure detector in one line.

    status: of the print under way, None if there is none yet. state: the printer's, None while
    it can't be reached. is_enabled: failure detection is switched on for this printer. has_camera:
    the printer has the camera chosen for it, and it is switched on.
    """
    if not is_enabled:
        return _calm(WatchState.DISABLED, N_("Failure detection is switched off"))
    if state is None or state not in UNDER_WAY:
        words = N_("The printer can't be reached") if state is None else N_("Nothing is printing")
        return _calm(WatchState.IDLE, words)
    if status is None:
        return _calm(WatchState.DISABLED, N_("Failure detection doesn't look at this printer"))
    if status.is_suppressed:
        return _calm(WatchState.DISABLED_FOR_THIS_PRINT, N_("Off for this print"))
    if is_paused_by_it(status, state):
        rating = quality_of(status.last_score)
        return _status(
            WatchState.PAUSED, N_("Paused by failure detection"), WatchColour.RED, rating
        )
    if not status.score_history and not has_camera:
        return _calm(WatchState.DISABLED, NO_CAMERA)
    if unseen_words(status):
        return _calm(WatchState.ACTIVE, unseen_words(status))
    if not status.score_history:
        return _calm(WatchState.ACTIVE, _NOT_LOOKED)
    rating = quality_of(status.last_score)
    return _status(WatchState.ACTIVE, _QUALITY_WORDS[rating], _colour_of(rating), rating)


def not_watching(why: DetectorOff) -> WatchStatus:
    """Describe it for a service that runs no failure detection over prints, whatever was chosen."""
    return _calm(WatchState.DISABLED, why.value)


def is_paused_by_it(status: DetectorStatus, state: State) -> bool:
    """Whether a print is paused because of the detector.

    The watch looks again as soon as somebody resumes; a later pause has other reasons.
    """
    ago_s = status.time_since_last_pause_sec
    return state is State.PAUSED and ago_s is not None and ago_s <= status.time_since_last_score_sec


def _page_words(quality: int) -> str:
    is_bad = _colour_of(quality) is WatchColour.RED
    return POSSIBLE_FAILURE if is_bad else _QUALITY_WORDS[quality]


def _colour_of(rating: int) -> WatchColour:
    if rating >= 6:
        return WatchColour.GREEN
    return WatchColour.YELLOW if rating >= 4 else WatchColour.RED


def _calm(state: WatchState, words: str) -> WatchStatus:
    """Describe a print in which nothing bad was seen."""
    return _status(state, words, WatchColour.WHITE, BEST_QUALITY)


def _status(state: WatchState, words: str, colour: WatchColour, rating: int) -> WatchStatus:
    return WatchStatus(state=state, status=words, status_color=colour, rating=rating)


def _later(since_s: float | None, by_s: float) -> float | None:
    return None if since_s is None else since_s + by_s
