"""A picture tells programs how it has to be turned and flipped."""

import io

import pytest
from PIL import Image, ImageOps

from printreach.rules.detection.jpeg import whole_jpeg
from printreach.rules.printers.cameras import ROTATIONS, UNTURNED, Pose, with_orientation

COLOURS = [(220, 0, 0), (0, 220, 0), (0, 0, 220), (220, 220, 220)]


def drawn() -> Image.Image:
    """Four colours in its corners, wider than high."""
    image = Image.new("RGB", (64, 32))
    for at, colour in enumerate(COLOURS):
        image.paste(colour, (at % 2 * 32, at // 2 * 16, at % 2 * 32 + 32, at // 2 * 16 + 16))
    return image


def coded(image: Image.Image, exif: bytes = b"") -> bytes:
    out = io.BytesIO()
    image.save(out, "JPEG", quality=95, exif=exif)
    return out.getvalue()


def corners(image: Image.Image) -> list[int]:
    """Which of the colours stand in its corners."""
    width, height = image.size
    places = [(x, y) for y in (4, height - 5) for x in (4, width - 5)]
    return [_colour_in(image.crop((x, y, x + 1, y + 1)).tobytes()) for x, y in places]


def _colour_in(pixel: bytes) -> int:
    """The index of the colour that is nearest."""

    def distance(at: int) -> int:
        return sum(abs(one - other) for one, other in zip(pixel, COLOURS[at], strict=True))

    return min(range(len(COLOURS)), key=distance)


@pytest.mark.parametrize("rotation", ROTATIONS)
@pytest.mark.parametrize("flip_h", [False, True])
@pytest.mark.parametrize("flip_v", [False, True])
@pytest.mark.parametrize("exif", [b"", b"Exif\x00\x00of the camera"])
def test_programs_show_the_picture_as_pages_do(
    rotation: int, exif: bytes, *, flip_h: bool, flip_v: bool
) -> None:
    """Pages flip first, then turn clockwise."""
    wanted = drawn()
    wanted = ImageOps.mirror(wanted) if flip_h else wanted
    wanted = ImageOps.flip(wanted) if flip_v else wanted
    wanted = wanted.rotate(-rotation, expand=True)

    tagged = with_orientation(coded(drawn(), exif), Pose(flip_h, flip_v, rotation))

    with Image.open(io.BytesIO(tagged)) as opened:
        shown = ImageOps.exif_transpose(opened)
    assert shown.size == wanted.size
    assert corners(shown) == corners(wanted)
    assert whole_jpeg(tagged) == tagged


def test_a_picture_that_is_not_turned_stays_as_it_is() -> None:
    jpeg = coded(drawn())

    assert with_orientation(jpeg, UNTURNED) == jpeg
