"""The printing head as a small picture, and the beam that it rides on."""

import math
from functools import lru_cache

from PIL import Image, ImageDraw

from printreach.printers.simulated.model.motion import Point

from .view import WIDTH_PX, project

_FINE = 8.0
"""Pixels a millimetre in which the head is drawn, before it is shrunk to its distance."""
_WIDE_MM, _HIGH_MM = 52.0, 92.0
_BEAM_ABOVE_MM, _BEAM_BEHIND_MM, _BEAM_HIGH_MM = 62.0, 18.0, 13.0
_SCALE_STEP = 1.02

_DARK = (29, 33, 37, 255)
_BRASS = (201, 152, 62, 255)


def draw_beam(picture: Image.Image, nozzle: Point) -> None:
    """The beam across the picture, behind the head."""
    draw = ImageDraw.Draw(picture)
    y, bottom = nozzle.y + _BEAM_BEHIND_MM, nozzle.z + _BEAM_ABOVE_MM
    low, high = project(Point(0, y, bottom)).y, project(Point(0, y, bottom + _BEAM_HIGH_MM)).y
    rows = max(int(low - high), 1)
    for row in range(rows):
        # A round bar: dark, a bright line above the middle, dark again.
        light = math.exp(-(((row / rows) - 0.32) ** 2) / 0.035)
        grey = int(58 + 118 * light)
        at = int(high) + row
        draw.line([(0, at), (WIDTH_PX, at)], fill=(grey, grey + 5, grey + 9))
    draw.line([(0, int(low) + 1), (WIDTH_PX, int(low) + 1)], fill=(12, 14, 16))
    draw.line([(0, int(low) + 2), (WIDTH_PX, int(low) + 2)], fill=(20, 23, 26))


def paste_head(picture: Image.Image, nozzle: Point, *, hot_share: float, fan_turn: float) -> None:
    """hot_share: 0 cold to 1 glowing. fan_turn: in turns."""
    spot = project(nozzle)
    step = round(math.log(spot.scale, _SCALE_STEP))
    head = _head(step, round(hot_share * 4), int(fan_turn * 4) % 4)
    left, top = round(spot.x - head.width / 2), round(spot.y - head.height)
    picture.paste(head, (left, top), head)


@lru_cache(maxsize=48)
def _head(scale_step: int, heat: int, fan: int) -> Image.Image:
    scale = _SCALE_STEP**scale_step
    fine = _fine_head(heat, fan)
    size = max(round(_WIDE_MM * scale), 1), max(round(_HIGH_MM * scale), 1)
    return fine.resize(size, Image.Resampling.BOX)


@lru_cache(maxsize=20)
def _fine_head(heat: int, fan: int) -> Image.Image:
    picture = Image.new("RGBA", (int(_WIDE_MM * _FINE), int(_HIGH_MM * _FINE)))
    draw = ImageDraw.Draw(picture)
    _draw_body(draw)
    _draw_fan(draw, fan)
    _draw_hotend(draw, heat)
    return picture


def _draw_body(draw: ImageDraw.ImageDraw) -> None:
    draw.rounded_rectangle(_box(-19, 88, 19, 19), radius=4 * _FINE, fill=_DARK)
    draw.rounded_rectangle(_box(-19, 88, -14, 19), radius=3 * _FINE, fill=(44, 49, 54, 255))
    draw.rounded_rectangle(_box(15, 88, 19, 19), radius=3 * _FINE, fill=(18, 21, 24, 255))
    draw.rectangle(_box(-12, 84, 12, 82), fill=(0, 128, 156, 255))
    for side in (-1, 1):  # ducts that blow at the fresh plastic
        duct = [(side * 20, 24), (side * 20, 17), (side * 8, 5), (side * 5, 6), (side * 14, 24)]
        draw.polygon([_at(x, z) for x, z in duct], fill=(16, 18, 20, 255))


def _draw_fan(draw: ImageDraw.ImageDraw, fan: int) -> None:
    centre_z = 50
    draw.ellipse(_box(-14, centre_z + 14, 14, centre_z - 14), fill=(14, 16, 18, 255))
    for n in range(7):
        angle = math.tau * (n / 7 + fan / 28)
        blade = [
            _at(reach * math.cos(angle + bend), centre_z + reach * math.sin(angle + bend))
            for reach, bend in ((4, 0.0), (12.5, 0.25), (12.5, 0.75), (4, 0.7))
        ]
        draw.polygon(blade, fill=(58, 64, 70, 255))
    draw.ellipse(_box(-4.5, centre_z + 4.5, 4.5, centre_z - 4.5), fill=(74, 81, 88, 255))
    ring = _box(-14, centre_z + 14, 14, centre_z - 14)
    draw.ellipse(ring, outline=(70, 77, 84, 255), width=int(_FINE))


def _draw_hotend(draw: ImageDraw.ImageDraw, heat: int) -> None:
    draw.rectangle(_box(-9, 20, 9, 10), fill=(128, 134, 140, 255))
    draw.rectangle(_box(-9, 20, 9, 18), fill=(160, 166, 172, 255))
    draw.polygon(
        [_at(-5, 10), _at(5, 10), _at(5, 6), _at(1, 0), _at(-1, 0), _at(-5, 6)], fill=_BRASS
    )
    draw.polygon(
        [_at(-5, 10), _at(-2, 10), _at(-2, 6), _at(-0.6, 0), _at(-1, 0), _at(-5, 6)],
        fill=(233, 196, 112, 255),
    )
    if heat:
        draw.rectangle(_box(4, 15, 7, 12), fill=(255, 120 - 20 * heat, 40, 255))


def _at(x_mm: float, above_mm: float) -> tuple[float, float]:
    return (x_mm + _WIDE_MM / 2) * _FINE, (_HIGH_MM - above_mm) * _FINE


def _box(left: float, top: float, right: float, bottom: float) -> list[tuple[float, float]]:
    return [_at(left, top), _at(right, bottom)]
