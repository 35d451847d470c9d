"""The vase that the simulated printer comes with: a few minutes, sixty layers, nice to look at.

It is hollow, as slicers print vases. Coarse infill, drawn as flat lines, looks to the
failure detector like loose strands.
"""

import base64
import io
import math
from collections.abc import Iterator
from itertools import pairwise

from PIL import Image, ImageDraw

NAME = "twisted vase.gcode"
LAYERS = 60

_CENTRE_MM = 110.0
_LAYER_MM = 0.6
_CORNERS = 72
_LOBES = 7
_FILAMENT_PER_MM = 0.14
"""A line 0.6 mm wide and high, from filament of 1.75 mm."""
_WALL_F = 3300
_BOTTOM_F = 15000
_TRAVEL_F = 15000
_BOTTOM_LAYERS = 2
_BOTTOM_EVERY_MM = 0.9

_WARM_UP_S = 16.0
_G_PER_MM = 0.00298
"""Of PLA of 1.75 mm."""
_PICTURE_PX = 300
_COLOUR = (31, 158, 137)

_FIRST = "; A twisted vase, made for Printreach's simulated printer\n"
_BEGIN = f"""\
;LAYER_COUNT:{LAYERS}
M140 S60
M104 S210
G28 ; home
G90
M83
M190 S60
M109 S210
G92 E0
"""

_END = """\
M104 S0
M140 S0
M107
G91
G1 Z10 F1200
G90
G1 X110 Y210 F6000
; done
"""

Corner = tuple[float, float]


def sample_gcode() -> str:
    """Return the whole file."""
    lines = [*_skirt()]
    for layer in range(LAYERS):
        lines += _layer(layer)
    return "".join([_FIRST, *_totals(lines), *_thumbnail(), _BEGIN, *lines, _END])


def _totals(lines: list[str]) -> Iterator[str]:
    """Yield the comments in which slicers write what a print takes."""
    at, seconds, filament_mm = (0.0, 0.0), _WARM_UP_S, 0.0
    for line in lines:
        words = {word[0]: word[1:] for word in line.split() if word[0] in "XYEF"}
        to = float(words.get("X", at[0])), float(words.get("Y", at[1]))
        if "F" in words:
            seconds += math.dist(at, to) * 60 / float(words["F"])
        filament_mm += float(words.get("E", 0))
        at = to
    minutes, rest = divmod(round(seconds), 60)
    yield f"; estimated printing time (normal mode) = {minutes}m {rest}s\n"
    yield f"; filament used [mm] = {filament_mm:.2f}\n"
    yield f"; filament used [g] = {filament_mm * _G_PER_MM:.2f}\n"
    yield f"; total layers count = {LAYERS}\n"


def _thumbnail() -> Iterator[str]:
    """Yield the picture of the vase as slicers write it, in comments."""
    picture = io.BytesIO()
    _drawn().save(picture, "PNG", optimize=True)
    encoded = base64.b64encode(picture.getvalue()).decode()
    yield f"; thumbnail begin {_PICTURE_PX}x{_PICTURE_PX} {len(encoded)}\n"
    yield from (f"; {encoded[at : at + 78]}\n" for at in range(0, len(encoded), 78))
    yield "; thumbnail end\n"


