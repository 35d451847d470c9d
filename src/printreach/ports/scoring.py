"""Scoring one picture: in threads of this process, or at detector nodes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from printreach.rules.detection import ImageAssessment
from printreach.rules.detector import DetectorOff
from printreach.rules.watching import Region


class ScoringRefused(Exception):
    """There is no score. Its words can be shown to who sent the picture."""


class PictureUnreadable(ScoringRefused):
    """It is corrupt, of a format that isn't taken, or of too many pixels."""


class PictureTooLarge(ScoringRefused):
    """It has more bytes than are taken."""


class ScorerBusy(ScoringRefused):
    """Too many wait already, or nobody answers in time. Ask again later."""


class ScorerUnavailable(ScoringRefused):
    """Nothing can score here: it isn't installed, its model is damaged, no node is reached.

    The log says what an operator has to do. Asking again soon doesn't help.
    """


class ScoringFailed(ScoringRefused):
    """The detector failed on this picture. Others are scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What was seen, over the whole picture from its upper left corner.

    load: how full the queue is, 0 to 1; who asks is to ask less often as it grows.
    """

    assessment: ImageAssessment
    load: float


class Scorer(Protocol):
    """Keeps nothing of what it is shown."""

    @property
    def off(self) -> DetectorOff | None:
        """Why it scores nothing; None while nothing is known against it."""
        ...

    async def score(self, picture: bytes, masked: Sequence[Region] = ()) -> Scored:
        """Score a JPEG, PNG or WebP file. Raises ScoringRefused, by one of its kinds.

        Of an animation the first picture counts. masked: what is not looked at, in the picture as
        it stands upright. A caller that is cancelled is forgotten at once.
        """
        ...
