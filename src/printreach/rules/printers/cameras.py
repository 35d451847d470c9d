"""The cameras of a printer: how their pictures are turned and flipped."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from printreach.contract.status import WebcamEntry

ROTATIONS: Final = (0, 90, 180, 270)


@dataclass(frozen=True, slots=True)
class Pose:
    """rotation: clockwise, 0, 90, 180 or 270 degrees; after the flips."""

    flip_h: bool = False
    flip_v: bool = False
    rotation: int = 0

    def __post_init__(self) -> None:
        if self.rotation not in ROTATIONS:
            raise ValueError("a picture is turned by quarters")


def pose_of(camera: WebcamEntry) -> Pose:
    """Return the pose of its pictures; other angles than quarters are ignored."""
    rotation = camera.rotation if camera.rotation in ROTATIONS else 0
    return Pose(camera.flip_h, camera.flip_v, rotation)


def pose_at(cameras: Sequence[WebcamEntry], index: int) -> Pose:
    """Return the pose of the camera of that index; unrotated for an unknown camera."""
    return pose_of(cameras[index]) if 0 <= index < len(cameras) else Pose()
