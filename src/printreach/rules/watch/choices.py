"""The watch over prints: what the owner of a printer chose about it, and what it saw.

Regions are kept as the camera takes its pictures. People draw them on the picture as pages show it.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from printreach.rules.detection import DEFAULT_LEVEL, LEVELS
from printreach.rules.detection.scene import ViewCondition
from printreach.rules.printers.cameras import Pose

MAX_REGIONS: Final = 8
"""More than a few masks hide the print."""
MAX_LIFT_MM: Final = 50
MAX_RETRACT_MM: Final = 20
"""The printer is unattended: a larger move than one that frees the nozzle may do harm."""

_HALF_LIFE: Final = timedelta(days=14)
"""A wrong alarm of two weeks ago counts half: cameras are moved, lamps changed."""
_ALARMS_FOR_A_STEP: Final = (0.5, 1.5)
"""One false alarm is felt for two weeks. Two steps are the most: the watch never goes blind."""

_TURNS: Final[Mapping[int, Callable[[float, float], tuple[float, float]]]] = {
    0: lambda x, y: (x, y),
    90: lambda x, y: (1 - y, x),
    180: lambda x, y: (1 - x, 1 - y),
    270: lambda x, y: (y, 1 - x),
}
_DIGITS: Final = 6
"""The number of decimals of shares of a picture; turning there and back leaves smaller errors."""


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a picture as it comes from the camera: shares of its width and height, 0 to 1.

    Raises ValueError unless it lies in the picture and covers something.
    """

    left: float
    top: float
    right: float
    bottom: float

    def __post_init__(self) -> None:
        edges = (self.left, self.top, self.right, self.bottom)
        if not all(math.isfinite(edge) and 0.0 <= edge <= 1.0 for edge in edges):
            raise ValueError("a region lies within the picture: 0 to 1")
        if self.left >= self.right or self.top >= self.bottom:
            raise ValueError("a region has a width and a height")


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchPause:
    """The options with which the watch pauses; the same words as of the pause command."""

    disable_hotend: bool = True
    disable_bed: bool = False
    z_lift_mm: int = 0
    retract_filament_mm: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.z_lift_mm <= MAX_LIFT_MM:
            raise ValueError(f"the nozzle is lifted by 0 to {MAX_LIFT_MM} mm")
        if not 0 <= self.retract_filament_mm <= MAX_RETRACT_MM:
            raise ValueError(f"filament is pulled back by 0 to {MAX_RETRACT_MM} mm")


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchSettings:
    """The settings of the watch for one printer; the defaults hold for settings never chosen.

    warning_level, pause_level: confidence levels, 1 suggests soonest. pauses: None where the watch
    may only warn. camera: the webcam's index; None for the printer's default one. masked: what the
    watch doesn't look at. off_for_print: the id of a print that it leaves alone, "" for none.
    keeps_frames: a frame that somebody judged may be kept with the judgement. gives_pictures: such
    frames may be given to others, to make detection better, since given_since.
    """

    enabled: bool = True
    warning_level: int = DEFAULT_LEVEL
    pause_level: int = DEFAULT_LEVEL
    pauses: WatchPause | None = None
    camera: int | None = None
    masked: tuple[Region, ...] = ()
    off_for_print: str = ""
    keeps_frames: bool = False
    gives_pictures: bool = False
    given_since: datetime | None = None

    def __post_init__(self) -> None:
        if self.warning_level not in LEVELS or self.pause_level not in LEVELS:
            raise ValueError("a confidence level is 1 to 5")
        if len(self.masked) > MAX_REGIONS:
            raise ValueError(f"{MAX_REGIONS} regions are masked at most")
        if self.camera is not None and self.camera < 0:
            raise ValueError("webcams count from 0")
        if self.given_since is not None and self.given_since.tzinfo is None:
            raise ValueError("a time has a zone")


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One look at a print. score: 0 to 100, 0 the best; quality: 1 to 10, 10 the best.

    probability: of this picture alone. warned, paused: the watch did so upon this look.
    """

    at: datetime
    probability: float
    score: int
    quality: int
    view: ViewCondition
    warned: bool = False
    paused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LastLook:
    """The latest look at a print, with what was seen. picture: the kept JPEG's snapshot id.

    evidence: rows of places, 0 to 1 each, over the whole picture from its upper left corner.
    camera: which one it looked through, as WatchSettings has it.
    """

    look: Look
    evidence: tuple[tuple[float, ...], ...]
    picture: str | None
    camera: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The answer to "was this right?". was_failure: the print had really failed.

    camera: the one that the alarm came from, whichever is chosen by now. picture: the frame, kept
    where the owner allowed it, else None.
    """

    printer_id: str
    print_id: str
    camera: int | None
    at: datetime
    was_failure: bool
    picture: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dismissal:
    """An owner's answer that the alarms of a print until then were wrong."""

    print_id: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPicture:
    """A picture that its owner gives away. masked: what nobody else may see of it."""

    judgement: Judgement
    picture: str
    masked: tuple[Region, ...]
    given_since: datetime


