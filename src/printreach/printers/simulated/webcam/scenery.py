"""The room in the webcam's picture, and the projection: a pinhole camera in front of the bed."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from PIL import Image, ImageChops, ImageDraw

from printreach.printers.simulated.model.motion import BED_MM, Point

WIDTH_PX, HEIGHT_PX = 640, 480

_CAMERA = Point(110.0, -118.0, 104.0)
_LOOKS_AT = Point(110.0, 112.0, 22.0)
_FOCAL_PX = 850.0
_CENTRE_Y_PX = 272.0
_SMOOTH = 3
"""Drawn this much larger, then shrunk: Pillow's lines have hard edges."""


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


@cache
def room() -> Image.Image:
    """Return the printer's inside and its bed, with nothing on it; the same picture each time."""
    size = WIDTH_PX * _SMOOTH, HEIGHT_PX * _SMOOTH
    picture = _walls().resize(size, Image.Resampling.BICUBIC)
    draw = ImageDraw.Draw(picture, "RGBA")
    _draw_frame(draw)
    _draw_bed(draw)
    picture = picture.reduce(_SMOOTH)
    return ImageChops.multiply(picture, _vignette())


def _walls() -> Image.Image:
    """Draw a dim back wall, lighter in the middle, fading into the floor."""

    def colour(x: int, y: int) -> tuple[int, ...]:
        glow = max(0.0, 1 - ((x - 32) / 40) ** 2 - ((y - 10) / 34) ** 2)
        return int(22 + 62 * glow), int(26 + 66 * glow), int(31 + 72 * glow)

    return _gradient("RGB", (64, 48), colour)


def _gradient(mode: str, size: tuple[int, int], colour: Callable[[int, int], Any]) -> Image.Image:
    picture = Image.new(mode, size)
    picture.putdata([colour(x, y) for y in range(size[1]) for x in range(size[0])])
    return picture


def _draw_frame(draw: ImageDraw.ImageDraw) -> None:
    """Two uprights at the back, blurred by being far away."""
    for x in (-52.0, BED_MM + 52.0):
        foot, top = project(Point(x, 260.0, -10.0)), project(Point(x, 260.0, 330.0))
        half = 9.0 * foot.scale
        box = [(foot.x - half, top.y), (foot.x + half, foot.y)]
        draw.rectangle(_large(box), fill=(15, 18, 21, 255))
        edge = [(foot.x - half * 0.35, top.y), (foot.x - half * 0.1, foot.y)]
        draw.rectangle(_large(edge), fill=(62, 68, 74, 160))


def _draw_bed(draw: ImageDraw.ImageDraw) -> None:
    margin = 7.0
    low, high = -margin, BED_MM + margin
    rim = [Point(low, low, -4), Point(high, low, -4), Point(high, high, -4), Point(low, high, -4)]
    draw.polygon(_outline(rim), fill=(13, 15, 17, 255))
    plate = [point._replace(z=0.0) for point in rim]
    draw.polygon(_outline(plate), fill=(55, 60, 65, 255))
    _draw_light_on_bed(draw)
    for n in range(12):
        at = n * 20.0
        for start, end in (
            (Point(at, 0, 0), Point(at, BED_MM, 0)),
            (Point(0, at, 0), Point(BED_MM, at, 0)),
        ):
            is_middle = n in (5, 6)
            colour = (140, 150, 156, 70 if is_middle else 46)
            draw.line(_outline([start, end]), fill=colour, width=_SMOOTH)


def _draw_light_on_bed(draw: ImageDraw.ImageDraw) -> None:
    """Draw the light of a lamp above the back left corner."""
    for n in range(14):
        radius = 150.0 - 10.0 * n
        centre = project(Point(80.0, 130.0, 0.0))
        across, along = radius * centre.scale, radius * centre.scale * 0.45
        box = [(centre.x - across, centre.y - along), (centre.x + across, centre.y + along)]
        draw.ellipse(_large(box), fill=(190, 200, 206, 5))


def _vignette() -> Image.Image:
    def light(x: int, y: int) -> int:
        away = ((x - 15.5) / 17) ** 2 + ((y - 11.5) / 14) ** 2
        return int(255 * max(0.35, 1 - 0.32 * away))

    small = _gradient("L", (32, 24), light)
    return small.resize((WIDTH_PX, HEIGHT_PX), Image.Resampling.BICUBIC).convert("RGB")


def _outline(points: list[Point]) -> list[tuple[float, float]]:
    return _large([project(point)[:2] for point in points])


def _large(corners: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(x * _SMOOTH, y * _SMOOTH) for x, y in corners]
