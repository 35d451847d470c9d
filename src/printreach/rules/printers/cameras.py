"""The cameras of a printer: their names, how their pictures are turned and flipped, and what its
owner chose for them.

What the platform tells is the default, member by member. The same camera is recognised by the name
by which the platform lists it.

A JPEG tells programs by the tag Orientation how it has to be turned and flipped, without being
decoded. Source: CIPA DC-008 (Exif 2.32), 4.5.4 and 4.6.4.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from printreach.contract.cameras import MAX_CAMERA_CHOICES, MAX_CAMERA_NAME, CameraChoice
from printreach.contract.status import ReportedWebcam, WebcamEntry, WebcamList
from printreach.contract.unset import UNSET, UnsetType

ROTATIONS: Final = (0, 90, 180, 270)

_START: Final = b"\xff\xd8"
_EXIF: Final = re.compile(rb"\xff+\xe1(..)Exif\x00\x00", re.DOTALL)
_PLAIN: Final = {0: 1, 90: 6, 180: 3, 270: 8}
_MIRRORED: Final = {0: 2, 90: 7, 180: 4, 270: 5}


@dataclass(frozen=True, slots=True)
class Pose:
    """rotation: clockwise, 0, 90, 180 or 270 degrees; after the flips."""

    flip_h: bool = False
    flip_v: bool = False
    rotation: int = 0

    def __post_init__(self) -> None:
        if self.rotation not in ROTATIONS:
            raise ValueError("a picture is turned by quarters")


UNTURNED: Final = Pose()


def pose_of(camera: WebcamEntry) -> Pose:
    """Return the pose of its pictures; other angles than quarters are ignored."""
    rotation = camera.rotation if camera.rotation in ROTATIONS else 0
    return Pose(camera.flip_h, camera.flip_v, rotation)


def pose_at(cameras: Sequence[WebcamEntry], index: int) -> Pose:
    """Return the pose of the camera of that index; unrotated for an unknown camera."""
    return pose_of(cameras[index]) if 0 <= index < len(cameras) else UNTURNED


def reported(camera: WebcamEntry) -> ReportedWebcam:
    """Return what its platform tells of the camera."""
    if not isinstance(camera.reported, UnsetType):
        return camera.reported
    return ReportedWebcam(
        name=camera.name, flip_h=camera.flip_h, flip_v=camera.flip_v, rotation=camera.rotation
    )


def camera_key(camera: WebcamEntry) -> str:
    """Return the name by which a choice for this camera is kept."""
    return reported(camera).name[:MAX_CAMERA_NAME]


def with_choices(listed: WebcamList, choices: Sequence[CameraChoice]) -> WebcamList:
    """Return the list as the owner chose; one that follows other choices follows these instead."""
    by_camera = {choice.camera: choice for choice in choices}
    webcams = [_chosen(camera, by_camera.get(camera_key(camera))) for camera in listed.webcams]
    return WebcamList(default_index=listed.default_index, webcams=webcams)


def _chosen(camera: WebcamEntry, choice: CameraChoice | None) -> WebcamEntry:
    told = reported(camera)
    name, flip_h, flip_v, rotation = told.name, told.flip_h, told.flip_v, told.rotation
    if choice is not None:
        name = name if choice.name is None else choice.name
        flip_h = flip_h if choice.flip_h is None else choice.flip_h
        flip_v = flip_v if choice.flip_v is None else choice.flip_v
        rotation = rotation if choice.rotation is None else choice.rotation
    return WebcamEntry(
        name=name,
        flip_h=flip_h,
        flip_v=flip_v,
        rotation=rotation,
        enabled=camera.enabled,
        snapshot_url=camera.snapshot_url,
        stream_url=camera.stream_url,
        reported=UNSET if choice is None else told,
    )


def choice_for(camera: WebcamEntry, name: str, pose: Pose) -> CameraChoice:
    """Return the choice that makes the camera so: what the platform tells anyway is not chosen."""
    told = reported(camera)
    told_rotation = told.rotation if told.rotation in ROTATIONS else 0
    return CameraChoice(
        camera=camera_key(camera),
        name=None if name in ("", told.name) else name,
        flip_h=None if pose.flip_h == told.flip_h else pose.flip_h,
        flip_v=None if pose.flip_v == told.flip_v else pose.flip_v,
        rotation=None if pose.rotation == told_rotation else pose.rotation,
    )


def put_choices(
    choices: Sequence[CameraChoice], chosen: Sequence[CameraChoice]
) -> tuple[CameraChoice, ...] | None:
    """Return the choices with new ones for some cameras; None where that would be too many.

    One that chooses nothing is dropped.
    """
    by_camera = {choice.camera: choice for choice in [*choices, *chosen]}
    kept = [one for one in by_camera.values() if one != CameraChoice(camera=one.camera)]
    return tuple(kept) if len(kept) <= MAX_CAMERA_CHOICES else None


def parse_camera_name(typed: str) -> str | None:
    """Return the name without blanks around it, "" for the platform's; None if it can't be one."""
    name = typed.strip()
    is_name = len(name) <= MAX_CAMERA_NAME and (not name or name.isprintable())
    return name if is_name else None


def orientation_of(pose: Pose) -> int:
    """Return the value of the tag, 1 to 8. A vertical flip is a horizontal one and half a turn."""
    turned = (pose.rotation + (180 if pose.flip_v else 0)) % 360
    return (_MIRRORED if pose.flip_h != pose.flip_v else _PLAIN)[turned]


def with_orientation(jpeg: bytes, pose: Pose) -> bytes:
    """Return the whole JPEG with the tag, which replaces the Exif data that it begins with."""
    if pose == UNTURNED:
        return jpeg
    rest = jpeg[len(_START) :]
    earlier = _EXIF.match(rest)
    if earlier is not None:
        rest = rest[earlier.start(1) + int.from_bytes(earlier[1], "big") :]
    return _START + _segment(orientation_of(pose)) + rest


def _segment(orientation: int) -> bytes:
    """APP1 with one directory of one entry: tag u16, type u16 (3: u16), count u32, value."""
    entry = b"\x01\x12\x00\x03\x00\x00\x00\x01" + orientation.to_bytes(2, "big") + bytes(2)
    tiff = b"MM\x00*\x00\x00\x00\x08" + b"\x00\x01" + entry + bytes(4)
    content = b"Exif\x00\x00" + tiff
    return b"\xff\xe1" + (len(content) + 2).to_bytes(2, "big") + content
