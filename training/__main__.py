"""Train, calibrate, export and measure: python -m training --images DIR --backbone FILE.

What ships is what this makes. --weights names a state that was kept while training, to go on from
there without training again.
"""

import argparse
import shutil
import sys
from pathlib import Path
from typing import Final

import numpy as np
import torch

from printreach.detector.model import load_model
from printreach.detector.preprocess import prepare
from training.calibrate import Calibration, calibrate
from training.evaluate import (
    by_stratum,
    composed,
    failures_with_boxes,
    good_scenes,
    score,
    sequences,
)
from training.export import export
from training.fit import fit, load_fitted
from training.network import Network, frame_logits
from training.photos import read_manifest
from training.pictures import Picture, load, looks_of
from training.report import table, write_report
from training.splits import split

STEPS: Final = 250
"""Of 150 to 750, what told failures best apart on the photos that calibrate, pasted ones too. More
steps learn the one printer by heart."""
SHIPPED: Final = Path("src/printreach/detector/weights")


def main() -> None:
    """Do all of it; the report is in OUT/report."""
    options = _options()
    pictures = load(options.images, read_manifest(options.images))
    parts = split([picture.photo for picture in pictures], looks_of(pictures))
    print(
        f"{len(parts.train)} train, {len(parts.calibrate)} calibrate, {len(parts.measure)} measure"
    )
    if options.weights is None:
        chosen = [pictures[index] for index in parts.train]
        network = fit(chosen, options.backbone, options.steps, options.out / "steps")
    else:
        network = load_fitted(options.weights)
    calibration = _calibration(
        network, options.images, [pictures[index] for index in parts.calibrate]
    )
    export(network, calibration, options.out / "weights")
    _measure(options.images, options.out, [pictures[i] for i in parts.measure], calibration)
    if options.ship:
        for name in ("detector.onnx", "detector.onnx.sha256"):
            shutil.copyfile(options.out / "weights" / name, SHIPPED / name)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("--images", type=Path, required=True, help="the folder of the manifest")
    parser.add_argument("--backbone", type=Path, required=True, help="ImageNet weights, .npz")
    parser.add_argument("--out", type=Path, default=Path("build/detector"))
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--weights", type=Path, help="a kept state, instead of training")
    parser.add_argument("--ship", action="store_true", help="put the result into the package")
    return parser.parse_args()


def _calibration(network: Network, folder: Path, pictures: list[Picture]) -> Calibration:
    """In-situ photos of failed prints are left out: in most of them nothing can be seen."""
    known = [picture for picture in pictures if picture.is_mapped]
    logits = []
    with torch.no_grad():
        for picture in known:
            pixels = prepare((folder / picture.photo.path).read_bytes()).pixels
            logits.append(float(frame_logits(network(torch.from_numpy(pixels[None].copy())))))
    return calibrate(np.array(logits), np.array([picture.photo.failed for picture in known]))


def _measure(folder: Path, out: Path, held_out: list[Picture], calibration: Calibration) -> None:
    model = load_model(out / "weights")
    scenes, donors = good_scenes(held_out), failures_with_boxes(held_out)
    scored = score(model, folder, held_out)
    strata = by_stratum(scored)
    made = composed(model, scenes, donors)
    strata["composed in situ"] = by_stratum(made)["all"]
    went = sequences(model, scenes, donors)
    write_report(out / "report", scored, strata, went, calibration)
    print(table(strata))
    print(went)
    print(f"report in {out / 'report'}", file=sys.stderr)


if __name__ == "__main__":
    main()
