"""Everything around the print: bed, room behind it, gantry, hotend, lamp and camera."""

import math
from dataclasses import dataclass
from random import Random
from typing import Final

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from training.photos import Kind
from training.render_cloud import (
    Camera,
    Cloud,
    Floats,
    Indices,
    Light,
    camera_at,
    cloud,
    floats,
    together,
    unit,
)

BED_MM: Final = 110.0
"""From the bed's middle to its edge."""
_TEXTURE: Final = 320
"""Pixels of the bed's picture each way."""
_SHADOW: Final = 160
_SIZES: Final = ((352, 264), (352, 198), (320, 320), (264, 352), (352, 264))
_BEDS: Final = (
    *((0.06, 0.06, 0.07), (0.12, 0.12, 0.13), (0.25, 0.25, 0.26), (0.55, 0.45, 0.2)),
    *((0.1, 0.25, 0.55), (0.75, 0.74, 0.7), (0.35, 0.33, 0.3), (0.2, 0.45, 0.7)),
)
_PLASTICS: Final = (
    *((0.9, 0.9, 0.88), (0.08, 0.08, 0.09), (0.5, 0.5, 0.52), (0.85, 0.12, 0.1)),
    *((0.95, 0.45, 0.08), (0.1, 0.35, 0.8), (0.1, 0.6, 0.25), (0.9, 0.8, 0.15)),
    *((0.5, 0.2, 0.6), (0.15, 0.7, 0.7), (0.9, 0.4, 0.6), (0.75, 0.65, 0.45)),
)
_WORDS: Final = ("PLA", "PETG", "HOT", "235x235", "CAUTION", "3D", "A1", "K2", "MK", "210")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A printer in a room, and a camera and a lamp that stay as they are.

    texture: the bed from above. backdrop: what lies behind the bed, at the camera's size.
    sheen: how much of the lamp the bed throws back.
    """

    camera: Camera
    light: Light
    texture: Floats
    backdrop: Floats
    sheen: float
    metal: Floats
    head: Floats
    is_beside: bool


def any_plastic(random: Random) -> Floats:
    base = floats(*random.choice(_PLASTICS))
    change = floats(*(random.gauss(0, 0.05) for _ in range(3)))
    plastic: Floats = np.clip(base + change, 0.03, 1)
    return plastic


def any_scene(random: Random, focus_mm: tuple[float, float, float]) -> Scene:
    """Draw a scene whose camera looks at about this point."""
    camera = _camera(random, floats(*focus_mm))
    strength = random.uniform(0.35, 1.1)
    warmth = random.gauss(0, 0.1)
    lamp = floats(1 + warmth, 1, 1 - warmth)
    light = Light(
        toward=unit(floats(random.gauss(0, 0.6), random.gauss(0, 0.6), 1)),
        colour=lamp * np.float32(strength),
        ambient=lamp * np.float32(random.uniform(0.25, 0.6)),
    )
    return Scene(
        camera=camera,
        light=light,
        texture=_texture(random),
        backdrop=_backdrop(random, camera.width, camera.height),
        sheen=random.choice((0.0, 0.1, 0.4)),
        metal=floats(*(random.uniform(0.08, 0.6),) * 3),
        head=np.clip(floats(*(random.uniform(0.05, 0.35),) * 3), 0, 1),
        is_beside=random.random() < 0.35,
    )


def bed_and_room(scene: Scene, points: Cloud, bed_shift_mm: float) -> Floats:
    """The room, and the bed with the shadows of what stands on it."""
    camera = scene.camera
    rays = camera.rays()
    falls = rays[..., 2]
    far = np.where(falls < -1e-4, -camera.eye[2] / np.minimum(falls, -1e-4), np.inf)
    with np.errstate(invalid="ignore"):
        x = camera.eye[0] + rays[..., 0] * far
        y = camera.eye[1] + rays[..., 1] * far - bed_shift_mm
        is_bed = (np.abs(x) < BED_MM) & (np.abs(y) < BED_MM)
    picture = scene.backdrop.copy()
    x, y, look = x[is_bed], y[is_bed], unit(-rays[is_bed])
    shadow = _shadow(points, scene.light, bed_shift_mm)
    dark = shadow[_cells(y, _SHADOW), _cells(x, _SHADOW)][:, None]
    base = scene.texture[_cells(y, _TEXTURE), _cells(x, _TEXTURE)]
    light = scene.light
    lit = base * (light.ambient * (1 - 0.35 * dark) + light.colour * light.toward[2] * (1 - dark))
    half = unit(look + light.toward)
    shine = np.clip(half[:, 2], 0, 1) ** 40 * scene.sheen
    picture[is_bed] = lit + shine[:, None] * light.colour * (1 - dark)
    return picture


def gantry(scene: Scene, nozzle: tuple[float, float, float]) -> Cloud:
    """The bar that the hotend hangs on, the hotend's box and its nozzle."""
    x, y, z = nozzle
    side = 45.0 if scene.is_beside else 0.0
    x = x + side
    spacing = max(0.2, 0.9 / scene.camera.pixels_a_mm(floats(x, y - 12, z + 26)))
    tip = _cone(floats(x, y, z), spacing, floats(0.75, 0.6, 0.25))
    head = _box(scene, floats(x, y - 2, z + 26), floats(34, 30, 40), spacing, scene.head)
    fan = _disc(floats(x, y - 17.5, z + 26), 13, spacing, scene.head * np.float32(0.4))
    bar = _box(scene, floats(0, y + 24, z + 32), floats(300, 18, 18), spacing * 1.15, scene.metal)
    return together([tip, head, fan, bar])


