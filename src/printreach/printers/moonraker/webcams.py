"""Webcams as Moonraker and its pages write them down. Pure.

Source: answers of Moonraker 0.11.0 to server.webcams.list; its database's namespace `webcams`, in
which Mainsail has kept them since before that list; Fluidd's own `cameras`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from printreach.printers import loose
from printreach.printers.loose import Json

MAX_WEBCAMS = 16
_ROTATIONS = frozenset({0, 90, 180, 270})
_NO_MJPEG = ("hls", "janus", "mediamtx", "go2rtc", "jmuxer", "iframe", "uv4l-webrtc", "html")
"""Services whose stream is a page or another kind of video; their snapshots are usable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Webcam:
    """A webcam entry. stream, snapshot: addresses as written, relative ones too; "" for none."""

    name: str
    stream: str = ""
    snapshot: str = ""
    flip_h: bool = False
    flip_v: bool = False
    rotation: int = 0
    is_enabled: bool = True


def listed_webcams(answer: object) -> list[Webcam] | None:
    """Read the answer of server.webcams.list; None where it has no entries."""
    entries = [loose.obj(entry) for entry in loose.items(answer, "webcams")]
    return _webcams(entries, "stream_url", "snapshot_url", "flip_horizontal", "flip_vertical")


def stored_webcams(answer: object) -> list[Webcam] | None:
    """Read the database's namespace `webcams`: entries by their ids."""
    entries = [loose.obj(entry) for entry in loose.obj(answer, "value").values()]
    return _webcams(entries, "urlStream", "urlSnapshot", "flipX", "flipY")


def stored_by_fluidd(answer: object) -> list[Webcam] | None:
    """Read Fluidd's settings, which have one address a camera."""
    entries = [loose.obj(entry) for entry in loose.items(loose.obj(answer, "value"), "cameras")]
    return _webcams(entries, "url", "", "flipX", "flipY")


def usual_webcam() -> Webcam:
    """Return the webcam at the address that usual installations have."""
    return Webcam(
        name="Webcam", stream="/webcam/?action=stream", snapshot="/webcam/?action=snapshot"
    )


def _webcams(
    entries: Iterable[Json], stream: str, snapshot: str, flip_h: str, flip_v: str
) -> list[Webcam] | None:
    entries = [entry for entry in entries if entry][:MAX_WEBCAMS]
    if not entries:
        return None
    return [
        Webcam(
            name=loose.text(entry, "name") or "Webcam",
            stream="" if _has_no_mjpeg(entry) else loose.text(entry, stream) or "",
            snapshot=loose.text(entry, snapshot) or "",
            flip_h=loose.flag(entry, flip_h) or False,
            flip_v=loose.flag(entry, flip_v) or False,
            rotation=_rotation(entry),
            is_enabled=loose.flag(entry, "enabled") is not False,
        )
        for entry in entries
    ]


def _has_no_mjpeg(entry: Json) -> bool:
    service = (loose.text(entry, "service") or loose.text(entry, "type") or "").lower()
    return any(word in service for word in _NO_MJPEG)


def _rotation(entry: Json) -> int:
    degrees = loose.whole(entry, "rotation")
    if degrees is None:
        degrees = loose.whole(entry, "rotate")
    return degrees if degrees in _ROTATIONS else 0
