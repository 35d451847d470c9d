"""The projection of the webcam's picture: a pinhole camera in front of the bed."""

import math
from typing import NamedTuple

from printreach.printers.simulated.model.motion import Point

WIDTH_PX, HEIGHT_PX = 640, 480

_CAMERA = Point(110.0, -118.0, 104.0)
_LOOKS_AT = Point(110.0, 112.0, 22.0)
_FOCAL_PX = 850.0
_CENTRE_Y_PX = 272.0


class Spot(NamedTuple):
    """A place in the picture. scale: pixels a millimetre there."""

    x: float
    y: float
    scale: float


_AHEAD = _LOOKS_AT.y - _CAMERA.y
_DOWN = _CAMERA.z - _LOOKS_AT.z
_COS = _AHEAD / math.hypot(_AHEAD, _DOWN)
_SIN = _DOWN / math.hypot(_AHEAD, _DOWN)


def project(point: Point) -> Spot:
    """Return where the camera sees a point.

    Behind the camera, everything is pushed far out of sight.
    """
    ahead, up = point.y - _CAMERA.y, point.z - _CAMERA.z
    depth = max(ahead * _COS - up * _SIN, 20.0)
    scale = _FOCAL_PX / depth
    return Spot(
        WIDTH_PX / 2 + (point.x - _CAMERA.x) * scale,
        _CENTRE_Y_PX - (ahead * _SIN + up * _COS) * scale,
        scale,
    )
