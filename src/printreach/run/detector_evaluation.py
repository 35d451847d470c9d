"""`printreach detector evaluate`: how well the detector judges a folder of labelled pictures."""

import argparse
import json
import math
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from printreach.detector.evaluation.figures import (
    CameraFigures,
    Figure,
    Figures,
    figures_of_frames,
)
from printreach.detector.evaluation.folder import (
    FolderRefused,
    LabelledFrame,
    LabelledSequence,
    read_folder,
)
from printreach.detector.evaluation.intervals import (
    Interval,
    Intervals,
    over_cameras,
    over_prints,
)
from printreach.detector.evaluation.learning import watched_by_what_was_learnt
from printreach.detector.evaluation.prints import (
    Outcome,
    ScoredPicture,
    ScoredPrint,
    WatchedPrint,
    outcomes,
    together,
    watched,
)
from printreach.detector.evaluation.tables import sequence_table, table, with_cameras
from printreach.detector.model import Model
from printreach.detector.preprocess import ImageRefused, PreparedImage, prepare
from printreach.rules.detection import MAX_IMAGE_BYTES

_UNNAMED = "(no name)"


@dataclass(frozen=True, slots=True)
class PrintOutcomes:
    """How prints went, by camera and by kind; no kinds where none has one."""

    cameras: dict[str, Outcome]
    kinds: dict[str, Outcome]

    @property
    def all(self) -> Outcome:
        """Return all of them together."""
        return together(self.cameras.values())

    @property
    def drawn(self) -> Intervals | None:
        """Return the intervals over cameras; None where some have no name, or are too few."""
        return None if "" in self.cameras else over_cameras(list(self.cameras.values()))


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What was measured. frames: pooled and by camera; None unless there are both classes.

    prints: None without sequences. unlearnt, learnt: those of cameras that had learnt, without it
    and by it; None where no camera had.
    """

    frames: tuple[Figures, CameraFigures] | None
    prints: PrintOutcomes | None
    unlearnt: PrintOutcomes | None
    learnt: PrintOutcomes | None

    def as_text(self) -> str:
        """The tables of docs/detector-model.md."""
        parts = []
        if self.frames is not None:
            pooled, cameras = self.frames
            parts.append(table(with_cameras(pooled, cameras)))
            if (worst := cameras.worst) is not None:
                parts.append(f"The worst camera at 5 % of its own good frames: {worst}")
        if self.prints is not None:
            parts.append(_sequence_tables(self.prints))
        if self.unlearnt is not None and self.learnt is not None:
            parts.append("Prints of cameras that had learnt from three or more, without that:")
            parts.append(_sequence_tables(self.unlearnt))
            parts.append("The same prints, with what their cameras had learnt:")
            parts.append(_sequence_tables(self.learnt))
        return "\n\n".join(parts)

    def as_json(self) -> str:
        """The same as one object."""
        frames: dict[str, object] = {}
        if self.frames is not None:
            pooled, cameras = self.frames
            mean = cameras.mean
            frames = {
                "All": _figures(pooled),
                "CamerasDrawn": _figures(cameras.pooled),
                "MeanOfCameras": None if mean is None else _figures(mean),
                "WorstCamera": cameras.worst,
                "Cameras": {name: _figures(of) for name, of in cameras.by_camera.items()},
            }
        return json.dumps(
            {
                "Frames": frames or None,
                "Sequences": _print_outcomes(self.prints),
                "Unlearnt": _print_outcomes(self.unlearnt),
                "Learnt": _print_outcomes(self.learnt),
            }
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what `evaluate` takes."""
    parser.add_argument(
        "folder", type=Path, metavar="FOLDER", help="with good/, failed/ or sequences/ in it"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")


def evaluate(model: Model, options: argparse.Namespace) -> int:
    """Measure the folder; return 0, or 1 if it or an image of it was refused."""
    try:
        labelled = read_folder(options.folder)
    except (FolderRefused, OSError) as error:
        return _fail(str(error))
    reader = _Reader(model)
    frames = _of_frames(reader, labelled.frames)
    seen = list(_seen(reader, labelled.sequences))
    learnt = list(watched_by_what_was_learnt(seen))
    known = Evaluation(
        frames,
        prints=_outcomes_of(map(watched, seen)),
        unlearnt=_outcomes_of(watched(one.seen) for one in learnt),
        learnt=_outcomes_of(learnt),
    )
    if frames is None and labelled.frames:
        _fail("the single frames are not measured: that takes good ones and failed ones")
    if frames is None and not seen:
        return 1
    print(known.as_json() if options.json else known.as_text())
    return 1 if reader.refused else 0


class _Reader:
    """Reads images and scores them; says which it can't read, and goes on without them."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.refused = False

    def picture(self, path: Path, at_s: float, failed: bool | None) -> ScoredPicture | None:
        prepared = read_image(path)
        if isinstance(prepared, str):
            _fail(prepared)
            self.refused = True
            return None
        (output,) = self._model.score([prepared])
        return ScoredPicture(output.assessment(prepared), at_s, failed)


def read_image(path: Path) -> PreparedImage | str:
    """Return the model's input, or a sentence that says why there is none."""
    try:
        with path.open("rb") as file:
            # One byte more than the limit shows that the file is too large.
            return prepare(file.read(MAX_IMAGE_BYTES + 1))
    except OSError as error:
        return f"{path}: {error.strerror or error}"
    except ImageRefused as error:
        return f"{path}: {error}"


def _of_frames(
    reader: _Reader, frames: Iterable[LabelledFrame]
) -> tuple[Figures, CameraFigures] | None:
    scores, labels, cameras = [], [], []
    for frame in frames:
        picture = reader.picture(frame.path, 0.0, frame.failed)
        if picture is not None:
            scores.append(picture.assessment.probability)
            labels.append(frame.failed)
            cameras.append(frame.camera)
    return figures_of_frames(scores, labels, cameras)


def _seen(reader: _Reader, sequences: Iterable[LabelledSequence]) -> Iterator[ScoredPrint]:
    for sequence in sequences:
        pictures = (reader.picture(each.path, each.at_s, each.failed) for each in sequence.frames)
        seen = tuple(picture for picture in pictures if picture is not None)
        if seen:
            yield ScoredPrint(sequence.kind, seen, sequence.camera)


def _outcomes_of(prints: Iterable[WatchedPrint]) -> PrintOutcomes | None:
    known = list(prints)
    if not known:
        return None
    kinds = outcomes(known)
    return PrintOutcomes(outcomes(known, of=lambda one: one.camera), kinds if any(kinds) else {})


def _sequence_tables(of: PrintOutcomes) -> str:
    """By camera, and by kind where there are kinds."""
    cameras = {f"camera {name or _UNNAMED}": went for name, went in of.cameras.items()}
    kinds = {f"kind {name or _UNNAMED}": went for name, went in of.kinds.items()}
    return sequence_table({**cameras, **kinds, "all": of.all}, of.drawn)


def _figures(of: Figures) -> dict[str, object]:
    return {
        "Failed": of.failed,
        "Others": of.others,
        "AUC": _figure(of.auc),
        "RecallAt1Percent": _figure(of.recall_at_1),
        "RecallAt5Percent": _figure(of.recall_at_5),
    }


def _figure(of: Figure) -> dict[str, float | None]:
    return {name.title(): value for name, value in asdict(of).items()}


def _print_outcomes(of: PrintOutcomes | None) -> dict[str, object] | None:
    if of is None:
        return None
    drawn = of.drawn
    return {
        "All": _outcome(of.all),
        "CamerasDrawn": None if drawn is None else _intervals(drawn),
        "Cameras": {name: _outcome(each) for name, each in of.cameras.items()},
        "Kinds": {name: _outcome(each) for name, each in of.kinds.items()},
    }


def _outcome(of: Outcome) -> dict[str, object]:
    has_hours = of.good_hours > 0
    return {
        "Prints": of.prints,
        "Failing": of.failing,
        "GoodPictures": of.good_pictures,
        "GoodHours": round(of.good_hours, 4),
        "FasterLooks": of.faster,
        "WarnedTooSoon": of.early_warned,
        "PausedTooSoon": of.early_paused,
        "FalsePausesIn1000Hours": {
            "Value": of.early_paused / of.good_hours * 1000 if has_hours else None,
            **_interval(over_prints(of).rate if has_hours else None),
        },
        "WarnedInTime": of.warned,
        "PausedInTime": of.paused,
    }


def _intervals(of: Intervals) -> dict[str, object]:
    return {
        "PausedTooSoonShare": _interval(of.early_paused),
        "FalsePausesIn1000Hours": _interval(of.rate),
        "WarnedInTimeShare": _interval(of.warned),
        "PausedInTimeShare": _interval(of.paused),
    }


def _interval(of: Interval | None) -> dict[str, float | None]:
    low, high = of or (None, None)
    return {"Low": low, "High": None if high is None or math.isinf(high) else high}


def _fail(sentence: str) -> int:
    print(f"printreach detector: {sentence}", file=sys.stderr)
    return 1