def _camera(random: Random, focus: Floats) -> Camera:
    size = random.choice(_SIZES)
    around = math.radians(random.gauss(-90, 35))
    above = math.radians(random.uniform(12, 58))
    away = random.uniform(150, 420)
    eye = floats(
        math.cos(around) * math.cos(above), math.sin(around) * math.cos(above), math.sin(above)
    )
    shaky = floats(random.gauss(0, 12), random.gauss(0, 12), random.gauss(0, 8))
    covers_mm = random.choice((random.uniform(70, 140), random.uniform(110, 290)))
    zoom = max(size) * away / covers_mm
    target = focus + shaky
    return camera_at(target + eye * np.float32(away), target, random.gauss(0, 0.06), zoom, size)


def _texture(random: Random) -> Floats:
    """A bed: its colour, speckles, a grid or writing, glue and scratches."""
    red, green, blue = random.choice(_BEDS)
    image = Image.new(
        "RGB", (_TEXTURE, _TEXTURE), tuple(round(255 * c) for c in (red, green, blue))
    )
    draw = ImageDraw.Draw(image)
    ink = tuple(random.randrange(256) for _ in range(3))
    if random.random() < 0.4:
        gap = random.randrange(16, 60)
        for at in range(0, _TEXTURE, gap):
            draw.line((at, 0, at, _TEXTURE), fill=ink)
            draw.line((0, at, _TEXTURE, at), fill=ink)
    for _ in range(random.randrange(4)):
        place = (random.randrange(_TEXTURE), random.randrange(_TEXTURE))
        draw.text(place, random.choice(_WORDS), fill=ink, font_size=random.randrange(12, 90))
    for _ in range(random.randrange(12)):
        start = (random.randrange(_TEXTURE), random.randrange(_TEXTURE))
        end = (start[0] + random.randrange(-80, 80), start[1] + random.randrange(-80, 80))
        draw.line((*start, *end), fill=ink, width=random.randrange(1, 3))
    numbers = np.random.default_rng(random.getrandbits(32))
    speckles = numbers.standard_normal((_TEXTURE, _TEXTURE, 1), np.float32)
    rough = np.float32(random.choice((0.01, 0.03, 0.07)))
    # Seen from the front, the bed's first row is the nearest.
    return np.asarray(image, np.float32)[::-1] / 255 * (1 + speckles * rough)