def _drawn() -> Image.Image:
    """Draw the vase from the front, its layers from the lowest up, each lighter than the last."""
    wide = 4 * _PICTURE_PX
    picture = Image.new("RGBA", (wide, wide), (0, 0, 0, 0))
    pen = ImageDraw.Draw(picture)
    scale = wide / 100.0
    for layer in range(LAYERS):
        corners = [_corner(layer, n) for n in range(_CORNERS)]
        height = layer * _LAYER_MM * 1.2
        points = [
            (
                wide / 2 + (x - _CENTRE_MM) * scale,
                wide * 0.74 - height * scale - (y - _CENTRE_MM) * scale * 0.35,
            )
            for x, y in corners
        ]
        shade = 0.55 + 0.45 * layer / LAYERS
        colour = tuple(int(part * shade) for part in _COLOUR)
        pen.polygon(points, fill=(*colour, 255), outline=(*(part * 7 // 8 for part in colour), 255))
    return picture.resize((_PICTURE_PX, _PICTURE_PX), Image.Resampling.LANCZOS)


def _layer(layer: int) -> Iterator[str]:
    yield f";LAYER:{layer}\n"
    if layer == 1:
        yield "M106 S255\n"
    height = (layer + 1) * _LAYER_MM
    wall = [_corner(layer, n) for n in range(_CORNERS)]
    yield f"G1 Z{height:.2f} F1200\n"
    # The bottom first: it is hidden where the wall, drawn later, stands in front of it.
    if layer < _BOTTOM_LAYERS:
        yield from _bottom(wall, layer)
    yield f"G0 X{wall[0][0]:.2f} Y{wall[0][1]:.2f} F{_TRAVEL_F}\n"
    yield from _line([*wall, wall[0]], _WALL_F)


def _corner(layer: int, n: int) -> Corner:
    """Return a point of the wall, counter-clockwise."""
    share = layer / LAYERS
    angle = math.tau * n / _CORNERS
    belly = 33.0 + 7.0 * math.sin(math.pi * (0.15 + 0.85 * share))
    radius = belly + 3.2 * math.cos(_LOBES * (angle - 0.9 * share))
    return _at(angle, radius)


def _at(angle: float, radius: float) -> Corner:
    return _CENTRE_MM + radius * math.cos(angle), _CENTRE_MM + radius * math.sin(angle)


def _skirt() -> Iterator[str]:
    ring = [_at(math.tau * n / 48, 47.0) for n in range(49)]
    yield f"G0 X{ring[0][0]:.2f} Y{ring[0][1]:.2f} Z{_LAYER_MM:.2f} F{_TRAVEL_F}\n"
    yield from _line(ring, _WALL_F)


def _bottom(wall: list[Corner], layer: int) -> Iterator[str]:
    """Parallel lines from wall to wall, across those of the layer below."""
    turn = math.pi / 4 + (math.pi / 2) * (layer % 2)
    turned = [_turn(corner, -turn) for corner in wall]
    at, forwards = min(y for _, y in turned) + _BOTTOM_EVERY_MM / 2, True
    while at < max(y for _, y in turned):
        crossings = sorted(_crossings(turned, at))
        spans = [(a + 0.8, b - 0.8) for a, b in zip(crossings[::2], crossings[1::2], strict=True)]
        for left, right in spans if forwards else reversed(spans):
            if right - left > 1.0:
                ends = (left, right) if forwards else (right, left)
                start, end = (_turn((x, at), turn) for x in ends)
                yield f"G0 X{start[0]:.2f} Y{start[1]:.2f} F{_TRAVEL_F}\n"
                yield from _line([start, end], _BOTTOM_F)
        forwards = not forwards
        at += _BOTTOM_EVERY_MM


def _crossings(wall: list[Corner], at: float) -> Iterator[float]:
    for (x0, y0), (x1, y1) in zip(wall, [*wall[1:], wall[0]], strict=True):
        if (y0 < at) != (y1 < at):
            yield x0 + (x1 - x0) * (at - y0) / (y1 - y0)


def _turn(corner: Corner, angle: float) -> Corner:
    x, y = corner[0] - _CENTRE_MM, corner[1] - _CENTRE_MM
    cos, sin = math.cos(angle), math.sin(angle)
    return _CENTRE_MM + x * cos - y * sin, _CENTRE_MM + x * sin + y * cos


def _line(corners: list[Corner], feed: int) -> Iterator[str]:
    """Extrude along the corners, from the first, where the head already is."""
    for start, end in pairwise(corners):
        fed = math.dist(start, end) * _FILAMENT_PER_MM
        yield f"G1 X{end[0]:.2f} Y{end[1]:.2f} E{fed:.4f} F{feed}\n"
