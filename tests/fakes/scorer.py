"""A scorer that sees what a test tells it to see."""

from collections.abc import Sequence

from printreach.ports.scoring import ImageScore, PictureTooLarge, ScoringRefused
from printreach.rules.detection import MAX_IMAGE_BYTES, ImageAssessment
from printreach.rules.detection.detector import DetectorOff
from printreach.rules.detection.scene import Scene
from printreach.rules.watch.choices import Region

GREY = tuple(range(256))
"""A slope, so that it is neither dark nor blocked."""


class FakeScorer:
    """ports.scoring.Scorer. What it was shown is kept, in order.

    probability, load: of the pictures to come; refusal: what they are refused with instead.
    off: why it scores nothing.
    """

    def __init__(self, probability: float = 0.05) -> None:
        self.probability = probability
        self.load = 0.0
        self.refusal: ScoringRefused | None = None
        self.off: DetectorOff | None = None
        self.shown: list[tuple[bytes, tuple[Region, ...]]] = []

    async def score(self, picture: bytes, masked: Sequence[Region] = ()) -> ImageScore:
        if len(picture) > MAX_IMAGE_BYTES:
            raise PictureTooLarge(f"{len(picture)} bytes; {MAX_IMAGE_BYTES} are taken")
        if self.refusal is not None:
            raise self.refusal
        self.shown.append((picture, tuple(masked)))
        # No two are the same, as from a live camera.
        scene = Scene(grey=GREY, digest=len(self.shown))
        return ImageScore(
            assessment=ImageAssessment(
                probability=self.probability,
                scene=scene,
                evidence=((self.probability,) * 8,) * 8,
            ),
            load=self.load,
        )
