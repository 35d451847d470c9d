"""The form of the owner's settings of the failure watch: its values, and their parser."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Final

from printreach.languages import N_, _, message
from printreach.rules.detection import LEVELS
from printreach.rules.printers.cameras import Pose
from printreach.rules.watch.choices import (
    MAX_LIFT_MM,
    MAX_REGIONS,
    MAX_RETRACT_MM,
    Region,
    WatchPause,
    WatchSettings,
    as_shown,
    as_taken,
)
from printreach.web.forms import Fields

LEVEL_WORDS: Final = (
    ("1", N_("Very early")),
    ("2", N_("Early")),
    ("3", N_("Balanced")),
    ("4", N_("Late")),
    ("5", N_("Very late")),
)
"""Labels short enough for a field on a phone."""
EDGES: Final = ("left", "top", "width", "height")
MAX_CAMERAS: Final = 16
"""More than any printer has; the number is unknown while a printer is offline."""
_MIN_SHARE: Final = 0.001
"""The smallest share of the picture, each way, that a mask may cover."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchForm:
    """The values of the form. regions: MAX_REGIONS of them, each four texts by EDGES, or blanks.

    pose: the orientation in which the picture was shown when the regions were drawn.
    """

    enabled: bool
    pauses: bool
    warning_level: str
    pause_level: str
    disable_hotend: bool
    disable_bed: bool
    z_lift: str
    retract: str
    camera: str
    keeps_frames: bool
    gives_pictures: bool
    regions: Sequence[tuple[str, str, str, str]]
    pose: Pose


@dataclass(slots=True)
class _Reader:
    """Reads fields, and collects their errors."""

    fields: Fields
    errors: dict[str, str] = field(default_factory=dict)

    def whole(self, name: str, bounds: range, sentence: str) -> int:
        typed = self.fields[name].strip()
        number = int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 6 else -1
        if number in bounds:
            return number
        self.errors[name] = sentence
        return bounds[0]

    def percent(self, name: str) -> float | None:
        try:
            number = float(self.fields[name].strip().rstrip("%").replace(",", "."))
        except ValueError:
            number = float("nan")
        return number / 100 if isfinite(number) and 0 <= number <= 100 else None


def form_of(settings: WatchSettings, pose: Pose) -> WatchForm:
    """Return the form of the stored settings."""
    pause = settings.pauses or WatchPause()
    shown = [_texts(as_shown(region, pose)) for region in settings.masked]
    return WatchForm(
        enabled=settings.enabled,
        pauses=settings.pauses is not None,
        warning_level=str(settings.warning_level),
        pause_level=str(settings.pause_level),
        disable_hotend=pause.disable_hotend,
        disable_bed=pause.disable_bed,
        z_lift=str(pause.z_lift_mm),
        retract=str(pause.retract_filament_mm),
        camera="" if settings.camera is None else str(settings.camera),
        keeps_frames=settings.keeps_frames,
        gives_pictures=settings.gives_pictures,
        regions=_filled(shown),
        pose=pose,
    )


def form_sent(fields: Fields) -> WatchForm:
    """Return the form with the values that were sent, to be shown again."""
    typed = [
        (row[0], row[1], row[2], row[3])
        for row in ([fields[name][:12] for name in _names(place)] for place in range(MAX_REGIONS))
    ]
    return WatchForm(
        enabled=bool(fields["enabled"]),
        pauses=fields["pauses"] == "yes",
        warning_level=fields["warning_level"],
        pause_level=fields["pause_level"],
        disable_hotend=bool(fields["disable_hotend"]),
        disable_bed=bool(fields["disable_bed"]),
        z_lift=fields["z_lift"],
        retract=fields["retract"],
        camera=fields["camera"],
        keeps_frames=bool(fields["keeps_frames"]),
        gives_pictures=bool(fields["gives_pictures"]),
        regions=typed,
        pose=parse_pose(fields["pose"]),
    )


