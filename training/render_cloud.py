"""A small rasteriser: coloured points in space, drawn from far to near as a camera sees them.

All that is printed is points on its surface, close enough together that no gap shows. Lengths are
millimetres, the bed is the plane z = 0, and colours are 0 to 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from training.photos import Kind

Floats = npt.NDArray[np.float32 | np.float64]
"""Drawn in 32 bits; what numpy makes of both kinds is accepted."""
Bytes = npt.NDArray[np.uint8]
Indices = npt.NDArray[np.int64]

_NEAREST_MM: Final = 15.0
"""What is nearer to the camera than this is not drawn."""
_FOOTPRINT: Final = ((0, 0), (0, 1), (1, 0), (1, 1))
"""A point covers four pixels, so that points a pixel apart leave no gap."""
_SHININESS: Final = 20
_SHORTEST: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Cloud:
    """Points: place, normal and colour (n, 3) each, gloss (n) and Kind (n)."""

    places: Floats
    normals: Floats
    colours: Floats
    gloss: Floats
    kinds: Bytes

    def moved(self, by: Floats) -> "Cloud":
        return replace(self, places=self.places + by)

    def turned(self, matrix: Floats, about: Floats) -> "Cloud":
        """Turn all points about one place."""
        places = (self.places - about) @ matrix.T + about
        return replace(self, places=places, normals=self.normals @ matrix.T)


@dataclass(frozen=True, slots=True)
class Light:
    """toward: to the lamp, of length 1. colour: of the lamp; ambient: of all that comes around."""

    toward: Floats
    colour: Floats
    ambient: Floats


@dataclass(frozen=True, slots=True)
class Camera:
    """A pinhole. axes: rightward, downward and forward in its rows. zoom: pixels a radian."""

    eye: Floats
    axes: Floats
    zoom: float
    width: int
    height: int

    def project(self, places: Floats) -> tuple[Floats, Floats, Floats]:
        """Columns, rows, and how far away along the line of sight."""
        seen = (places - self.eye) @ self.axes.T
        depth = np.maximum(seen[:, 2], _SHORTEST)
        columns = seen[:, 0] / depth * self.zoom + self.width / 2
        rows = seen[:, 1] / depth * self.zoom + self.height / 2
        return columns, rows, seen[:, 2]

    def rays(self) -> Floats:
        """The direction that each pixel looks in: (height, width, 3)."""
        columns = (np.arange(self.width, dtype=np.float32) + 0.5 - self.width / 2) / self.zoom
        rows = (np.arange(self.height, dtype=np.float32) + 0.5 - self.height / 2) / self.zoom
        rays: Floats = (
            columns[None, :, None] * self.axes[0] + rows[:, None, None] * self.axes[1]
        ) + self.axes[2]
        return rays

    def pixels_a_mm(self, place: Floats) -> float:
        """How large a millimetre looks there."""
        return self.zoom / max(_NEAREST_MM, float((place - self.eye) @ self.axes[2]))


def camera_at(
    eye: Floats, target: Floats, roll: float, zoom: float, size: tuple[int, int]
) -> Camera:
    """A camera that looks at the target, its picture turned by roll. size: width and height."""
    forward = unit(target - eye)
    right = unit(np.cross(forward, floats(0, 0, 1)).astype(np.float32))
    down = np.cross(forward, right).astype(np.float32)
    cosine, sine = np.float32(np.cos(roll)), np.float32(np.sin(roll))
    axes = np.stack([cosine * right + sine * down, cosine * down - sine * right, forward])
    return Camera(eye, axes, zoom, *size)


def cloud(
    places: Floats, normals: Floats, colour: Floats, *, gloss: float = 0.0, kind: Kind = Kind.FINE
) -> Cloud:
    """Points of one material. colour: one for all (3), or one each (n, 3)."""
    count = len(places)
    return Cloud(
        places.astype(np.float32),
        normals.astype(np.float32),
        np.broadcast_to(colour, (count, 3)).astype(np.float32),
        np.full(count, gloss, np.float32),
        np.full(count, int(kind), np.uint8),
    )


def together(clouds: Sequence[Cloud]) -> Cloud:
    return Cloud(
        np.concatenate([one.places for one in clouds]),
        np.concatenate([one.normals for one in clouds]),
        np.concatenate([one.colours for one in clouds]),
        np.concatenate([one.gloss for one in clouds]),
        np.concatenate([one.kinds for one in clouds]),
    )


def draw(picture: Floats, kinds: Bytes, points: Cloud, camera: Camera, light: Light) -> None:
    """Draw points into a picture (rows, columns, 3) and its map, the nearest last."""
    columns, rows, depth = camera.project(points.places)
    shown = (depth > _NEAREST_MM) & (columns >= 0) & (rows >= 0)
    shown &= (columns < camera.width - 1) & (rows < camera.height - 1)
    chosen = np.flatnonzero(shown)
    # Where an index comes twice, numpy keeps what is written last.
    chosen = chosen[np.argsort(-depth[chosen])]
    first = rows[chosen].astype(np.int64) * camera.width + columns[chosen].astype(np.int64)
    offsets = np.array([down * camera.width + across for down, across in _FOOTPRINT])
    owner = np.full(kinds.size, -1, np.int64)
    owner[(first[:, None] + offsets).reshape(-1)] = np.repeat(chosen, len(_FOOTPRINT))
    drawn = np.flatnonzero(owner >= 0)
    winners = owner[drawn]
    picture.reshape(-1, 3)[drawn] = _shaded(points, winners, camera, light)
    kinds.reshape(-1)[drawn] = points.kinds[winners]


def _shaded(points: Cloud, which: Indices, camera: Camera, light: Light) -> Floats:
    """The colour of some points in this light, seen from there: matte, with a shine on top."""
    normals = points.normals[which]
    sight = unit(camera.eye - points.places[which])
    # Thin walls have one side only; the one that is seen is lit.
    facing = np.where((normals * sight).sum(axis=1) < 0, np.float32(-1), np.float32(1))
    normals = normals * facing[:, None]
    lit = np.clip(normals @ light.toward, 0, 1)[:, None]
    half = unit(sight + light.toward)
    shine = np.clip((normals * half).sum(axis=1), 0, 1) ** _SHININESS * points.gloss[which]
    answer: Floats = points.colours[which] * (light.ambient + lit * light.colour)
    answer += shine[:, None] * light.colour
    return answer


def floats(*numbers: float) -> Floats:
    return np.array(numbers, np.float32)


def unit(vectors: Floats) -> Floats:
    """The same directions with length 1."""
    lengths = np.sqrt((vectors * vectors).sum(axis=-1, keepdims=True))
    answer: Floats = vectors / np.maximum(lengths, np.float32(_SHORTEST))
    return answer
