"""The adapter with a printer whose own firmware answers as PrusaLink."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from printreach.agent.remote_lock import RemoteLock
from printreach.contract.commands import CommandStatus
from printreach.contract.status import Feature, State
from printreach.printers.port import NOT_YET, Printer
from printreach.printers.prusalink.adapter import make
from printreach.printers.prusalink.files import PrusaLinkFiles
from printreach.printers.setup import PrinterSetup
from tests.printers.bench import TEST_S, Bench, adapter_at, machine
from tests.printers.film import picture
from tests.printers.prusalink.buddy import PASSWORD, Buddy, buddy_board
from tests.printers.rig import PrinterRig

pytestmark = pytest.mark.slow

Test = Callable[[Buddy, Path], Awaitable[None]]


class BuddyRig(PrinterRig):
    """For adapter_at() alone."""

    def __init__(self, board: Buddy, password: str) -> None:
        self.board = board
        self.password = password

    def setup(self, machine: PrinterSetup) -> PrinterSetup:
        return replace(machine, port=self.board.port, password=self.password)

    def make(self, setup: PrinterSetup) -> Printer:
        return make(setup)


def on_buddy(test: Test) -> Callable[[Path], None]:
    """Run an async test with a deadline, at a board of its own."""

    def run(tmp_path: Path) -> None:
        async def body() -> None:
            async with asyncio.timeout(TEST_S), buddy_board() as board:
                await test(board, tmp_path)

        asyncio.run(body())

    run.__doc__ = test.__doc__  # wraps() would let pytest look for a fixture called board
    return run


@asynccontextmanager
async def adapter(
    board: Buddy,
    folder: Path,
    password: str = PASSWORD,
    remote_lock: RemoteLock | None = None,
) -> AsyncIterator[Bench]:
    rig = BuddyRig(board, password)
    async with adapter_at(rig, machine(rig, folder), remote_lock) as bench:
        await bench.until_true("an answer", lambda: _is_decided(bench))
        yield bench


async def _is_decided(bench: Bench) -> bool:
    trouble = bench.printer.view.trouble
    return trouble is None or trouble.status is not CommandStatus.NOT_CONNECTED


async def _has_tried(bench: Bench) -> bool:
    return bench.printer.view.trouble is not NOT_YET


@on_buddy
async def test_it_prints_and_takes_no_orders_for_axes_and_heaters(
    board: Buddy, folder: Path
) -> None:
    async with adapter(board, folder) as bench:
        assert (await bench.status())["Features"] == int(Feature.PRINT_START)
        assert (await bench.calls.post("home")).status == CommandStatus.NOT_SUPPORTED
        assert (await bench.calls.post("set-temp", {"BedC": 50})).status == 788
        path = "gcode/bracket for shelf.bgcode"
        assert (await bench.calls.post("start", {"Path": path})).status == 200

    assert "POST /api/v1/files/usb/bracket for shelf.bgcode" in board.asked


@on_buddy
async def test_a_print_is_paused_resumed_and_cancelled_by_its_number(
    board: Buddy, folder: Path
) -> None:
    board.moment = "printing"
    async with adapter(board, folder) as bench:
        await bench.until(State.PRINTING)
        assert (await bench.calls.post("pause")).status == 200
        assert (await bench.calls.post("cancel")).status == 200

    assert [line for line in board.asked if not line.startswith("GET")] == [
        "PUT /api/v1/job/57/pause",
        "DELETE /api/v1/job/57",
    ]


@on_buddy
async def test_folders_on_the_way_to_an_upload_are_made_first(board: Buddy, folder: Path) -> None:
    async with adapter(board, folder) as bench:
        board.folders.add("/usb/a")
        path = await bench.upload("a/b c/part.gcode", b"G28\n" * 1000)
        down = await bench.calls.get("files/download", path=path)

    assert path == "gcode/a/b c/part.gcode"
    assert down.body == b"G28\n" * 1000


@on_buddy
async def test_an_upload_that_it_has_accepted_stays_where_a_lock_comes_before_it_shows(
    board: Buddy, folder: Path
) -> None:
    lock, is_accepted = RemoteLock(), asyncio.Event()

    async def never(_files: PrusaLinkFiles, path: str, **_expected: object) -> bool:
        is_accepted.set()
        return False

    async with adapter(board, folder, remote_lock=lock) as bench:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(PrusaLinkFiles, "_is_noticed", never)
            uploading = asyncio.create_task(bench.upload("part.gcode", b"G28"))
            await is_accepted.wait()
            lock.set_locked(is_locked=True)

            assert await uploading == "gcode/part.gcode"
    assert board.stored == {"/usb/part.gcode": b"G28"}


@on_buddy
async def test_folders_are_listed_one_by_one(board: Buddy, folder: Path) -> None:
    async with adapter(board, folder) as bench:
        file, parts = (await bench.calls.get("files/list")).result["Root"]

    assert file["VirtualPath"] == "gcode/bracket for shelf.bgcode"
    assert [child["VirtualPath"] for child in parts["Children"]] == ["gcode/parts/gear.gcode"]


@on_buddy
async def test_folders_within_each_other_without_end_are_listed_to_an_end(
    board: Buddy, folder: Path
) -> None:
    child = {"name": "again", "type": "FOLDER"}
    target = "/api/v1/files/usb/"
    for _ in range(40):
        board.answers[target] = {"type": "FOLDER", "children": [child]}
        target = f"{target.rstrip('/')}/again"
    async with adapter(board, folder) as bench:
        assert (await bench.calls.get("files/list")).status == 200

    assert sum(line.startswith("GET /api/v1/files") for line in board.asked) <= 16


@on_buddy
async def test_a_new_nonce_is_taken_without_a_word(board: Buddy, folder: Path) -> None:
    async with adapter(board, folder) as bench:
        for nonce in ("0002", "0003"):
            board.nonce = nonce
            assert (await bench.calls.get("files/list")).status == 200
        assert bench.printer.view.trouble is None

    assert board.refusals >= 3


@on_buddy
async def test_an_upload_is_signed_afresh_so_that_no_body_is_sent_twice(
    board: Buddy, folder: Path
) -> None:
    async with adapter(board, folder) as bench:
        board.nonce = "0004"
        await bench.upload("part.gcode", b"G28\n" * 1000)

    assert sum(line.startswith("PUT") for line in board.asked) == 1
    assert board.stored["/usb/part.gcode"] == b"G28\n" * 1000


@on_buddy
async def test_a_wrong_password_is_told_and_tried_no_more_often_than_the_view_is_renewed(
    board: Buddy, folder: Path
) -> None:
    async with adapter(board, folder, password="wrong") as bench:
        refused = await bench.calls.get("status")

    assert refused.status == CommandStatus.NOT_AUTHORIZED
    assert "wrong" not in refused.error
    assert board.refusals <= 4


@on_buddy
async def test_a_board_has_no_cameras(board: Buddy, folder: Path) -> None:
    async with adapter(board, folder) as bench:
        assert (await bench.calls.get("webcam/list")).result["Webcams"] == []


@on_buddy
async def test_a_camera_gives_its_photographs(board: Buddy, folder: Path) -> None:
    """Of PrusaLink on a Raspberry Pi, which names them as `web/cameras.py` of 0.8.1 does."""
    cameras = [
        {"camera_id": "away", "connected": False, "config": {"name": "Gone"}},
        {"camera_id": "x/1", "connected": True, "config": {"name": "Bench"}},
        {"camera_id": "2", "connected": True, "config": {"name": "No picture yet"}},
    ]
    board.answers["/api/v1/cameras"] = {"camera_list": cameras}
    board.answers["/api/v1/cameras/x%2F1/snap"] = picture(7)
    async with adapter(board, folder) as bench:
        listed = (await bench.calls.get("webcam/list")).result["Webcams"]
        shown = await bench.calls.get("webcam/snapshot", index=0)
        missing = await bench.calls.get("webcam/snapshot", index=1)

    assert [camera["Name"] for camera in listed] == ["Bench", "No picture yet"]
    assert shown.body == picture(7)
    assert missing.http_status == 502


@on_buddy
async def test_a_print_that_waits_for_a_person_can_be_cancelled_and_no_other_started(
    board: Buddy, folder: Path
) -> None:
    board.moment = "attention"
    async with adapter(board, folder) as bench:
        job = await bench.until(State.PAUSED)
        started = await bench.calls.post("start", {"Path": "gcode/part.gcode"})
        paused = await bench.calls.post("pause")
        resumed = await bench.calls.post("resume")
        cancelled = await bench.calls.post("cancel")

    assert job["SubState"] == "The printer wants attention: see its display."
    assert (started.status, paused.status, cancelled.status) == (786, 786, 200)
    assert resumed.status == 752
    assert "answered at the printer's display" in resumed.error
    assert board.asked[-2:] == ["DELETE /api/v1/job/57", "POST /api/job"]


@on_buddy
async def test_what_answers_in_its_place_is_no_printer(board: Buddy, folder: Path) -> None:
    board.answers["/api/version"] = {"hello": "I am a router"}
    rig = BuddyRig(board, PASSWORD)
    async with adapter_at(rig, machine(rig, folder)) as bench:
        await bench.until_true("a try", lambda: _has_tried(bench))
        trouble = bench.printer.view.trouble

    assert trouble is not None
    assert trouble.status is CommandStatus.NOT_CONNECTED
    assert "something else" in trouble.sentence
