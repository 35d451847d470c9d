"""Prints that never were: pictures and sequences of them, good ones and ones that fail.

For sequences there are no recordings that begin well, and whose first bad picture is known. All is
drawn from one seed, so that the same seed gives the same pixels.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Final

import numpy as np
from PIL import Image, ImageFilter

from training.photos import Kind
from training.render_cloud import Bytes, Cloud, Floats, draw, floats, together
from training.render_failures import (
    Failure,
    Heap,
    any_heap,
    detached,
    hanging,
    heap_strands,
    shifted,
    spaghetti,
)
from training.render_parts import Part, any_part, printed
from training.render_scene import Scene, any_plastic, any_scene, bed_and_room, gantry

_GROUPS: Final = ((0, 0), (48, 8), (-46, -6), (10, 52), (-20, -48), (44, -44))
"""Where several parts stand."""
_ROOM_MM: Final = 24.0
_BED_STROKE_MM: Final = 14.0
"""How far a bed that moves is from its middle when a picture is taken."""
_PARKED_BED_MM: Final = -60.0
_PARKED_HEAD_MM: Final = 85.0
"""Where they stand while the head is parked."""
_CHANGE_PICTURES: Final = 4
"""A change of filament takes more than a minute."""
_PACES: Final = (0.5, 0.8, 1.2, 2.0)
"""Strands a picture; one is about a third of a metre."""
_MESH: Final = 6
"""A strand is thinner than a place of the map: what lies between strands counts as spaghetti."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A picture (rows, columns, 3), the Kind at each pixel, and whether spaghetti is to be seen."""

    pixels: Bytes
    kinds: Bytes

    @property
    def failed(self) -> bool:
        return bool((self.kinds == Kind.SPAGHETTI).any())


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that a sequence of count pictures will show.

    onset: the number of the first bad picture. from_share, to_share, onset_share: how much of the
    print is done in the first picture, the last one, and the first bad one. parks: for half of the
    pictures the head stands aside, as for a timelapse. changes_filament: the number of the picture
    from which on it is, for as long as a change takes.
    """

    seed: int
    count: int
    scene: Scene
    parts: tuple[Part, ...]
    failing: Failure
    onset: int
    heap: Heap
    pace: float
    shift_mm: tuple[float, float]
    from_share: float
    to_share: float
    onset_share: float
    moves_bed: bool
    shows_head: float
    parks: bool = False
    changes_filament: int | None = None


def any_plan(seed: int, failing: Failure, onset: int, count: int) -> Plan:
    """Draw everything but the pictures, of which there will be so many."""
    random = Random(seed)
    parts = _any_parts(random)
    first = parts[0]
    tallest = max(part.height_mm for part in parts)
    from_share = random.uniform(0.1, 0.6)
    to_share = min(1.0, from_share + random.uniform(0.05, 0.5))
    at = from_share + (to_share - from_share) * onset / max(1, count - 1)
    focus = (first.middle[0] * 0.5, first.middle[1] * 0.5, tallest * 0.3)
    return Plan(
        seed=seed,
        count=count,
        scene=any_scene(random, focus),
        parts=parts,
        failing=failing,
        onset=onset,
        heap=any_heap(random, (*first.middle, first.radius_mm, _fallen_on_mm(first, failing, at))),
        pace=random.choice(_PACES),
        shift_mm=(random.choice((-1, 1)) * random.uniform(3, 12), random.gauss(0, 3)),
        from_share=from_share,
        to_share=to_share,
        onset_share=at,
        moves_bed=random.random() < 0.5,
        shows_head=random.choice((0.0, 0.7, 0.9, 0.9)),
    )


def picture(seed: int, failing: Failure = Failure.NONE) -> Rendered:
    """One picture of a print, some while after it began to fail if it does."""
    since = Random(seed + 1).randrange(1, 12)
    return frame(any_plan(seed, failing, 0, since + 1), since)


def sequence(seed: int, failing: Failure, onset: int, count: int) -> Iterator[Rendered]:
    """So many pictures of a print, which fails from number onset on."""
    plan = any_plan(seed, failing, onset, count)
    return (frame(plan, number) for number in range(count))


def on_camera(plan: Plan, camera: Plan) -> Plan:
    """The same print on the printer of another plan, as its camera sees it."""
    return replace(
        plan, scene=camera.scene, moves_bed=camera.moves_bed, shows_head=camera.shows_head
    )


def frame(plan: Plan, number: int) -> Rendered:
    """One picture of a plan."""
    random = Random(plan.seed * 1_000_003 + number)
    share = _share_done(plan, number)
    is_bad = plan.failing is not Failure.NONE and number >= plan.onset
    camera = plan.scene.camera
    shift = random.uniform(-_BED_STROKE_MM, _BED_STROKE_MM) if plan.moves_bed else 0.0
    is_parked = _is_parked(plan, number)
    if is_parked and plan.moves_bed:
        shift = _PARKED_BED_MM
    spacing = 1.0 / camera.pixels_a_mm(floats(*plan.parts[0].middle, 0))
    points = together(
        [
            *_prints(plan, share, spacing, is_bad=is_bad),
            *(_loose(plan, number - plan.onset) if is_bad else ()),
        ]
    ).moved(floats(0, shift, 0))
    picture = bed_and_room(plan.scene, points, shift)
    if random.random() < plan.shows_head or is_parked:
        head = _parked_head(plan, share) if is_parked else _head(plan, share, shift, random)
        points = together([points, head])
    kinds = np.full(picture.shape[:2], int(Kind.FINE), np.uint8)
    draw(picture, kinds, points, camera, plan.scene.light)
    return Rendered(_as_taken(picture, random), _widened(kinds))


def _share_done(plan: Plan, number: int) -> float:
    """How much of the print is done; nothing grows while filament is changed."""
    if plan.changes_filament is not None:
        number -= max(0, min(_CHANGE_PICTURES, number - plan.changes_filament))
    done = number / max(1, plan.count - 1)
    return plan.from_share + (plan.to_share - plan.from_share) * done


def _is_parked(plan: Plan, number: int) -> bool:
    since = None if plan.changes_filament is None else number - plan.changes_filament
    if since is not None and 0 <= since < _CHANGE_PICTURES:
        return True
    return plan.parks and Random(plan.seed * 1_000_003 - number).random() < 0.5


def _any_parts(random: Random) -> tuple[Part, ...]:
    count = random.choice((1, 1, 1, 2, 3, 5))
    colour = any_plastic(random)
    room = _ROOM_MM * (random.uniform(0.6, 1.8) if count == 1 else random.uniform(0.5, 0.9))
    first = any_part(random, _GROUPS[0], room, colour)
    if count > 1 and random.random() < 0.5:
        # A plate of copies, as often printed as a plate of different parts.
        return tuple(replace(first, middle=place) for place in _GROUPS[:count])
    others = (any_part(random, place, room, colour) for place in _GROUPS[1:count])
    return (first, *others)


def _fallen_on_mm(part: Part, failing: Failure, share: float) -> float:
    """How high the part is that spaghetti falls on; one that came loose isn't there any more."""
    return 0.0 if failing is Failure.DETACHED else part.height_mm * share