def given_picture(settings: WatchSettings, judgement: Judgement) -> GivenPicture | None:
    """Return the picture of an answer as it may be given away; None where it may not.

    Only what was answered since the owner agreed is given, and only of the camera that the masks
    are of.
    """
    if judgement.picture is None or settings.given_since is None or not settings.gives_pictures:
        return None
    is_masked_camera = (judgement.camera or 0) == (settings.camera or 0)
    if judgement.at < settings.given_since or not is_masked_camera:
        return None
    return GivenPicture(
        judgement=judgement,
        picture=judgement.picture,
        masked=settings.masked,
        given_since=settings.given_since,
    )


def with_consent(chosen: WatchSettings, before: WatchSettings, at: datetime) -> WatchSettings:
    """Return the settings with the time since when pictures are given, if they are."""
    if not chosen.gives_pictures:
        return replace(chosen, given_since=None)
    since = before.given_since if before.gives_pictures else None
    return replace(chosen, given_since=since or at)


def levels_after(
    settings: WatchSettings, judgements: Iterable[Judgement], at: datetime
) -> tuple[int, int]:
    """Return the confidence levels to watch with, for a warning and for a pause.

    judgements: of this printer; those of other cameras don't count. What was no failure makes both
    less sensitive, what was one takes that back; neither makes them more sensitive than was chosen.
    """
    alarms = sum(
        _weight(judgement, at)
        for judgement in judgements
        if (judgement.camera or 0) == (settings.camera or 0)  # the default one is the first
    )
    steps = sum(alarms >= enough for enough in _ALARMS_FOR_A_STEP)
    least = LEVELS[-1]
    return min(least, settings.warning_level + steps), min(least, settings.pause_level + steps)


def _weight(judgement: Judgement, at: datetime) -> float:
    """Return how much a judgement counts by now. One from the future counts as of now."""
    age = max(timedelta(0), at - judgement.at)
    fresh = float(0.5 ** (age / _HALF_LIFE))
    return -fresh if judgement.was_failure else fresh


def as_shown(region: Region, pose: Pose) -> Region:
    """Return the region where people see it."""
    turn = _TURNS[pose.rotation]
    return _moved(region, lambda x, y: turn(*_flipped(x, y, pose)))


def as_taken(region: Region, pose: Pose) -> Region:
    """Return the region in the picture as the camera takes it."""
    turn_back = _TURNS[-pose.rotation % 360]
    return _moved(region, lambda x, y: _flipped(*turn_back(x, y), pose))


def _flipped(x: float, y: float, pose: Pose) -> tuple[float, float]:
    return (1 - x if pose.flip_h else x), (1 - y if pose.flip_v else y)


def _moved(region: Region, move: Callable[[float, float], tuple[float, float]]) -> Region:
    one_x, one_y = move(region.left, region.top)
    other_x, other_y = move(region.right, region.bottom)
    return Region(
        left=round(min(one_x, other_x), _DIGITS),
        top=round(min(one_y, other_y), _DIGITS),
        right=round(max(one_x, other_x), _DIGITS),
        bottom=round(max(one_y, other_y), _DIGITS),
    )
