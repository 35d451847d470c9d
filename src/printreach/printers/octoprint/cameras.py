"""OctoPrint's cameras, read from its settings: the modern list, else the classic pair. Pure.

Where the settings can't be read, the addresses are tried that every OctoPi has.
Source: octoprint.schema.webcam of 1.9 and later; webcam.streamUrl and snapshotUrl before.
"""

from dataclasses import dataclass

from printreach.contract.status import WebcamEntry
from printreach.printers import loose
from printreach.printers.loose import Json

USUAL_STREAM = "/webcam/?action=stream"
USUAL_SNAPSHOT = "/webcam/?action=snapshot"
MAX_CAMERAS = 16
COUNTERCLOCKWISE = 270  # degrees, clockwise


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