def parse_settings(fields: Fields, cameras: int | None) -> WatchSettings | dict[str, str]:
    """Parse the settings; return them, or the errors by field name.

    cameras: how many the printer has; None while it is offline.
    """
    reader = _Reader(fields)
    level = _("Choose a level from %(least)s to %(most)s.", least=LEVELS[0], most=LEVELS[-1])
    warning_level = reader.whole("warning_level", LEVELS, level)
    pause_level = reader.whole("pause_level", LEVELS, level)
    if fields["pauses"] not in ("yes", "no"):
        reader.errors["pauses"] = _("Choose whether it may pause.")
    pauses = _pause(reader)
    camera = _camera(reader, MAX_CAMERAS if cameras is None else cameras)
    masked = _regions(reader, parse_pose(fields["pose"]))
    if reader.errors:
        return reader.errors
    return WatchSettings(
        enabled=bool(fields["enabled"]),
        warning_level=warning_level,
        pause_level=pause_level,
        pauses=pauses if fields["pauses"] == "yes" else None,
        camera=camera,
        masked=masked,
        keeps_frames=bool(fields["keeps_frames"]),
        gives_pictures=bool(fields["gives_pictures"]),
    )


def format_pose(pose: Pose) -> str:
    """Format the orientation for its form field."""
    return f"{'h' if pose.flip_h else ''}{'v' if pose.flip_v else ''}{pose.rotation}"


def parse_pose(text: str) -> Pose:
    """Parse that field; unknown values mean an unrotated picture."""
    by_text = {
        format_pose(pose): pose
        for pose in (
            Pose(flip_h, flip_v, rotation)
            for flip_h in (False, True)
            for flip_v in (False, True)
            for rotation in (0, 90, 180, 270)
        )
    }
    return by_text.get(text, Pose())


# --- helpers --------------------------------------------------------------------------------------


def _pause(reader: _Reader) -> WatchPause:
    lift = _("The lift is a whole number of mm, 0 to %(most)s.", most=MAX_LIFT_MM)
    retract = _(
        "How far filament is pulled back is a whole number of mm, 0 to %(most)s.",
        most=MAX_RETRACT_MM,
    )
    return WatchPause(
        disable_hotend=bool(reader.fields["disable_hotend"]),
        disable_bed=bool(reader.fields["disable_bed"]),
        z_lift_mm=reader.whole("z_lift", range(MAX_LIFT_MM + 1), lift),
        retract_filament_mm=reader.whole("retract", range(MAX_RETRACT_MM + 1), retract),
    )


def _camera(reader: _Reader, count: int) -> int | None:
    if not reader.fields["camera"]:
        return None
    if count == 0:
        reader.errors["camera"] = _("The printer has no camera now. Choose its default one.")
        return None
    return reader.whole(
        "camera", range(count), _("The printer has no such camera. Choose another.")
    )


def _regions(reader: _Reader, pose: Pose) -> tuple[Region, ...]:
    regions = []
    for place in range(MAX_REGIONS):
        names = _names(place)
        if any(reader.fields[name].strip() for name in names):
            region = _region(reader, place, names, pose)
            if region is not None:
                regions.append(region)
    return tuple(regions)


def _region(
    reader: _Reader, place: int, names: tuple[str, str, str, str], pose: Pose
) -> Region | None:
    number = place + 1
    shares = [reader.percent(name) for name in names]
    for name, share in zip(names, shares, strict=True):
        if share is None:
            reader.errors[name] = _("Box %(number)s: enter numbers from 0 to 100.", number=number)
            return None
    left, top, width, height = (share for share in shares if share is not None)
    for name, size in ((names[2], width), (names[3], height)):
        if size < _MIN_SHARE:
            reader.errors[name] = _(
                "Box %(number)s has no width or no height. Clear it to drop it.", number=number
            )
            return None
    beyond = (
        (names[2], left, width, N_("Box %(number)s sticks out at the right of the picture.")),
        (names[3], top, height, N_("Box %(number)s sticks out at the bottom of the picture.")),
    )
    for name, start, size, sentence in beyond:
        # Each text is rounded, by half of the smallest share at most.
        if start > 1 - _MIN_SHARE or start + size > 1 + 1.5 * _MIN_SHARE:
            reader.errors[name] = message(sentence) % {"number": number}
            return None
    shown = Region(left, top, min(1.0, left + width), min(1.0, top + height))
    return as_taken(shown, pose)


def _names(place: int) -> tuple[str, str, str, str]:
    left, top, width, height = (f"region-{place + 1}-{edge}" for edge in EDGES)
    return left, top, width, height


def _texts(region: Region) -> tuple[str, str, str, str]:
    return (
        _percent(region.left),
        _percent(region.top),
        _percent(region.right - region.left),
        _percent(region.bottom - region.top),
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}".removesuffix(".0")


def _filled(regions: Sequence[tuple[str, str, str, str]]) -> Sequence[tuple[str, str, str, str]]:
    return [*regions, *[("", "", "", "")] * (MAX_REGIONS - len(regions))]
