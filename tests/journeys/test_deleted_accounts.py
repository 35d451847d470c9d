"""An account is deleted while the service runs, and its files go with it."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from printreach.backends.snapshots_disk import DiskSnapshots
from printreach.rules.prints.snapshots import Snapshot
from printreach.rules.prints.timelapse import FIRST_GAP_S, Timelapse
from printreach.run.dependencies import SNAPSHOTS_FOLDER, TIMELAPSES_FOLDER
from printreach.store.store import Records, open_store
from tests.rigs.nodes import has_several_nodes
from tests.rigs.service import PASSWORD, Service
from tests.rigs.waiting import wait_for

pytestmark = pytest.mark.slow

DAN = "deleted@example.com"
PICTURE, VIDEO = "p" * 32, "v" * 32
WITHIN_S = 60


def test_its_pictures_and_videos_are_gone_within_a_minute(relay: Service) -> None:
    if has_several_nodes():
        pytest.skip("their data directories are apart")
    relay.admin("account", "add", DAN, stdin=PASSWORD + "\n")
    data_dir = Path(relay.env["PRINTREACH_DATA_DIR"])
    asyncio.run(keep_files_of(DAN, data_dir))
    files = [*data_dir.rglob(f"{PICTURE}*"), *data_dir.rglob(f"{VIDEO}*")]
    assert len(files) == 2

    relay.admin("account", "delete", DAN)

    wait_for("no file is left", lambda: not any(map(Path.exists, files)), WITHIN_S)


async def keep_files_of(email: str, data_dir: Path) -> None:
    """Store a new picture and a new video of the account."""
    at = datetime.now(UTC)

    async def add(records: Records) -> None:
        account = await records.accounts.with_email(email)
        assert account is not None
        account_id = account.account_id
        snapshot = Snapshot(
            snapshot_id=PICTURE, account_id=account_id, printer_id="p", taken_at=at, size=7
        )
        await records.snapshots.add(snapshot)
        timelapse = Timelapse(
            timelapse_id="t",
            account_id=account_id,
            printer_id="p",
            print_id="print",
            gap_s=FIRST_GAP_S,
            pictures=0,
            taken_at=None,
            tries=0,
            video_id=None,
            size=0,
            made_at=None,
        )
        await records.timelapses.begin(timelapse)
        await records.timelapses.reserve("t", VIDEO)
        await records.timelapses.settle("t", 5, at)

    async with open_store(data_dir / "printreach.sqlite3") as store:
        await store.write(add)
        await DiskSnapshots(data_dir / SNAPSHOTS_FOLDER).put(PICTURE, b"picture")
        await DiskSnapshots(data_dir / TIMELAPSES_FOLDER, ".mp4").put(VIDEO, b"video")
