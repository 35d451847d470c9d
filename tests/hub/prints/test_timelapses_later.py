"""A video whose pictures can't be read now is made once they can."""

import logging

import pytest

from printreach.backends.snapshots_disk import DiskSnapshots
from printreach.hub.prints.timelapses import TimelapseMaking
from printreach.ports.snapshots import SnapshotsUnavailable
from printreach.rules.prints.timelapse import MIN_PICTURES
from tests.fakes.loop import on_a_loop
from tests.hub.prints.test_timelapses import cinema
from tests.hub.world import OpenWorld


@on_a_loop
async def test_a_video_whose_storage_is_away_is_made_later_and_the_log_has_one_line(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def refuse(_: DiskSnapshots, snapshot_id: str) -> bytes | None:
        raise SnapshotsUnavailable("A picture can't be read: connection refused")

    async with cinema(open_world) as here:
        await here.prints(MIN_PICTURES)
        with monkeypatch.context() as away:
            away.setattr(DiskSnapshots, "get", refuse)
            waiting = await here.ends()
        here.world.clock.advance(TimelapseMaking.lease)
        await here.make()
        made = await here.timelapses.of_print(here.key)

    assert waiting is not None
    assert waiting.made_at is None
    assert made is not None
    assert made.made_at is not None
    [told] = [one for one in caplog.records if one.levelno >= logging.WARNING]
    assert (told.levelname, told.exc_info) == ("WARNING", None)
    assert "is handled later: A picture can't be read" in told.getMessage()
