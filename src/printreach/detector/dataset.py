"""A dataset of pictures that owners gave away: their masks painted over, and a manifest.

Its folder is laid out as docs/detector-evaluation.md describes it, and its manifest is read by the
training.
"""

import csv
import hashlib
import hmac
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image, ImageOps

from printreach.detector.evaluation.folder import FAILED, GOOD
from printreach.detector.files import MalformedImage, check_file, check_pixels, declared_size
from printreach.detector.masks import paint_out
from printreach.detector.preprocess import DAMAGED, ImageRefused
from printreach.rules.watch.choices import GivenPicture, Region

LICENCE: Final = "CC0-1.0"
"""The licence that owners agree to, in the words of the settings page."""
MANIFEST: Final = "manifest.csv"
_COLUMNS: Final = (
    *("path", "failed", "dataset_group", "note", "boxes", "original_path", "source_repo"),
    *("licence", "consent_since", "answered_at"),
)
_GROUP: Final = "given"
_SOURCE: Final = "printreach"
_QUALITY: Final = 92
_HASH_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class DatasetPicture:
    """A picture to write. jpeg: as it was kept."""

    given: GivenPicture
    jpeg: bytes


def write_dataset(folder: Path, pictures: Iterable[DatasetPicture], key: bytes) -> int:
    """Write the pictures and their manifest into an empty folder; return how many were written.

    key: random bytes for this export alone. Names are made with it, so that nobody who knows a
    printer's id can tell which pictures are of it.
    One that can't be decoded is left out. Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    with (folder / MANIFEST).open("w", newline="", encoding="utf-8") as file:
        manifest = csv.DictWriter(file, _COLUMNS)
        manifest.writeheader()
        for picture in pictures:
            try:
                shown = without_masked(picture.jpeg, picture.given.masked)
            except ImageRefused:
                continue
            row = _row(picture.given, key)
            path = folder / row["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(shown)
            manifest.writerow(row)
            count += 1
    return count


def without_masked(jpeg: bytes, masked: tuple[Region, ...]) -> bytes:
    """Return the picture as JPEG with its masked parts painted over, and without metadata.

    Raises ImageRefused for one that can't be decoded.
    """
    try:
        image_format = check_file(jpeg)
        if (size := declared_size(jpeg, image_format)) is not None:
            check_pixels(*size)
        with Image.open(io.BytesIO(jpeg), formats=(image_format,)) as opened:
            check_pixels(*opened.size)
            upright = ImageOps.exif_transpose(opened).convert("RGB")
    except MalformedImage as error:
        raise ImageRefused(str(error)) from error
    except DAMAGED as error:
        raise ImageRefused("it is truncated or corrupt") from error
    written = io.BytesIO()
    painted = Image.fromarray(paint_out(np.asarray(upright), masked))
    painted.save(written, "JPEG", quality=_QUALITY)
    return written.getvalue()


def _row(given: GivenPicture, key: bytes) -> dict[str, str]:
    """Return the picture's line, which names neither the printer nor its owner."""
    judgement = given.judgement
    camera = _named_by(f"{judgement.printer_id}/{judgement.camera or 0}", key)
    name = f"{_named_by(given.picture, key)}.jpg"
    kind = FAILED if judgement.was_failure else GOOD
    return {
        "path": f"{kind}/{camera}/{name}",
        "failed": "1" if judgement.was_failure else "0",
        "dataset_group": _GROUP,
        "note": f"camera {camera}",
        "boxes": "",
        "original_path": name,
        "source_repo": _SOURCE,
        "licence": LICENCE,
        "consent_since": given.given_since.date().isoformat(),
        "answered_at": judgement.at.date().isoformat(),
    }


def _named_by(identity: str, key: bytes) -> str:
    """Return the same name for the same identity; nobody without the key can connect the two."""
    return hmac.new(key, identity.encode(), hashlib.sha256).hexdigest()[:_HASH_DIGITS]
