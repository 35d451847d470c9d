"""Tells programs in a JPEG how it has to be turned and flipped to be shown.

Nothing is decoded: the picture gets the tag Orientation, which browsers and most programs follow.
Source: CIPA DC-008 (Exif 2.32), 4.5.4 and 4.6.4.
"""

import re
from typing import Final

from printreach.rules.printers.cameras import UNTURNED, Pose

_START: Final = b"\xff\xd8"
_EXIF: Final = re.compile(rb"\xff+\xe1(..)Exif\x00\x00", re.DOTALL)
_PLAIN: Final = {0: 1, 90: 6, 180: 3, 270: 8}
_MIRRORED: Final = {0: 2, 90: 7, 180: 4, 270: 5}


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
