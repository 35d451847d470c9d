"""Parts as their toolpaths leave them: walls layer on layer, infill on top, supports beside.

A part's outline at each height is a distance from its middle for each angle. Boxes, vases, figures
and towers are all told by the same few numbers.
"""

import math
from dataclasses import dataclass
from random import Random
from typing import Final

import numpy as np
import numpy.typing as npt

from training.render_cloud import Cloud, Floats, cloud, floats, together, unit

_MAX_POINTS: Final = 40_000
"""Of one part; a larger one gets coarser instead of slower."""
_HARMONICS: Final = 5
_SKIN_MM: Final = 1.2
_INFILL_DEPTH_MM: Final = 2.5
_LINE_MM: Final = 1.0
"""Thicker than a nozzle draws, or no camera would see it."""
_RIDGE: Final = 0.55
"""How far each layer's bulge turns the light."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One printed part. radius_mm, height_mm: when it is done; middle: x and y on the bed.

    roundness: 2 a circle, 10 nearly a box. waves: of the outline, as (how many, how deep, where).
    profile: how wide at so many heights between bed and top. layer_mm: as thick as they look.
    support: how high a support stands beside it, as a share of its height; 0 for none.
    """

    middle: tuple[float, float]
    radius_mm: float
    height_mm: float
    stretch: float
    roundness: float
    turn: float
    twist: float
    waves: tuple[tuple[int, float, float], ...]
    profile: tuple[float, ...]
    layer_mm: float
    unevenness: float
    infill: str
    infill_mm: float
    support: float
    colour: Floats
    gloss: float


def any_part(random: Random, middle: tuple[float, float], room_mm: float, colour: Floats) -> Part:
    """Draw a part that keeps within room_mm of its middle."""
    family = random.choice(("box", "round", "organic", "organic", "vase", "tower", "gear"))
    radius = room_mm * random.uniform(0.45, 0.95)
    height = random.uniform(12, 2.2 * room_mm + 12)
    waves: tuple[tuple[int, float, float], ...] = ()
    profile: tuple[float, ...] = (1.0, 1.0)
    roundness = random.uniform(2, 3)
    if family == "box":
        roundness = random.uniform(7, 14)
        profile = tuple(random.choice(((1.0, 1.0), (1.0, 0.8), (0.85, 1.0), (1.0, 1.0, 0.6))))
    elif family in ("organic", "vase"):
        waves = tuple(
            (number, random.gauss(0, 0.16 / number**0.7), random.uniform(0, math.tau))
            for number in range(2, 2 + _HARMONICS)
        )
        profile = tuple(random.uniform(0.45, 1.0) for _ in range(random.randrange(3, 8)))
    elif family == "tower":
        radius, height = min(radius, random.uniform(4, 10)), random.uniform(30, 90)
        roundness = random.choice((2.0, 10.0))
        profile = (1.0, random.uniform(0.3, 1.0))
    elif family == "gear":
        waves = ((random.randrange(6, 22), random.uniform(0.04, 0.14), 0.0),)
        height = random.uniform(5, 25)
    return Part(
        middle=middle,
        radius_mm=radius,
        height_mm=height,
        stretch=math.exp(random.uniform(-0.5, 0.5)) if family != "round" else 1.0,
        roundness=roundness,
        turn=random.uniform(0, math.tau),
        twist=random.uniform(-2, 2) if family == "vase" else 0.0,
        waves=waves,
        profile=profile,
        layer_mm=random.choice((0.6, 1.0, 1.6, 2.4)),
        unevenness=random.choice((0.0, 0.1, 0.25, 0.5)),
        infill="none" if family == "vase" else random.choice(("lines", "grid", "waves", "solid")),
        infill_mm=random.uniform(2.5, 7),
        support=random.choice((0.0, 0.0, random.uniform(0.3, 1.0))),
        colour=colour,
        gloss=random.choice((0.0, 0.1, 0.35, 0.8)),
    )


def printed(part: Part, height_mm: float, spacing_mm: float, seed: int) -> Cloud:
    """The part up to a height, its points so far apart; the same seed gives the same surface."""
    numbers = np.random.default_rng(seed)
    height = max(part.layer_mm, min(height_mm, part.height_mm))
    clouds = [_walls(part, height, spacing_mm, numbers)]
    if part.infill != "none":
        clouds.append(_top(part, height, spacing_mm))
    if part.support:
        clouds.append(_support(part, min(height, part.support * part.height_mm), spacing_mm))
    return together(clouds)


def outline_mm(part: Part, angles: Floats, heights: Floats) -> Floats:
    """How far the wall is from the middle, before stretch and turn."""
    rises = heights / part.height_mm
    steps = np.linspace(0, 1, len(part.profile))
    wide = np.interp(rises, steps, np.array(part.profile))
    cosine, sine = np.abs(np.cos(angles)), np.abs(np.sin(angles))
    round_off = (cosine**part.roundness + sine**part.roundness) ** (-1 / part.roundness)
    for count, depth, phase in part.waves:
        round_off = round_off + depth * np.cos(count * angles + phase + 2 * rises)
    answer: Floats = (part.radius_mm * wide * round_off).astype(np.float32)
    return answer


