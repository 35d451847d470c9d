"""What happens to good prints that a watch must not take for a failure.

A hand in front of the camera, a lamp that goes out and on again, a camera that is pushed: all of
it is drawn into finished pictures, so that photos and rendered prints have it alike.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from random import Random
from typing import Final

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from training.pictures import Pixels

_SKINS: Final = ((236, 196, 170), (198, 146, 110), (140, 92, 64), (84, 56, 42), (40, 40, 46))
"""The last one is a glove."""
_HAND_PICTURES: Final = 3
_DARK_PICTURES: Final = 6
_VIEW_SHARE: Final = 0.8
"""Of each picture's width and height; a camera that is pushed shows another part of it then."""


class Incident(Enum):
    """What is drawn into pictures of a print."""

    HAND = "hand"
    LIGHT = "light"
    MOVED = "moved camera"


def with_incident(pictures: Sequence[Pixels], incident: Incident, seed: int) -> tuple[Pixels, ...]:
    """Return the pictures of a print to which this happens some while after its start."""
    random = Random(seed)
    begins = random.randrange(7, max(8, len(pictures) - 6))
    return _DRAWN[incident](pictures, begins, random)


def _hand(pictures: Sequence[Pixels], begins: int, random: Random) -> tuple[Pixels, ...]:
    """Somebody reaches in, for about a minute."""
    skin = random.choice(_SKINS)
    shown = list(pictures)
    for number in range(begins, min(len(shown), begins + _HAND_PICTURES)):
        shown[number] = _with_hand(shown[number], skin, random)
    return tuple(shown)


def _with_hand(pixels: Pixels, skin: tuple[int, int, int], random: Random) -> Pixels:
    image = Image.fromarray(pixels)
    width, height = image.size
    thick = int(width * random.uniform(0.1, 0.2))
    start = (random.choice((-thick, width + thick)), random.uniform(0.3, 1.1) * height)
    palm = (width * random.uniform(0.3, 0.7), height * random.uniform(0.35, 0.75))
    mask = Image.new("L", image.size)
    draw = ImageDraw.Draw(mask)
    draw.line((*start, *palm), fill=255, width=thick)
    draw.circle(palm, thick * 0.62, fill=255)
    along = np.arctan2(palm[1] - start[1], palm[0] - start[0])
    for turn in (-0.9, -0.3, 0.0, 0.3):
        heading = along + turn + random.gauss(0, 0.1)
        reach = thick * random.uniform(1.1, 1.5)
        tip = (palm[0] + np.cos(heading) * reach, palm[1] + np.sin(heading) * reach)
        draw.line((*palm, *tip), fill=255, width=max(3, thick // 4))
        draw.circle(tip, max(2, thick // 8), fill=255)
    light = max(0.25, min(1.1, float(pixels.mean()) / 110))
    shades = np.linspace(0.75, 1.1, width)[None, :, None] * light
    arm = np.clip(np.array(skin) * np.broadcast_to(shades, (height, width, 1)), 0, 255)
    image.paste(
        Image.fromarray(arm.astype(np.uint8)), (0, 0), mask.filter(ImageFilter.GaussianBlur(1.5))
    )
    return np.asarray(image).copy()


def _light(pictures: Sequence[Pixels], begins: int, random: Random) -> tuple[Pixels, ...]:
    """The lamp goes out, and on again two minutes later; some rooms are quite dark then."""
    gain = random.choice((0.03, random.uniform(0.1, 0.3), random.uniform(0.3, 0.6)))
    tint = np.array([1.0, random.uniform(0.8, 1.0), random.uniform(0.6, 1.0)])
    shown = list(pictures)
    for number in range(begins, min(len(shown), begins + _DARK_PICTURES)):
        numbers = np.random.default_rng(random.getrandbits(32))
        noise = numbers.normal(0, 3, shown[number].shape)
        shown[number] = np.clip(shown[number] * (gain * tint) + noise, 0, 255).astype(np.uint8)
    return tuple(shown)


def _moved(pictures: Sequence[Pixels], begins: int, random: Random) -> tuple[Pixels, ...]:
    """Somebody pushes the camera, by a twentieth to a fifth of its picture."""
    spare = 1 - _VIEW_SHARE
    before, after = ((random.uniform(0, spare), random.uniform(0, spare)) for _ in range(2))
    return tuple(
        _view(pixels, before if number < begins else after)
        for number, pixels in enumerate(pictures)
    )


def _view(pixels: Pixels, corner: tuple[float, float]) -> Pixels:
    height, width = pixels.shape[:2]
    left, top = int(corner[0] * width), int(corner[1] * height)
    right, bottom = left + int(_VIEW_SHARE * width), top + int(_VIEW_SHARE * height)
    cut = Image.fromarray(pixels[top:bottom, left:right])
    return np.asarray(cut.resize((width, height), Image.Resampling.BICUBIC)).copy()


_DRAWN: Final[dict[Incident, Callable[[Sequence[Pixels], int, Random], tuple[Pixels, ...]]]] = {
    Incident.HAND: _hand,
    Incident.LIGHT: _light,
    Incident.MOVED: _moved,
}