def _backdrop(random: Random, width: int, height: int) -> Floats:
    """A room out of focus: walls, frames, lamps, cables."""
    wall = random.randrange(10, 220)
    shade = tuple(max(0, min(255, wall + random.randrange(-20, 21))) for _ in range(3))
    image = Image.new("RGB", (width, height), shade)
    draw = ImageDraw.Draw(image)
    for _ in range(random.randrange(3, 14)):
        left, top = random.randrange(-40, width), random.randrange(-40, height)
        wide, tall = random.randrange(8, 160), random.randrange(8, 160)
        level = random.randrange(10, 230)
        tint = tuple(max(0, min(255, level + random.randrange(-25, 26))) for _ in range(3))
        draw.rectangle((left, top, left + wide, top + tall), fill=tint)
    for _ in range(random.randrange(5)):
        at = random.randrange(width)
        level = random.randrange(20, 210)
        draw.line(
            (at, 0, at + random.randrange(-20, 20), height), (level,) * 3, random.randrange(4, 22)
        )
    image = image.filter(ImageFilter.GaussianBlur(random.uniform(0.5, 6)))
    return np.asarray(image, np.float32) / 255 * np.float32(random.uniform(0.3, 1.0))


def _shadow(points: Cloud, light: Light, bed_shift_mm: float) -> Floats:
    """How dark each place of the bed is, 0 to 1."""
    tall = points.places[:, 2]
    x = points.places[:, 0] - light.toward[0] / light.toward[2] * tall
    y = points.places[:, 1] - light.toward[1] / light.toward[2] * tall - bed_shift_mm
    inside = (np.abs(x) < BED_MM) & (np.abs(y) < BED_MM)
    mask = np.zeros((_SHADOW, _SHADOW), np.uint8)
    mask[_cells(y[inside], _SHADOW), _cells(x[inside], _SHADOW)] = 200
    soft = Image.fromarray(mask).filter(ImageFilter.GaussianBlur(1.6))
    return np.asarray(soft, np.float32) / 255


def _cells(at_mm: Floats, count: int) -> Indices:
    """Which cell of so many across the bed."""
    cells = ((at_mm + BED_MM) * (count / (2 * BED_MM))).astype(np.int64)
    return np.clip(cells, 0, count - 1)


def _box(scene: Scene, middle: Floats, size: Floats, spacing: float, tint: Floats) -> Cloud:
    """The faces of a box that the camera sees."""
    faces = []
    for axis in range(3):
        one, other = (number for number in range(3) if number != axis)
        a = np.arange(-size[one] / 2, size[one] / 2, spacing, dtype=np.float32)
        b = np.arange(-size[other] / 2, size[other] / 2, spacing, dtype=np.float32)
        grid_a, grid_b = (flat.reshape(-1) for flat in np.meshgrid(a, b))
        sign = 1 if scene.camera.eye[axis] > middle[axis] else -1
        places = np.zeros((len(grid_a), 3), np.float32)
        places[:, one], places[:, other] = grid_a, grid_b
        places[:, axis] = sign * size[axis] / 2
        normals = np.zeros_like(places)
        normals[:, axis] = sign
        faces.append(cloud(places + middle, normals, tint, gloss=0.15))
    return together(faces)


def _disc(middle: Floats, radius: float, spacing: float, tint: Floats) -> Cloud:
    """A fan that faces forward."""
    span = np.arange(-radius, radius, spacing, dtype=np.float32)
    x, z = (flat.reshape(-1) for flat in np.meshgrid(span, span))
    inside = x**2 + z**2 < radius**2
    x, z = x[inside], z[inside]
    blades = (0.7 + 0.3 * np.sign(np.sin(7 * np.arctan2(z, x)))).astype(np.float32)
    places = np.stack([x, np.zeros_like(x), z], axis=1) + middle
    normals = np.broadcast_to(floats(0, -1, 0), places.shape)
    return cloud(places, normals, tint * blades[:, None], kind=Kind.FINE)


def _cone(tip: Floats, spacing: float, tint: Floats) -> Cloud:
    """A nozzle, its tip below."""
    heights = np.arange(0, 7, spacing, dtype=np.float32)
    angles = np.arange(0, math.tau, 0.25, dtype=np.float32)
    around, up = (flat.reshape(-1) for flat in np.meshgrid(angles, heights))
    wide = 0.5 + np.minimum(up, 4) * 0.9
    normals = np.stack([np.cos(around), np.sin(around), np.full_like(up, -0.5)], axis=1)
    places = np.stack([wide * np.cos(around), wide * np.sin(around), up], axis=1) + tip
    return cloud(places, unit(normals), tint, gloss=0.8)
