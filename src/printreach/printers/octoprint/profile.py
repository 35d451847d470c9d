"""OctoPrint's settings by its owner: profiles of printer and temperatures, and cameras. Pure.

Cameras: the modern list, else the classic pair; where the settings can't be read, the addresses are
tried that every OctoPi has. Source: octoprint.schema.webcam of 1.9 and later; webcam.streamUrl and
snapshotUrl before.
"""

import re
from dataclasses import dataclass

from printreach.contract.materials import MAX_TOOLS, MaterialSystem, Source, Tool
from printreach.contract.status import WebcamEntry
from printreach.contract.temperatures import Preset
from printreach.contract.unset import UNSET, UnsetType
from printreach.printers import loose
from printreach.printers.loose import Json
from printreach.rules.prints.materials import spool_at_each_tool

MAX_EXTRUDERS = 16
_TOOL = re.compile(r"tool([0-9]{1,2})", re.ASCII)

USUAL_STREAM = "/webcam/?action=stream"
USUAL_SNAPSHOT = "/webcam/?action=snapshot"
MAX_CAMERAS = 16
COUNTERCLOCKWISE = 270  # degrees, clockwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """nozzle_mm: the diameter of each nozzle. The defaults are OctoPrint's own."""

    extruders: int = 1
    has_bed: bool = True
    has_chamber: bool = False
    nozzle_mm: float | None = None


def profile_of(answer: object) -> Profile:
    """Read /api/printerprofiles: the profile in use, else the default one."""
    profiles = [loose.obj(entry) for entry in loose.obj(answer, "profiles").values()]
    for mark in ("current", "default"):
        for entry in profiles:
            if loose.flag(entry, mark):
                return _read(entry)
    return Profile()


def _read(entry: Json) -> Profile:
    extruder = loose.obj(entry, "extruder")
    nozzle_mm = loose.number(extruder, "nozzleDiameter")
    return Profile(
        extruders=min(max(loose.count(extruder, "count") or 1, 1), MAX_EXTRUDERS),
        has_bed=loose.flag(entry, "heatedBed") is not False,
        has_chamber=loose.flag(entry, "heatedChamber") is True,
        nozzle_mm=nozzle_mm if nozzle_mm is not None and nozzle_mm > 0 else None,
    )


def materials_of(temps: Json, profile: Profile) -> MaterialSystem | None:
    """temps: by heater. None before the first temperatures came."""
    numbers = sorted({int(tool[1]) for name in temps if (tool := _TOOL.fullmatch(name))})
    if not numbers:
        return None
    numbers = numbers[:MAX_TOOLS]
    sources = [
        Source(id=f"spool{number}", index=index, name=f"Spool {number + 1}", position=number)
        for index, number in enumerate(numbers)
    ]
    return spool_at_each_tool(sources, [_tool(number, temps, profile) for number in numbers])


def _tool(number: int, temps: Json, profile: Profile) -> Tool:
    heat = loose.obj(temps, f"tool{number}")
    actual, target = loose.number(heat, "actual"), loose.number(heat, "target")
    return Tool(
        id=f"tool{number}",
        index=number,
        name=f"Tool {number + 1}",
        actual_celsius=loose.known(actual),
        target_celsius=loose.known(target),
        nozzle_diameter_mm=UNSET if profile.nozzle_mm is None else profile.nozzle_mm,
    )


def presets_in(settings: object) -> list[Preset]:
    """Return the temperature profiles of OctoPrint's settings, in their order.

    As its own page does (1.11.8): a heater that a profile doesn't name is switched off, and one
    that it names without a number is left as it is.
    """
    profiles = map(loose.obj, loose.items(loose.obj(settings, "temperature"), "profiles"))
    return [
        Preset(
            name=(loose.text(profile, "name") or "").strip(),
            tool_c=_target(profile, "extruder"),
            bed_c=_target(profile, "bed"),
            chamber_c=_target(profile, "chamber"),
        )
        for profile in profiles
    ]


def _target(profile: Json, heater: str) -> float | UnsetType:
    return loose.known(loose.number(profile, heater)) if heater in profile else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraSettings:
    """URLs as OctoPrint has them: relative ones to the page that its users see."""

    entry: WebcamEntry
    stream: str | None
    snapshot: str | None


def cameras_in(settings: object) -> list[CameraSettings]:
    """Return the cameras, the default first.

    All disabled where the owner has switched webcams off.
    """
    webcam = loose.obj(settings, "webcam")
    is_on = loose.flag(webcam, "webcamEnabled") is not False
    named_cameras = [_modern(loose.obj(entry), is_on) for entry in loose.items(webcam, "webcams")]
    default = loose.text(webcam, "defaultWebcam")
    named_cameras.sort(key=lambda named: named[0] != default)
    cameras = [camera for _, camera in named_cameras] or [_classic(webcam, is_on)]
    return [camera for camera in cameras if camera.stream or camera.snapshot][:MAX_CAMERAS]


def _modern(entry: Json, is_on: bool) -> tuple[str, CameraSettings]:
    compat, extras = loose.obj(entry, "compat"), loose.obj(entry, "extras")
    name = loose.text(entry, "name") or ""
    shown = loose.text(entry, "snapshotDisplay")
    camera = CameraSettings(
        entry=_entry(loose.text(entry, "displayName") or name.rpartition("/")[2], entry, is_on),
        stream=_url(compat, "stream") or _url(extras, "stream"),
        snapshot=_url(compat, "snapshot") or (shown if shown and _is_url(shown) else None),
    )
    return name, camera


def _classic(webcam: Json, is_on: bool) -> CameraSettings:
    stream, snapshot = _url(webcam, "streamUrl"), _url(webcam, "snapshotUrl")
    if not webcam:
        stream, snapshot = USUAL_STREAM, USUAL_SNAPSHOT
    return CameraSettings(entry=_entry("", webcam, is_on), stream=stream, snapshot=snapshot)


def _entry(name: str, flags: Json, is_on: bool) -> WebcamEntry:
    return WebcamEntry(
        name=name or "Webcam",
        flip_h=loose.flag(flags, "flipH") or False,
        flip_v=loose.flag(flags, "flipV") or False,
        rotation=COUNTERCLOCKWISE if loose.flag(flags, "rotate90") else 0,
        enabled=is_on,
    )


def _url(source: Json, key: str) -> str | None:
    text = (loose.text(source, key) or "").strip()
    return text if _is_url(text) else None


def _is_url(text: str) -> bool:
    """http or https, or relative; a stream for other players (rtsp:) is none for us."""
    return text.startswith(("http://", "https://", "/"))
