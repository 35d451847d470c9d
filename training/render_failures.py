"""How prints fail: plastic that curls and falls, parts that come loose, layers that slip.

Only what hangs in loops is marked as spaghetti. A part that tipped over or slipped is marked as
another defect: in one picture it may look like a part that was meant so.
"""

import math
from dataclasses import dataclass, replace
from enum import Enum
from random import Random
from typing import Final

import numpy as np
import numpy.typing as npt

from training.photos import Kind
from training.render_cloud import Cloud, Floats, cloud, floats, together, unit

_STEP_MM: Final = 0.7
"""Between two points along a strand."""
_ROUND: Final = 4
"""Points around a strand."""
_STRAND_MM: Final = 320.0
"""A heap grows by strands of this length."""
_MAX_STRANDS: Final = 14
_MAX_DROOP_MM: Final = 6.0

Doubles = npt.NDArray[np.float64]


class Failure(Enum):
    """What goes wrong in a sequence. AIR: the nozzle moves on and nothing comes out."""

    NONE = "none"
    SPAGHETTI = "spaghetti"
    DETACHED = "detached"
    SHIFTED = "shifted"
    AIR = "air"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heap:
    """Where spaghetti gathers: x and y, how high the nozzle is, how wide, how tall.

    on: middle, radius and height of the part that it falls on. curl_mm: how large its loops are.
    thickness_mm: of the strand.
    """

    middle: tuple[float, float]
    nozzle_mm: float
    radius_mm: float
    height_mm: float
    curl_mm: float
    thickness_mm: float
    on: tuple[float, float, float, float]


def any_heap(random: Random, on: tuple[float, float, float, float]) -> Heap:
    """Draw a heap that falls on a part, or on the bed where its height is 0."""
    x, y, room, height = on
    radius = (room + 6) * random.uniform(0.6, 1.4)
    return Heap(
        middle=(x + random.gauss(0, room / 3), y + random.gauss(0, room / 3)),
        nozzle_mm=height + random.uniform(3, 15),
        radius_mm=radius,
        height_mm=radius * random.uniform(0.2, 0.8),
        curl_mm=random.uniform(2.5, 12),
        on=on,
        thickness_mm=random.uniform(0.5, 1.3),
    )


def spaghetti(heap: Heap, strands: float, colour: Floats, gloss: float, seed: int) -> Cloud:
    """So many strands of a heap; more of them keep the first ones where they are.

    A broken number draws the last strand only in part.
    """
    wanted = max(0.05, min(float(_MAX_STRANDS), strands))
    clouds = []
    for number in range(math.ceil(wanted)):
        numbers = np.random.default_rng((seed, number))
        share = min(1.0, wanted - number)
        line = _strand(heap, share * _STRAND_MM, number, numbers)
        tone = np.float32(numbers.uniform(0.8, 1.1))
        clouds.append(_tube(line, heap, colour * tone, gloss))
    return together(clouds)


def hanging(heap: Heap, colour: Floats, gloss: float, seed: int) -> Cloud:
    """The strand that still hangs from the nozzle, drooping on its way to the heap."""
    numbers = np.random.default_rng((seed, _MAX_STRANDS))
    start = floats(*heap.middle, heap.nozzle_mm)
    end = start + numbers.normal(0, heap.radius_mm * 0.5, 3).astype(np.float32)
    end[2] = max(0.5, heap.nozzle_mm - 3 - heap.height_mm * 0.4)
    along = np.linspace(0, 1, max(8, int(heap.nozzle_mm / _STEP_MM)), dtype=np.float32)[:, None]
    line = start + (end - start) * along
    droop = np.sin(np.pi * along[:, 0]) * numbers.uniform(1, _MAX_DROOP_MM)
    line[:, 2] = np.maximum(0.4, line[:, 2] - droop.astype(np.float32))
    return _tube(line, heap, colour, gloss)


def detached(part: Cloud, middle: tuple[float, float], random: Random) -> Cloud:
    """The whole part turned, pushed aside and perhaps tipped over."""
    about = floats(*middle, 0)
    around, tip = random.uniform(0.2, 1.2) * random.choice((-1, 1)), 0.0
    if random.random() < 0.5:
        tip = random.uniform(0.5, 1.4) * random.choice((-1, 1))
    cosine, sine = math.cos(around), math.sin(around)
    spin = np.array([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]], np.float32)
    lean = np.array(
        [[1, 0, 0], [0, math.cos(tip), -math.sin(tip)], [0, math.sin(tip), math.cos(tip)]],
        np.float32,
    )
    gone = part.turned(spin @ lean, about)
    by = floats(random.gauss(0, 14), random.gauss(0, 14), -float(gone.places[:, 2].min()))
    return _as_defect(gone.moved(by), 0)


