"""Pictures changed the way cameras and lights change them: the same for good and bad ones."""

import io
import math
from collections.abc import Callable
from random import Random
from typing import Final

import numpy as np
from PIL import Image, ImageEnhance, ImageFilter

from training.pictures import Pixels

SIDE: Final = 256
"""Of what training shows, in pixels. What ships sees 320: cuts show things larger than whole
pictures do, and with more pixels these show them as large."""
_COVER_COLOURS: Final = ((0, 0, 0), (30, 30, 34), (127, 127, 127), (200, 205, 210))


def framed(pixels: Pixels, kinds: Pixels, random: Random) -> tuple[Image.Image, Image.Image]:
    """Cut, turn, mirror and stretch a picture and its map in one step, to SIDE each way."""
    height, width = kinds.shape
    coefficients = _view(width, height, random)
    size = (SIDE, SIDE)
    image = Image.fromarray(pixels).transform(
        size, Image.Transform.AFFINE, coefficients, Image.Resampling.BILINEAR
    )
    mapped = Image.fromarray(kinds).transform(
        size, Image.Transform.AFFINE, coefficients, Image.Resampling.NEAREST
    )
    return image, mapped


def weathered(image: Image.Image, random: Random) -> Image.Image:
    """Change light, colour, sharpness and compression, and cover a part at times."""
    steps: tuple[tuple[float, Callable[[Image.Image, Random], Image.Image]], ...] = (
        (0.8, _lit),
        (0.5, _coloured),
        (0.08, _grey),
        (0.3, _blurred),
        (0.3, _noisy),
        (0.25, _covered),
        (0.7, _compressed),
    )
    for likelihood, change in steps:
        if random.random() < likelihood:
            image = change(image, random)
    return image


def _view(width: int, height: int, random: Random) -> tuple[float, ...]:
    """Where each pixel of the result comes from: six numbers of an affine map."""
    scale = math.exp(random.uniform(math.log(0.6), math.log(1.15)))
    stretch = math.exp(random.uniform(-0.2, 0.2))
    across, down = width * scale * stretch / SIDE, height * scale / stretch / SIDE
    if random.random() < 0.5:
        across = -across
    turn = math.radians(random.gauss(0, 9))
    cosine, sine = math.cos(turn), math.sin(turn)
    slack = max(0.08, 1 - scale)
    middle_x = width * (0.5 + random.uniform(-slack, slack) / 2)
    middle_y = height * (0.5 + random.uniform(-slack, slack) / 2)
    a, b, d, e = cosine * across, -sine * down, sine * across, cosine * down
    half = SIDE / 2
    return (a, b, middle_x - (a + b) * half, d, e, middle_y - (d + e) * half)


def _lit(image: Image.Image, random: Random) -> Image.Image:
    gamma = math.exp(random.uniform(-0.6, 0.6))
    gain, offset = random.uniform(0.65, 1.4), random.uniform(-25, 25)
    table = [
        round(max(0.0, min(255.0, 255 * (level / 255) ** gamma * gain + offset)))
        for level in range(256)
    ]
    return image.point(table * 3)


def _coloured(image: Image.Image, random: Random) -> Image.Image:
    if random.random() < 0.5:
        hue, saturation, value = image.convert("HSV").split()
        shift = random.randrange(256) if random.random() < 0.6 else random.randrange(-16, 17)
        turned = hue.point([(level + shift) % 256 for level in range(256)])
        image = Image.merge("HSV", (turned, saturation, value)).convert("RGB")
    image = ImageEnhance.Color(image).enhance(random.uniform(0.3, 1.7))
    gains = [random.uniform(0.85, 1.15) for _ in range(3)]
    return image.point([min(255, round(level * gain)) for gain in gains for level in range(256)])


def _grey(image: Image.Image, _random: Random) -> Image.Image:
    return image.convert("L").convert("RGB")


def _blurred(image: Image.Image, random: Random) -> Image.Image:
    if random.random() < 0.5:
        return image.filter(ImageFilter.GaussianBlur(random.uniform(0.4, 1.8)))
    smaller = random.randrange(SIDE // 3, SIDE)
    small = image.resize((smaller, smaller), Image.Resampling.BILINEAR)
    return small.resize((SIDE, SIDE), Image.Resampling.BILINEAR)


def _noisy(image: Image.Image, random: Random) -> Image.Image:
    numbers = np.random.default_rng(random.getrandbits(32))
    noise = numbers.normal(0, random.uniform(2, 14), (SIDE, SIDE, 3))
    return Image.fromarray(np.clip(np.asarray(image) + noise, 0, 255).astype(np.uint8))


def _covered(image: Image.Image, random: Random) -> Image.Image:
    """A gantry, a hand, a cable: a bar or a block in front of the print."""
    width, height = random.randrange(10, 90), random.randrange(10, 90)
    if random.random() < 0.3:
        width, height = (SIDE, random.randrange(6, 30))
    left = random.randrange(SIDE - width + 1)
    top = random.randrange(SIDE - height + 1)
    image = image.copy()
    image.paste(random.choice(_COVER_COLOURS), (left, top, left + width, top + height))
    return image


def _compressed(image: Image.Image, random: Random) -> Image.Image:
    written = io.BytesIO()
    image.save(written, "JPEG", quality=random.randrange(25, 92))
    return Image.open(written).convert("RGB")
