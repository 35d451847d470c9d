"""What was measured, as a page with pictures: scores, what is missed, what speaks for it."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image, ImageDraw

from printreach.detector.evaluation.figures import Figures
from printreach.detector.evaluation.prints import Outcome
from printreach.detector.evaluation.tables import sequence_table, table
from training.calibrate import Calibration
from training.evaluate import Scored

_WIDTH, _HEIGHT, _EDGE = 640, 320, 40
_GOOD, _BAD, _INK = (44, 123, 182), (202, 60, 40), (60, 60, 60)
_BARS: Final = 20
_TILE: Final = 200
_WORST: Final = 12


def write_report(
    folder: Path,
    scored: list[Scored],
    strata: dict[str, Figures],
    sequences: dict[str, Outcome],
    calibration: Calibration | None,
) -> None:
    """Write report.md, figures.json and their pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    known = {
        "strata": {name: asdict(figures) for name, figures in strata.items()},
        "sequences": {name: asdict(of) for name, of in sequences.items()},
        "calibration": asdict(calibration) if calibration else None,
    }
    (folder / "figures.json").write_text(json.dumps(known, indent=2) + "\n")
    _distributions(scored).save(folder / "scores.png")
    _trade(scored).save(folder / "precision-recall.png")
    missed = sorted((one for one in scored if one.failed), key=_probability)
    alarmed = sorted((one for one in scored if not one.failed), key=_probability, reverse=True)
    found = missed[::-1]
    for name, ones in (("missed", missed), ("false-alarms", alarmed), ("found", found)):
        _sheet(ones[:_WORST]).save(folder / f"{name}.png")
    (folder / "report.md").write_text(_page(strata, sequences))


def _page(strata: dict[str, Figures], sequences: dict[str, Outcome]) -> str:
    return f"""# The detector, measured

In brackets: where 95 of 100 draws of the same photos lie.

{table(strata)}

Prints of 20 pictures, 20 seconds apart; in time means within ten pictures.

{sequence_table(sequences)}

## Where the scores lie
![scores](scores.png)

## Precision and recall
![precision and recall](precision-recall.png)

## Failures that it misses, with what speaks for a failure in red
![missed](missed.png)

## Others that it calls failures
![false alarms](false-alarms.png)

## Failures that it is surest of
![found](found.png)
"""


def _probability(one: Scored) -> float:
    return one.output.probability


def _canvas() -> tuple[Image.Image, ImageDraw.ImageDraw]:
    image = Image.new("RGB", (_WIDTH, _HEIGHT), "white")
    draw = ImageDraw.Draw(image)
    frame = (_EDGE, _EDGE // 2, _WIDTH - _EDGE, _HEIGHT - _EDGE)
    draw.rectangle(frame, outline=_INK)
    return image, draw


def _distributions(scored: list[Scored]) -> Image.Image:
    """How many of each class have which score."""
    image, draw = _canvas()
    bar = (_WIDTH - 2 * _EDGE) / _BARS
    for part, (failed, colour) in enumerate(((False, _GOOD), (True, _BAD))):
        scores = [_probability(one) for one in scored if one.failed is failed]
        counts, _ = np.histogram(scores, bins=_BARS, range=(0, 1))
        for place, count in enumerate(counts / max(1, len(scores))):
            left = _EDGE + place * bar + part * bar / 2
            top = _HEIGHT - _EDGE - float(count) * (_HEIGHT - 1.5 * _EDGE)
            draw.rectangle((left, top, left + bar / 2 - 1, _HEIGHT - _EDGE), fill=colour)
        draw.text((_EDGE + 150 * part, 4), "failed" if failed else "others", fill=colour)
    draw.text((_EDGE, _HEIGHT - _EDGE + 8), "score 0", fill=_INK)
    draw.text((_WIDTH - _EDGE - 10, _HEIGHT - _EDGE + 8), "1", fill=_INK)
    return image


def _trade(scored: list[Scored]) -> Image.Image:
    """Precision over recall, from the surest picture to the last."""
    image, draw = _canvas()
    ordered = np.array([one.failed for one in sorted(scored, key=_probability, reverse=True)])
    right = np.cumsum(ordered)
    recall, precision = right / max(1, right[-1]), right / np.arange(1, len(ordered) + 1)
    across, down = _WIDTH - 2 * _EDGE, _HEIGHT - 1.5 * _EDGE
    points = [
        (_EDGE + float(r) * across, _HEIGHT - _EDGE - float(p) * down)
        for r, p in zip(recall, precision, strict=True)
    ]
    draw.line(points, fill=_BAD, width=2)
    draw.text((_EDGE, _HEIGHT - _EDGE + 8), "recall 0 to 1; precision upwards 0 to 1", fill=_INK)
    return image


def _sheet(ones: list[Scored]) -> Image.Image:
    """Photos with their evidence laid over them."""
    columns = 4
    rows = -(-max(1, len(ones)) // columns)
    sheet = Image.new("RGB", (columns * _TILE, rows * _TILE), "white")
    for number, one in enumerate(ones):
        tile = Image.fromarray(one.picture.pixels).resize((_TILE, _TILE))
        evidence = (np.array(one.output.evidence) * 160).astype(np.uint8)
        mask = Image.fromarray(evidence).resize((_TILE, _TILE), Image.Resampling.BILINEAR)
        tile.paste((255, 0, 0), (0, 0), mask)
        ImageDraw.Draw(tile).text((4, 4), f"{_probability(one):.2f}", fill="white")
        sheet.paste(tile, (number % columns * _TILE, number // columns * _TILE))
    return sheet