def _walls(part: Part, height: float, spacing: float, numbers: np.random.Generator) -> Cloud:
    around = math.tau * part.radius_mm * max(part.stretch, 1 / part.stretch)
    wanted = around / spacing * height / spacing
    coarser = max(1.0, math.sqrt(wanted / _MAX_POINTS))
    columns = max(24, int(around / spacing / coarser))
    rows = max(4, int(height / spacing / coarser))
    angles = np.tile(np.linspace(0, math.tau, columns, dtype=np.float32), rows)
    heights = np.repeat(np.linspace(0, height, rows, dtype=np.float32), columns)
    layers = (heights / part.layer_mm).astype(np.int64)
    slips = numbers.normal(0, part.unevenness, layers.max() + 1).astype(np.float32)
    far = outline_mm(part, angles, heights) + slips[layers] * 0.4
    places = _on_bed(part, angles, heights, far)
    outward = _outward(part, angles, heights, far)
    # Each layer bulges: light from above meets its upper half.
    within = heights / part.layer_mm - layers - 0.5
    outward[:, 2] += _RIDGE * np.sin(np.pi * within)
    tones = 1 + numbers.normal(0, 0.02 + 0.05 * part.unevenness, layers.max() + 1)
    near_bed = 0.8 + 0.2 * np.clip(heights / 8, 0, 1)
    tone = (tones[layers] * (1 - 0.25 * np.abs(within)) * near_bed).astype(np.float32)
    return cloud(places, unit(outward), part.colour * tone[:, None], gloss=part.gloss)


def _outward(part: Part, angles: Floats, heights: Floats, far: Floats) -> Floats:
    """Which way the wall faces: off its tangent, and up or down where it leans."""
    step = np.float32(0.02)
    ahead = _on_bed(part, angles + step, heights, outline_mm(part, angles + step, heights))
    along = ahead - _on_bed(part, angles, heights, far)
    higher = outline_mm(part, angles, np.minimum(heights + 1, part.height_mm))
    lean = np.clip(far - higher, -2, 2)
    outward = unit(np.stack([along[:, 1], -along[:, 0], np.zeros_like(lean)], axis=1))
    outward[:, 2] = lean
    return outward


def _on_bed(part: Part, angles: Floats, heights: Floats, far: Floats) -> Floats:
    x, y = far * np.cos(angles) * part.stretch, far * np.sin(angles) / part.stretch
    turn = part.turn + part.twist * heights / part.height_mm
    cosine, sine = np.cos(turn), np.sin(turn)
    places: Floats = np.stack(
        [cosine * x - sine * y + part.middle[0], sine * x + cosine * y + part.middle[1], heights],
        axis=1,
    ).astype(np.float32)
    return places


def _top(part: Part, height: float, spacing: float) -> Cloud:
    """The newest layer: a rim of wall, and infill inside it that leaves the layers below to see."""
    reach = part.radius_mm * max(part.stretch, 1 / part.stretch)
    rings = max(4, int(reach / spacing))
    share = np.linspace(0.0, 1.0, rings, dtype=np.float32)
    angles = np.linspace(0, math.tau, max(24, int(math.tau * reach / spacing)), dtype=np.float32)
    shares = np.repeat(share, len(angles))
    around = np.tile(angles, rings)
    heights = np.full(len(around), height, np.float32)
    rim = outline_mm(part, around, heights)
    far = rim * shares
    places = _on_bed(part, around, heights, far)
    is_wall = rim - far < _SKIN_MM
    is_line = is_wall | _infill(part, places)
    places[:, 2] -= np.where(is_line, 0, _INFILL_DEPTH_MM).astype(np.float32)
    tone = np.where(is_wall, 1.0, np.where(is_line, 0.95, 0.45)).astype(np.float32)
    normals = np.broadcast_to(floats(0, 0, 1), places.shape)
    return cloud(places, normals, part.colour * tone[:, None], gloss=part.gloss * 0.5)


def _infill(part: Part, places: Floats) -> npt.NDArray[np.bool_]:
    """Which places of a layer are on a line of its infill."""
    x, y = places[:, 0] / part.infill_mm, places[:, 1] / part.infill_mm
    wide = _LINE_MM / part.infill_mm
    is_line: npt.NDArray[np.bool_] = (x + y) % 1 < wide
    if part.infill == "solid":
        is_line = np.ones(len(places), np.bool_)
    elif part.infill == "grid":
        is_line = is_line | ((x - y) % 1 < wide)
    elif part.infill == "waves":
        is_line = np.abs(np.sin(math.pi * x) + np.cos(math.pi * y)) < 2 * wide
    return is_line


def _support(part: Part, height: float, spacing: float) -> Cloud:
    """Thin walls to and fro beside the part, as slicers put them under what hangs over."""
    across = 0.9 * part.radius_mm
    gap = max(2.5, part.infill_mm * 0.8)
    lines = max(3, int(across / gap))
    along = np.arange(0, across, max(spacing, 0.4), dtype=np.float32)
    up = np.arange(0, max(height, 1), max(spacing, 0.5), dtype=np.float32)
    grids = []
    for number in range(lines):
        x, z = (axis.reshape(-1) for axis in np.meshgrid(along, up))
        y = np.full_like(x, number * gap) + 0.25 * np.sin(z * 2)
        grids.append(np.stack([x, y, z], axis=1))
    places = np.concatenate(grids).astype(np.float32)
    beside = part.radius_mm * 0.55
    places += floats(part.middle[0] + beside, part.middle[1] - across / 2, 0)
    normals = np.broadcast_to(floats(0.2, 1, 0.1), places.shape)
    tone = (0.82 + 0.1 * np.sin(places[:, 2] * 3)).astype(np.float32)
    return cloud(places, normals, part.colour * tone[:, None], gloss=part.gloss * 0.3)