def shifted(part: Cloud, from_mm: float, by_mm: tuple[float, float]) -> Cloud:
    """Every layer above a height beside where it should be."""
    is_above = part.places[:, 2] >= from_mm
    places = part.places + is_above[:, None] * floats(*by_mm, 0)
    return _as_defect(replace(part, places=places), from_mm)


def _as_defect(part: Cloud, from_mm: float) -> Cloud:
    kinds = np.where(part.places[:, 2] >= from_mm, int(Kind.OTHER_DEFECT), part.kinds)
    return replace(part, kinds=kinds.astype(np.uint8))


def _strand(heap: Heap, length_mm: float, number: int, numbers: np.random.Generator) -> Floats:
    """A line that curls at random, is drawn together to the heap and lies on what is there."""
    steps = max(12, int(length_mm / _STEP_MM))
    # All numbers are drawn for the whole strand, so that a longer part begins like a shorter one.
    whole = int(_STRAND_MM / _STEP_MM) + 1
    bend = _smooth(numbers.normal(0, 1, whole), 9) * 2.2 + numbers.choice((-1, 1)) * 0.7
    heading = np.cumsum(bend * _STEP_MM / heap.curl_mm)[:steps] + numbers.uniform(0, math.tau)
    start = numbers.normal(0, heap.radius_mm * 0.35, 2)
    x = start[0] + np.cumsum(np.cos(heading)) * _STEP_MM
    y = start[1] + np.cumsum(np.sin(heading)) * _STEP_MM
    away = np.sqrt(x**2 + y**2)
    closer = heap.radius_mm / np.sqrt(heap.radius_mm**2 + away**2)
    x, y = x * closer, y * closer
    rises = np.tanh(_smooth(numbers.normal(0, 1, whole), 45)[:steps]) * 0.6 + 0.45
    pile = heap.height_mm * (0.25 + 0.75 * min(1.0, number / 6))
    inward = np.clip(1 - (away * closer / heap.radius_mm) ** 2, 0.05, 1)
    x, y = x + heap.middle[0], y + heap.middle[1]
    z = _ground(heap, x, y) + np.clip(rises * pile * inward, 0.4, None)
    line: Floats = np.stack([x, y, z], axis=1).astype(np.float32)
    return line


def _ground(heap: Heap, x: Doubles, y: Doubles) -> Doubles:
    """How high what it lies on is: the part, with strands that hang down beside it."""
    on_x, on_y, radius, height = heap.on
    away = np.sqrt((x - on_x) ** 2 + (y - on_y) ** 2) / max(1.0, radius)
    answer: Doubles = height / (1 + away**8)
    return answer


def _smooth(noise: Doubles, width: int) -> Doubles:
    """Noise that changes over so many steps, about as strong as before."""
    kernel = np.hanning(2 * width + 1)
    return np.convolve(noise, kernel / np.sqrt((kernel**2).sum()), mode="same")


def _tube(line: Floats, heap: Heap, colour: Floats, gloss: float) -> Cloud:
    """Points all around a line."""
    along = unit(np.gradient(line, axis=0).astype(np.float32))
    beside = unit(np.cross(along, floats(0.1, 0.2, 1)).astype(np.float32))
    above = np.cross(beside, along)
    turns = np.linspace(0, math.tau, _ROUND, endpoint=False)
    normals = np.concatenate([beside * np.cos(turn) + above * np.sin(turn) for turn in turns])
    places = np.tile(line, (_ROUND, 1)) + normals * (heap.thickness_mm / 2)
    # Deep in a heap little light arrives.
    top = max(1.0, float(line[:, 2].max()))
    deep = np.clip((places[:, 2] - top) / heap.height_mm + 1, 0, 1)
    tone = (0.55 + 0.45 * deep).astype(np.float32)
    return cloud(places, normals, colour * tone[:, None], gloss=gloss, kind=Kind.SPAGHETTI)


def heap_strands(frames_since: int, pace: float) -> float:
    """How much lies there so many pictures after it began."""
    return min(float(_MAX_STRANDS), (frames_since + 1) * pace)
