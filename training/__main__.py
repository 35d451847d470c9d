"""Train, calibrate, export and measure: python -m training --images DIR --backbone FILE.

What ships is what this makes. --weights names states that were kept while training, to go on from
their mean without training again.
"""

import argparse
import shutil
import sys
from dataclasses import fields
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np
import torch

from printreach.detector.evaluation.figures import Figures
from printreach.detector.evaluation.prints import outcomes, watched
from printreach.detector.evaluation.tables import sequence_table, table, with_cameras
from printreach.detector.model import Model, load_model
from printreach.detector.preprocess import prepare
from training.calibrate import Calibration, calibrate
from training.choosing import by_choosing
from training.evaluate import (
    Scored,
    by_camera,
    by_stratum,
    composed,
    failures_with_boxes,
    good_scenes,
    score,
)
from training.export import export
from training.fit import fit, load_fitted, mean_of
from training.network import Network, frame_logits
from training.photos import read_manifest
from training.pictures import Picture, load
from training.render_pool import rendered_pool
from training.report import write_report
from training.sequences import pasted, rendered, seen
from training.splits import Split, split

STEPS: Final = 250
"""Of 150 to 750, what told failures best apart on the photos that calibrate, pasted ones too. More
steps learn the one printer by heart."""
SEEDS: Final = (1, 2, 3)
"""The mean of the weights of networks that differ in their seed alone is what ships."""
SHIPPED: Final = Path("src/printreach/detector/weights")


def main() -> None:
    """Do all of it; the report is in OUT/report."""
    options = _options()
    pictures = load(options.images, read_manifest(options.images))
    parts = split([picture.photo for picture in pictures])
    counts = {part.name: len(getattr(parts, part.name)) for part in fields(parts)}
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    if options.measure is not None:
        _measure(options, load_model(options.measure), pictures, parts, None)
        return
    network = _network(options, pictures, parts)
    calibration = _calibration(
        network, options.images, [pictures[index] for index in parts.calibrate]
    )
    export(network, calibration, options.out / "weights")
    _measure(options, load_model(options.out / "weights"), pictures, parts, calibration)
    if options.ship:
        for name in ("detector.onnx", "detector.onnx.sha256"):
            shutil.copyfile(options.out / "weights" / name, SHIPPED / name)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("--images", type=Path, required=True, help="the folder of the manifest")
    parser.add_argument("--backbone", type=Path, required=True, help="ImageNet weights, .npz")
    parser.add_argument("--out", type=Path, default=Path("build/detector"))
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument(
        "--weights", type=Path, nargs="+", help="kept states, whose mean is taken, not trained"
    )
    parser.add_argument("--measure", type=Path, help="a folder of weights; measures these alone")
    parser.add_argument("--photos-only", action="store_true", help="train on no rendered prints")
    parser.add_argument("--ship", action="store_true", help="put the result into the package")
    return parser.parse_args()


def _network(options: argparse.Namespace, pictures: list[Picture], parts: Split) -> Network:
    if options.weights:
        return mean_of([load_fitted(path) for path in options.weights])
    chosen = [pictures[index] for index in parts.train]
    drawn = [] if options.photos_only else rendered_pool()
    steps, kept_in = options.steps, options.out / "steps"
    return mean_of(
        [
            fit(chosen, drawn, options.backbone, steps, seed, kept_in / f"seed-{seed}")
            for seed in SEEDS
        ]
    )


def _calibration(network: Network, folder: Path, pictures: list[Picture]) -> Calibration:
    """In-situ photos of failed prints are left out: nobody marked where in them it can be seen."""
    known = [picture for picture in pictures if picture.is_mapped]
    logits = []
    with torch.no_grad():
        for picture in known:
            pixels = prepare((folder / picture.photo.path).read_bytes()).pixels
            logits.append(float(frame_logits(network(torch.from_numpy(pixels[None].copy())))))
    return calibrate(np.array(logits), np.array([picture.photo.failed for picture in known]))


def _measure(
    options: argparse.Namespace,
    model: Model,
    pictures: list[Picture],
    parts: Split,
    calibration: Calibration | None,
) -> None:
    """Measure the file that is shipped, after what there is to choose by."""
    known = [pictures[index] for index in parts.calibrate]
    print(f"To choose by:\n{table(by_choosing(model, known))}")
    held_out, unseen = (
        [pictures[index] for index in part] for part in (parts.measure, parts.unseen)
    )
    scored = score(model, options.images, held_out)
    strata = _strata(model, held_out, scored, score(model, options.images, unseen))
    stories = chain(pasted(good_scenes(held_out), failures_with_boxes(held_out)), rendered())
    went = outcomes(map(watched, seen(model, stories)))
    write_report(options.out / "report", scored, strata, went, calibration)
    print(f"On what measures:\n{table(strata)}\n{sequence_table(went)}")
    print(f"report in {options.out / 'report'}", file=sys.stderr)


def _strata(
    model: Model, pictures: list[Picture], scored: list[Scored], unseen: list[Scored]
) -> dict[str, Figures]:
    """Photos as they are, by camera too, and the good ones in situ with failures pasted in."""
    strata = by_stratum(scored)
    made = composed(model, good_scenes(pictures), failures_with_boxes(pictures))
    return {
        **with_cameras(strata.pop("all"), by_camera(scored)),
        **strata,
        "put together in situ": by_stratum(made)["all"],
        "all pictures, unseen failures too": by_stratum([*scored, *unseen])["all"],
    }


if __name__ == "__main__":
    main()
