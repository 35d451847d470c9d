"""`printreach detector dataset export` on the service's own data."""

import asyncio
import csv
import io
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from printreach.backends.snapshots_disk import DiskSnapshots
from printreach.detector.evaluation.folder import read_folder
from printreach.rules.watch.choices import Judgement, Region, WatchSettings
from printreach.run.dependencies import SNAPSHOTS_FOLDER
from printreach.run.main import main
from printreach.store.store import Records, open_store
from tests.detector.images import written
from tests.fakes.clock import NOON
from tests.run.admin import Admin
from tests.store.records import store_all
from training.photos import read_manifest

AGREED = WatchSettings(
    keeps_frames=True,
    gives_pictures=True,
    given_since=NOON,
    masked=(Region(0.0, 0.0, 0.5, 1.0),),
)
PICTURES = ("a" * 32, "b" * 32)


def serve(admin: Admin, settings: WatchSettings) -> None:
    """Ada answered about two prints; the left half of their pictures is white."""
    pixels = np.zeros((48, 64, 3), np.uint8)
    pixels[:, :32] = 255
    jpeg = written(Image.fromarray(pixels), exif=b"Exif\0\0MM\0*\0\0\0\x08\0\0\0\0\0\0")

    async def put(records: Records) -> None:
        await records.watch_settings.put("p1", "ada", settings)
        for number, picture in enumerate(PICTURES):
            await records.watches.begin("p1", "ada", f"print-{number}", NOON)
            answer = Judgement(
                printer_id="p1",
                print_id=f"print-{number}",
                camera=None,
                at=NOON + timedelta(hours=1 + number),
                was_failure=number == 0,
                picture=picture,
            )
            await records.watches.judge(answer)

    async def store() -> None:
        kept = DiskSnapshots(admin.database.parent / SNAPSHOTS_FOLDER)
        for picture in PICTURES:
            await kept.put(picture, jpeg)
        async with open_store(admin.database) as opened:
            await store_all(opened)
            await opened.write(put)

    asyncio.run(store())


def export(folder: Path) -> int:
    return main(["detector", "dataset", "export", str(folder)])


def test_pictures_that_were_given_are_written_with_their_answers_and_masked(
    admin: Admin, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(admin, AGREED)

    assert export(tmp_path / "set") == 0

    assert "2 pictures" in capsys.readouterr().out
    frames = read_folder(tmp_path / "set").frames
    assert sorted(frame.failed for frame in frames) == [False, True]
    for frame in frames:
        data = frame.path.read_bytes()
        assert b"Exif" not in data
        assert np.asarray(Image.open(io.BytesIO(data))).max() < 30


def test_the_training_reads_the_export_and_its_licence(admin: Admin, tmp_path: Path) -> None:
    serve(admin, AGREED)
    export(tmp_path / "set")

    photos = read_manifest(tmp_path / "set")

    assert {photo.licence for photo in photos} == {"CC0-1.0"}
    assert [photo.is_in_situ for photo in photos] == [True, True]
    assert sorted(photo.failed for photo in photos) == [False, True]


def test_the_manifest_says_since_when_the_owner_agreed_and_names_nobody(
    admin: Admin, tmp_path: Path
) -> None:
    serve(admin, AGREED)
    export(tmp_path / "set")

    text = (tmp_path / "set" / "manifest.csv").read_text()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["consent_since"] for row in rows} == {NOON.date().isoformat()}
    assert {row["answered_at"] for row in rows} == {NOON.date().isoformat()}
    for secret in ("p1", "ada", *PICTURES):
        assert secret not in text


def test_names_of_cameras_differ_from_export_to_export(admin: Admin, tmp_path: Path) -> None:
    serve(admin, AGREED)
    named = []
    for folder in ("first", "second"):
        export(tmp_path / folder)
        frames = read_folder(tmp_path / folder).frames
        [camera] = {frame.path.parent.name for frame in frames}
        named.append(camera)

    assert named[0] != named[1]


def test_what_an_owner_never_gave_or_took_back_is_not_exported(
    admin: Admin, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(admin, replace(AGREED, gives_pictures=False, given_since=None))

    assert export(tmp_path / "set") == 0

    assert "0 pictures" in capsys.readouterr().out


def test_a_folder_with_an_earlier_export_is_refused(
    admin: Admin, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(admin, AGREED)
    export(tmp_path / "set")

    assert export(tmp_path / "set") == 1

    assert "is not empty" in capsys.readouterr().err