def _prints(plan: Plan, share: float, spacing: float, *, is_bad: bool) -> Iterator[Cloud]:
    """The parts as far as they got.

    Of those that come loose or turn into spaghetti only the first one fails; the others grow on.
    """
    for number, part in enumerate(plan.parts):
        is_loose = number == 0 and plan.failing is not Failure.SHIFTED
        stops = is_bad and (is_loose or plan.failing is Failure.AIR)
        done = (plan.onset_share if stops else share) * part.height_mm
        points = printed(part, done, spacing, plan.seed + number)
        if plan.changes_filament is not None:
            points = _recoloured(points, plan, part)
        if is_bad and number == 0 and plan.failing is Failure.DETACHED:
            points = detached(points, part.middle, Random(plan.seed + 2))
        if is_bad and plan.failing is Failure.SHIFTED:
            points = shifted(points, plan.onset_share * part.height_mm, plan.shift_mm)
        yield points


def _recoloured(points: Cloud, plan: Plan, part: Part) -> Cloud:
    """The part as another filament goes on from where the first one was changed."""
    from_mm = _share_done(plan, plan.changes_filament or 0) * part.height_mm
    other = any_plastic(Random(plan.seed + 3)) / np.maximum(part.colour, 0.03)
    is_above = (points.places[:, 2] > from_mm)[:, None]
    colours = np.where(is_above, np.clip(points.colours * other, 0, 1), points.colours)
    return replace(points, colours=colours.astype(np.float32))


def _loose(plan: Plan, frames_since: int) -> Iterator[Cloud]:
    """What was squeezed out without a place to go. It begins later where a part came loose."""
    if plan.failing is Failure.DETACHED:
        frames_since -= 2
    if plan.failing not in (Failure.SPAGHETTI, Failure.DETACHED) or frames_since < 0:
        return
    part = plan.parts[0]
    strands = heap_strands(frames_since, plan.pace)
    yield spaghetti(plan.heap, strands, part.colour, part.gloss, plan.seed)
    yield hanging(plan.heap, part.colour, part.gloss, plan.seed + frames_since)


def _head(plan: Plan, share: float, shift: float, random: Random) -> Cloud:
    """The hotend where it happens to be: over one of the parts, or for a moment beside all."""
    part = random.choice(plan.parts)
    x = part.middle[0] + random.uniform(-0.8, 0.8) * part.radius_mm
    y = part.middle[1] + random.uniform(-0.8, 0.8) * part.radius_mm + shift
    z = share * max(one.height_mm for one in plan.parts) + random.choice((0.3, 0.3, 3.0))
    return gantry(plan.scene, (x, y, z))


def _parked_head(plan: Plan, share: float) -> Cloud:
    """The hotend in a corner behind the bed."""
    tallest = max(one.height_mm for one in plan.parts)
    return gantry(plan.scene, (-_PARKED_HEAD_MM, _PARKED_HEAD_MM, share * tallest + 5.0))


def _as_taken(picture: Floats, random: Random) -> Bytes:
    """What the camera makes of it: a little blur, noise, darker corners, no light above white."""
    height, width = picture.shape[:2]
    across = np.linspace(-1, 1, width, dtype=np.float32)[None, :]
    down = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    corners = 1 - np.float32(0.18) * (across**2 + down**2)
    light = np.clip(picture, 0, 1.2) ** np.float32(0.8) * corners[..., None]
    numbers = np.random.default_rng(random.getrandbits(32))
    noise = numbers.standard_normal((height, width, 1), np.float32) * np.float32(0.012)
    image = Image.fromarray((np.clip(light + noise, 0, 1) * 255).astype(np.uint8))
    return np.asarray(image.filter(ImageFilter.GaussianBlur(0.6))).copy()


def _widened(kinds: Bytes) -> Bytes:
    """The map with what lies between strands marked too."""
    answer = kinds.copy()
    rows, columns = np.nonzero(kinds == Kind.SPAGHETTI)
    height, width = kinds.shape
    marks = np.zeros((height // _MESH + 1, width // _MESH + 1), np.bool_)
    marks[rows // _MESH, columns // _MESH] = True
    widened = np.repeat(np.repeat(marks, _MESH, axis=0), _MESH, axis=1)[:height, :width]
    answer[widened] = int(Kind.SPAGHETTI)
    return answer
