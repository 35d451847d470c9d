"""Looking at the pictures of a batch: each is decoded by itself, the model sees all that could be.

This loads the libraries of the extra `detector`; a service that nobody asks never comes here.
"""

from collections.abc import Sequence
from dataclasses import replace

from printreach.detector.engine import CannotLook, Look, Outcome
from printreach.detector.masks import without_masked
from printreach.detector.model import Found, Model, WeightsRefused, load_model
from printreach.detector.preprocess import ImageRefused, ImageTooLarge, Prepared, prepare
from printreach.detector.waiting import Waiting
from printreach.ports.scoring import PictureTooLarge, PictureUnreadable, ScoringRefused
from printreach.rules.detection import Sight


def load_looker() -> Look:
    """Load the shipped model. Raises CannotLook."""
    try:
        return Looker(load_model()).look
    except WeightsRefused as error:
        raise CannotLook(str(error)) from error


class Looker:
    """What one model makes of pictures, in any number of threads."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def look(self, batch: Sequence[Waiting]) -> list[Outcome]:
        """One outcome for each picture; None where nobody wants to know any more."""
        prepared = [_prepared(waiting) for waiting in batch]
        shown = [picture for picture in prepared if isinstance(picture, Prepared)]
        found = iter(self._model.look(shown))
        return [
            _seen(waiting, picture, next(found)) if isinstance(picture, Prepared) else picture
            for waiting, picture in zip(batch, prepared, strict=True)
        ]


def _prepared(waiting: Waiting) -> Prepared | ScoringRefused | None:
    if not waiting.is_wanted:
        return None
    try:
        return prepare(waiting.picture, waiting.masked)
    except ImageTooLarge as error:
        return PictureTooLarge(str(error))
    except ImageRefused as error:
        return PictureUnreadable(str(error))


def _seen(waiting: Waiting, prepared: Prepared, found: Found) -> Sight:
    """What is masked is no evidence, neither to show nor to judge by."""
    shown = replace(found, evidence=without_masked(found.evidence, waiting.masked))
    return shown.sight(prepared)
