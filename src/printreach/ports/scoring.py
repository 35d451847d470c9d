"""Scoring of one image: in threads of this process, or at detector nodes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from printreach.rules.detection import ImageAssessment
from printreach.rules.detection.detector import DetectorOff
from printreach.rules.watch.choices import Region


class ScoringRefused(Exception):
    """There is no score. The message may be shown to the sender of the image."""


class PictureUnreadable(ScoringRefused):
    """It is corrupt, of an unsupported format, or of too many pixels."""


class PictureTooLarge(ScoringRefused):
    """It has more bytes than allowed."""


class ScorerBusy(ScoringRefused):
    """Too many wait already, or nothing answers in time. Retry later."""


class ScorerUnavailable(ScoringRefused):
    """No detector can be used: it is not installed, its model is damaged, or no node is reached.

    The log says what an operator has to do. Retrying soon does not help.
    """


class ScoringFailed(ScoringRefused):
    """The detector failed on this image. Others are scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageScore:
    """The result for an image, with positions over the whole image from its upper left corner.

    load: how full the queue is, 0 to 1; callers should send less often as it grows.
    """

    assessment: ImageAssessment
    load: float


class Scorer(Protocol):
    """Scores images. It keeps none of them."""

    @property
    def off(self) -> DetectorOff | None:
        """Return why it cannot score; None while no reason is known."""
        ...

    async def score(self, picture: bytes, masked: Sequence[Region] = ()) -> ImageScore:
        """Score a JPEG, PNG or WebP file. Raises a kind of ScoringRefused.

        Of an animation the first frame counts. masked: regions to ignore, in the image as it is
        shown upright. A caller that is cancelled leaves the queue at once.
        """
        ...
