"""The room in the picture of the webcam, the printing head, and the beam that it rides on.

The projection is that of a pinhole camera in front of the bed.
"""

import math
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from PIL import Image, ImageDraw

from .motion import Point

WIDTH_PX, HEIGHT_PX = 640, 480

_CAMERA = Point(110.0, -118.0, 104.0)
_LOOKS_AT = Point(110.0, 112.0, 22.0)
_FOCAL_PX = 850.0
_CENTRE_Y_PX = 272.0
_FINE = 2
"""The head is drawn this much larger than it is shown, against jagged edges."""
_BEAM_ABOVE_MM, _BEAM_BEHIND_MM, _BEAM_HIGH_MM = 62.0, 18.0, 13.0
_SCALE_STEP = 1.03
HEATS, FAN_POSITIONS = 4, 4
"""As many glows above cold, and turns of the fan, can be told apart."""
_HEADS, _BEAMS = 60, 12
"""Cached, for a print goes back and forth between the same places: 10 MB together."""
_HALF_WIDE_MM, _HIGH_MM = 26.0, 92.0
_FAN_MM = 50.0

Corners = tuple[tuple[float, float], ...]
"""In millimetres: right of the nozzle, and above it."""
Shape = tuple[str, Corners, tuple[int, int, int]]
_SHAPES: tuple[Shape, ...] = (
    ("rectangle", ((-19, 88), (19, 19)), (29, 33, 37)),
    ("rectangle", ((-19, 88), (-14, 19)), (44, 49, 54)),
    ("rectangle", ((15, 88), (19, 19)), (18, 21, 24)),
    ("rectangle", ((-12, 84), (12, 82)), (0, 128, 156)),
    # The ducts, which blow at the fresh plastic.
    ("polygon", ((-20, 24), (-20, 17), (-8, 5), (-5, 6), (-14, 24)), (16, 18, 20)),
    ("polygon", ((20, 24), (20, 17), (8, 5), (5, 6), (14, 24)), (16, 18, 20)),
    # The hotend and its nozzle, lit from the left.
    ("rectangle", ((-9, 20), (9, 10)), (128, 134, 140)),
    ("rectangle", ((-9, 20), (9, 18)), (160, 166, 172)),
    ("polygon", ((-5, 10), (5, 10), (5, 6), (1, 0), (-1, 0), (-5, 6)), (201, 152, 62)),
    ("polygon", ((-5, 10), (-2, 10), (-2, 6), (-0.6, 0), (-1, 0), (-5, 6)), (233, 196, 112)),
    ("ellipse", ((-14, _FAN_MM + 14), (14, _FAN_MM - 14)), (14, 16, 18)),
)


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
    """Return the printer's inside and its bed, with nothing on it; the same picture each time.

    It is drawn for the camera's place above, with lines on the bed every 20 mm.
    """
    with (files(__package__) / "data" / "room.png").open("rb") as file:
        return Image.open(file).convert("RGB")


def paste_beam(picture: Image.Image, nozzle: Point) -> None:
    """Paste the beam across the picture, behind the head."""
    y, bottom = nozzle.y + _BEAM_BEHIND_MM, nozzle.z + _BEAM_ABOVE_MM
    low, high = project(Point(0, y, bottom)).y, project(Point(0, y, bottom + _BEAM_HIGH_MM)).y
    picture.paste(_beam(max(int(low - high), 1)), (0, int(high)))


def paste_head(picture: Image.Image, nozzle: Point, *, heat: int, fan: int) -> None:
    """heat: 0 cold to HEATS. fan: its position, below FAN_POSITIONS."""
    spot = project(nozzle)
    head = _head(round(math.log(spot.scale, _SCALE_STEP)), heat, fan)
    picture.paste(head, (round(spot.x - head.width / 2), round(spot.y - head.height)), head)


@lru_cache(_BEAMS)
def _beam(rows: int) -> Image.Image:
    """Draw a round bar: dark, a bright line above the middle, dark again; and an edge below."""
    column = Image.new("RGB", (1, rows + 2), (20, 23, 26))
    for row in range(rows):
        light = math.exp(-(((row / rows) - 0.32) ** 2) / 0.035)
        grey = int(58 + 118 * light)
        column.putpixel((0, row), (grey, grey + 5, grey + 9))
    column.putpixel((0, rows), (12, 14, 16))
    return column.resize((WIDTH_PX, rows + 2))


@lru_cache(_HEADS)
def _head(scale_step: int, heat: int, fan: int) -> Image.Image:
    scale = _SCALE_STEP**scale_step
    size = max(round(2 * _HALF_WIDE_MM * scale), 1), max(round(_HIGH_MM * scale), 1)
    picture = Image.new("RGBA", (size[0] * _FINE, size[1] * _FINE))
    draw: Any = ImageDraw.Draw(picture)
    fine = scale * _FINE
    for shape, corners, colour in (*_SHAPES, *_fan(fan), *_glow(heat)):
        pixels = [((x + _HALF_WIDE_MM) * fine, (_HIGH_MM - up) * fine) for x, up in corners]
        getattr(draw, shape)(pixels, fill=(*colour, 255))
    return picture.reduce(_FINE)


def _glow(heat: int) -> Iterator[Shape]:
    if heat:
        yield "rectangle", ((4, 15), (7, 12)), (255, 120 - 20 * heat, 40)


def _fan(position: int) -> Iterator[Shape]:
    for n in range(7):
        angle = math.tau * (n + position / FAN_POSITIONS) / 7
        blade = tuple(
            (reach * math.cos(angle + bend), _FAN_MM + reach * math.sin(angle + bend))
            for reach, bend in ((4, 0.0), (12.5, 0.25), (12.5, 0.75), (4, 0.7))
        )
        yield "polygon", blade, (58, 64, 70)
    yield "ellipse", ((-4.5, _FAN_MM + 4.5), (4.5, _FAN_MM - 4.5)), (74, 81, 88)
