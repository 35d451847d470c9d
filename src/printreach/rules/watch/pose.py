"""Regions of a camera's picture, as the camera takes it and as pages show it.

Regions are kept as the camera takes its pictures. People draw them on the picture as pages show it.
"""

from collections.abc import Callable, Mapping
from typing import Final

from printreach.rules.printers.cameras import Pose
from printreach.rules.watch.choices import Region

_TURNS: Final[Mapping[int, Callable[[float, float], tuple[float, float]]]] = {
    0: lambda x, y: (x, y),
    90: lambda x, y: (1 - y, x),
    180: lambda x, y: (1 - x, 1 - y),
    270: lambda x, y: (y, 1 - x),
}
_DIGITS: Final = 6
"""The number of decimals of shares of a picture; turning there and back leaves smaller errors."""


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
