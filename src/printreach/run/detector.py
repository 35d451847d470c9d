"""`printreach detector`: score images, and measure the detector, without a service."""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from printreach.detector.evaluation.folder import images_in
from printreach.detector.model import Model, WeightsRefused, load_model
from printreach.detector.preprocess import PreparedImage
from printreach.rules.detection import NORMAL_INTERVAL_S, DetectionContext, Verdict, observe
from printreach.run.detector_evaluation import add_arguments as add_evaluation_arguments
from printreach.run.detector_evaluation import evaluate, read_image

_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
"""The time of the first image of a sequence; only the intervals between images matter."""
_LONGEST_INTERVAL_S = 86_400.0


@dataclass(frozen=True, slots=True)
class _ScoredImage:
    path: str
    probability: float
    verdict: Verdict

    def as_json(self) -> str:
        return json.dumps(
            {
                "Path": self.path,
                "FrameScore": round(self.probability, 6),
                "Score": self.verdict.score,
                "PrintQuality": self.verdict.print_quality,
                "WarningSuggested": self.verdict.warning_suggested,
                "PauseSuggested": self.verdict.pause_suggested,
            }
        )

    def as_text(self) -> str:
        advice = "pause" if self.verdict.pause_suggested else "warn"
        suggested = advice if self.verdict.warning_suggested else "-"
        quality = self.verdict.print_quality
        return f"{self.path}\tfailure {self.probability:.3f}\tquality {quality}\t{suggested}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the commands below the parser of `detector`."""
    commands = parser.add_subparsers(dest="detector_command", metavar="COMMAND", required=True)
    score = commands.add_parser(
        "score", help="score images: one line for each, with how likely it shows a failure"
    )
    score.add_argument(
        "paths", nargs="+", metavar="PATH", help="a JPEG, PNG or WebP image, or a folder"
    )
    score.add_argument(
        "--sequence", action="store_true", help="the images are of one print, in order"
    )
    score.add_argument(
        "--interval",
        type=_interval_s,
        default=float(NORMAL_INTERVAL_S),
        metavar="SEC",
        help="seconds between the images of a sequence (default: %(default)g)",
    )
    score.add_argument("--json", action="store_true", help="print one JSON object per line")
    add_evaluation_arguments(
        commands.add_parser(
            "evaluate",
            help="measure how good the detector is on a folder of labelled images",
        )
    )
    dataset = commands.add_parser("dataset", help="pictures that owners donated")
    export = dataset.add_subparsers(metavar="ACTION", required=True).add_parser(
        "export",
        help="write them, masked and with their answers, into a new folder; needs the service",
    )
    export.add_argument("folder", type=Path, metavar="FOLDER")


def main(options: argparse.Namespace) -> int:
    """Run one of the commands; return 0, or 1 if an image was unreadable or refused."""
    if options.detector_command == "dataset":
        return _export(options.folder)
    try:
        model = load_model()
    except WeightsRefused as error:
        return _fail(str(error))
    return (evaluate if options.detector_command == "evaluate" else _score)(model, options)


def _export(folder: Path) -> int:
    try:
        # The database is of the extra `server`, which scoring does not need.
        from printreach.run.detector_dataset import ExportFailed, export_dataset
    except ModuleNotFoundError as missing:
        return _fail(f"the export needs {missing.name}, which is of the extra `server`")
    try:
        count = export_dataset(folder)
    except ExportFailed as error:
        return _fail(str(error))
    print(f"{count} pictures in {folder}")
    return 0


def _score(model: Model, options: argparse.Namespace) -> int:
    failed = False
    try:
        for scored in _scores(model, options):
            if isinstance(scored, str):
                _fail(scored)
                failed = True
            else:
                print(scored.as_json() if options.json else scored.as_text(), flush=True)
    except OSError as error:
        # The reader has closed the pipe, so Python must not flush into it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # A reader such as `head` stops early, which is no failure.
        if not isinstance(error, BrokenPipeError):
            return _fail(f"the results can't be written: {error.strerror}")
    return 1 if failed else 0


def _scores(model: Model, options: argparse.Namespace) -> Iterator[_ScoredImage | str]:
    """Yield a result for each path, or a sentence that says why there is none."""
    context = DetectionContext()
    for number, path in enumerate(_images(options.paths)):
        prepared = _read(path)
        if isinstance(prepared, str):
            yield prepared
            continue
        (output,) = model.score([prepared])
        before = context if options.sequence else DetectionContext()
        at = _FIRST + timedelta(seconds=number * options.interval)
        context, verdict = observe(before, output.assessment(prepared), at)
        yield _ScoredImage(path, output.probability, verdict)


def _images(paths: Sequence[str]) -> Iterator[str]:
    """Yield each path, and for a folder the images in it in natural order."""
    for path in paths:
        if not Path(path).is_dir():
            yield path
            continue
        try:
            inside = images_in(Path(path))
        except OSError:
            inside = []
        # A folder without images is yielded itself and refused when it is read.
        yield from map(str, inside) if inside else [path]


def _read(path: str) -> PreparedImage | str:
    try:
        if Path(path).is_dir():
            next(Path(path).iterdir(), None)  # raises the reason if it can't be read
            return f"{path}: there is no JPEG, PNG or WebP image in it"
    except OSError as error:
        return f"{path}: {error.strerror or error}"
    return read_image(Path(path))


def _interval_s(word: str) -> float:
    try:
        seconds = float(word)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{word!r} is no number of seconds") from None
    if not 0 < seconds <= _LONGEST_INTERVAL_S:
        raise argparse.ArgumentTypeError(f"{word} is not between 0 and {_LONGEST_INTERVAL_S:g}")
    return seconds


def _fail(sentence: str) -> int:
    print(f"printreach detector: {sentence}", file=sys.stderr)
    return 1
