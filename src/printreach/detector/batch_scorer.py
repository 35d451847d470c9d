"""Scoring a batch of images: each is decoded by itself, then the model scores those that are
readable.

Importing this loads the libraries of the extra `detector`; a service that scores nothing never
does.
"""

from collections.abc import Sequence
from dataclasses import replace

from printreach.detector.engine import ModelUnavailable, Outcome, ScoreBatch
from printreach.detector.image_queue import QueuedImage
from printreach.detector.masks import without_masked
from printreach.detector.model import Model, ModelOutput, WeightsRefused, load_model
from printreach.detector.preprocess import ImageRefused, ImageTooLarge, PreparedImage, prepare
from printreach.ports.scoring import PictureTooLarge, PictureUnreadable, ScoringRefused
from printreach.rules.detection import ImageAssessment


def load_batch_scorer() -> ScoreBatch:
    """Load the shipped model. Raises ModelUnavailable."""
    try:
        return BatchScorer(load_model()).score
    except WeightsRefused as error:
        raise ModelUnavailable(str(error)) from error


class BatchScorer:
    """Scores batches with one model. Thread-safe."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def score(self, batch: Sequence[QueuedImage]) -> list[Outcome]:
        """Return an outcome for each image; None for one whose caller has gone."""
        prepared = [_prepared(image) for image in batch]
        readable = [picture for picture in prepared if isinstance(picture, PreparedImage)]
        outputs = iter(self._model.score(readable))
        return [
            _assessment_of(image, picture, next(outputs))
            if isinstance(picture, PreparedImage)
            else picture
            for image, picture in zip(batch, prepared, strict=True)
        ]


def _prepared(image: QueuedImage) -> PreparedImage | ScoringRefused | None:
    if not image.is_awaited:
        return None
    try:
        return prepare(image.picture, image.masked)
    except ImageTooLarge as error:
        return PictureTooLarge(str(error))
    except ImageRefused as error:
        return PictureUnreadable(str(error))


def _assessment_of(
    image: QueuedImage, prepared: PreparedImage, output: ModelOutput
) -> ImageAssessment:
    """Drop the evidence within masked parts, so that it is neither shown nor judged."""
    unmasked = replace(output, evidence=without_masked(output.evidence, image.masked))
    return unmasked.assessment(prepared)
