"""Rendered prints beside the photos, as many as one training draws from."""

from typing import Final

from training.photos import Kind, Photo
from training.pictures import Picture
from training.render import Rendered, picture
from training.render_failures import Failure

GOOD: Final = 400
BAD: Final = 180
"""Enough that none is seen more than three times; more only take longer to draw."""
_GOOD_FROM, _BAD_FROM = 10_000, 50_000
_SHIFTED_EACH: Final = 12
_DETACHED_EACH: Final = 4
SOURCE: Final = "rendered"


def rendered_pool(good_count: int = GOOD, bad_count: int = BAD) -> list[Picture]:
    """Good prints, some with a shifted layer, and ones with spaghetti; the same ones each time.

    Where spaghetti is hidden from the camera, the picture is left out.
    """
    good = (
        picture(_GOOD_FROM + n, Failure.NONE if n % _SHIFTED_EACH else Failure.SHIFTED)
        for n in range(good_count)
    )
    bad = (
        picture(_BAD_FROM + n, Failure.SPAGHETTI if n % _DETACHED_EACH else Failure.DETACHED)
        for n in range(bad_count)
    )
    shown = (one for one in bad if one.failed)
    return [*(_as_picture(one) for one in good), *(_as_picture(one) for one in shown)]


def _as_picture(one: Rendered) -> Picture:
    photo = Photo(
        path="",
        kind=Kind.SPAGHETTI if one.failed else Kind.FINE,
        source=SOURCE,
        camera="",
        boxes=(),
        name="",
        repository="",
        licence="",
    )
    return Picture(photo, one.pixels, one.kinds, True)
