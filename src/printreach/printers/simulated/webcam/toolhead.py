"""The printing head as a small picture, and the beam that it rides on."""

import math
from functools import lru_cache

from PIL import Image, ImageDraw

from printreach.printers.simulated.model.motion import Point

from .scenery import WIDTH_PX, project

_FINE = 2
"""Parts are drawn this much larger than they are shown, against jagged edges."""
_BEAM_ABOVE_MM, _BEAM_BEHIND_MM, _BEAM_HIGH_MM = 62.0, 18.0, 13.0
_SCALE_STEP = 1.03
HEATS, FAN_POSITIONS = 4, 4
"""As many glows above cold, and turns of the fan, can be told apart."""
_BODY_MM = (-26.0, 92.0, 26.0, 0.0)
_FAN_MM = (-15.0, 65.0, 15.0, 35.0)
"""Left, top, right, bottom: right of the nozzle and above it."""
_BODIES, _FANS, _BEAMS = 12, 48, 12
"""Remembered, for a print goes back and forth between the same places: 6 MB together."""

_DARK = (29, 33, 37, 255)
_BRASS = (201, 152, 62, 255)


def paste_beam(picture: Image.Image, nozzle: Point) -> None:
    """Paste the beam across the picture, behind the head."""
    y, bottom = nozzle.y + _BEAM_BEHIND_MM, nozzle.z + _BEAM_ABOVE_MM
    low, high = project(Point(0, y, bottom)).y, project(Point(0, y, bottom + _BEAM_HIGH_MM)).y
    picture.paste(_beam(max(int(low - high), 1)), (0, int(high)))


def paste_head(picture: Image.Image, nozzle: Point, *, heat: int, fan: int) -> None:
    """heat: 0 cold to HEATS. fan: its position, below FAN_POSITIONS."""
    spot = project(nozzle)
    step = round(math.log(spot.scale, _SCALE_STEP))
    body, turned = _body(step, heat), _fan(step, fan)
    left, top = round(spot.x - body.width / 2), round(spot.y - body.height)
    picture.paste(body, (left, top), body)
    # Counted from the body's corner, so that the fan doesn't shake in it.
    right_by = round((_FAN_MM[0] - _BODY_MM[0]) * _SCALE_STEP**step)
    down_by = round((_BODY_MM[1] - _FAN_MM[1]) * _SCALE_STEP**step)
    picture.paste(turned, (left + right_by, top + down_by), turned)


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


class _Sketch:
    """A part of the head, drawn in millimetres: right of the nozzle, and above it."""

    def __init__(self, frame: tuple[float, float, float, float], scale: float) -> None:
        self._left, self._top, right, bottom = frame
        self._scale = scale * _FINE
        wide = max(round((right - self._left) * scale), 1)
        high = max(round((self._top - bottom) * scale), 1)
        self._picture = Image.new("RGBA", (wide * _FINE, high * _FINE))
        self.draw = ImageDraw.Draw(self._picture)

    def px(self, mm: float) -> float:
        return mm * self._scale

    def at(self, x_mm: float, above_mm: float) -> tuple[float, float]:
        return self.px(x_mm - self._left), self.px(self._top - above_mm)

    def box(
        self, left: float, top: float, right: float, bottom: float
    ) -> list[tuple[float, float]]:
        return [self.at(left, top), self.at(right, bottom)]

    def shape(self, *corners: tuple[float, float]) -> list[tuple[float, float]]:
        return [self.at(x, above) for x, above in corners]

    def shrunk(self) -> Image.Image:
        return self._picture.reduce(_FINE)


@lru_cache(_BODIES)
def _body(scale_step: int, heat: int) -> Image.Image:
    sketch = _Sketch(_BODY_MM, _SCALE_STEP**scale_step)
    _draw_body(sketch)
    _draw_hotend(sketch, heat)
    return sketch.shrunk()


@lru_cache(_FANS)
def _fan(scale_step: int, position: int) -> Image.Image:
    sketch = _Sketch(_FAN_MM, _SCALE_STEP**scale_step)
    _draw_fan(sketch, position)
    return sketch.shrunk()


def _draw_body(sketch: _Sketch) -> None:
    draw, box = sketch.draw, sketch.box
    draw.rounded_rectangle(box(-19, 88, 19, 19), radius=sketch.px(4), fill=_DARK)
    draw.rounded_rectangle(box(-19, 88, -14, 19), radius=sketch.px(3), fill=(44, 49, 54, 255))
    draw.rounded_rectangle(box(15, 88, 19, 19), radius=sketch.px(3), fill=(18, 21, 24, 255))
    draw.rectangle(box(-12, 84, 12, 82), fill=(0, 128, 156, 255))
    for side in (-1, 1):  # ducts that blow at the fresh plastic
        duct = [(side * 20, 24), (side * 20, 17), (side * 8, 5), (side * 5, 6), (side * 14, 24)]
        draw.polygon(sketch.shape(*duct), fill=(16, 18, 20, 255))


def _draw_fan(sketch: _Sketch, position: int) -> None:
    draw, box, middle = sketch.draw, sketch.box, 50
    draw.ellipse(box(-14, middle + 14, 14, middle - 14), fill=(14, 16, 18, 255))
    for n in range(7):
        angle = math.tau * (n + position / FAN_POSITIONS) / 7
        blade = [
            (reach * math.cos(angle + bend), middle + reach * math.sin(angle + bend))
            for reach, bend in ((4, 0.0), (12.5, 0.25), (12.5, 0.75), (4, 0.7))
        ]
        draw.polygon(sketch.shape(*blade), fill=(58, 64, 70, 255))
    draw.ellipse(box(-4.5, middle + 4.5, 4.5, middle - 4.5), fill=(74, 81, 88, 255))
    ring = box(-14, middle + 14, 14, middle - 14)
    draw.ellipse(ring, outline=(70, 77, 84, 255), width=round(sketch.px(1)))


def _draw_hotend(sketch: _Sketch, heat: int) -> None:
    draw, box, shape = sketch.draw, sketch.box, sketch.shape
    draw.rectangle(box(-9, 20, 9, 10), fill=(128, 134, 140, 255))
    draw.rectangle(box(-9, 20, 9, 18), fill=(160, 166, 172, 255))
    draw.polygon(shape((-5, 10), (5, 10), (5, 6), (1, 0), (-1, 0), (-5, 6)), fill=_BRASS)
    edge = shape((-5, 10), (-2, 10), (-2, 6), (-0.6, 0), (-1, 0), (-5, 6))
    draw.polygon(edge, fill=(233, 196, 112, 255))
    if heat:
        draw.rectangle(box(4, 15, 7, 12), fill=(255, 120 - 20 * heat, 40, 255))
