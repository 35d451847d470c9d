"""An order that has begun is stopped by a lock of remote control, or by its time, until it acts."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from printreach.agent.commands.replay import ServiceClock
from printreach.agent.remote_lock import RemoteLock
from printreach.contract.commands import PERMISSIONS_FIELD, CommandStatus, StartPrint
from printreach.contract.files import FileDone
from printreach.contract.status import State
from printreach.printers.uploads import spooled
from printreach.wire.heads import Headers
from tests.fakes.hasty_loop import hasty_loop, on_a_hasty_loop, settle
from tests.fakes.printer import ScriptedPrinter
from tests.printers.asking import Json, command_calls

NOW_S = 1_800_000_000
FILE = "gcode/a.gcode"
TRANSFER_S = 9
ORDERS = [
    ("resume", State.PAUSED, b"", {}),
    ("cancel", State.PRINTING, b"", {}),
    ("start", State.IDLE, b'{"Path": "gcode/a.gcode"}', {}),
    ("set-light", State.IDLE, b'{"Name": "light", "On": true}', {}),
    ("move-axis", State.IDLE, b'{"Axis": "X", "DistanceMm": 1}', {}),
    ("home", State.IDLE, b"", {}),
    ("extrude", State.IDLE, b'{"Extruder": 0, "DistanceMm": 1}', {}),
    ("set-temp", State.IDLE, b'{"BedC": 60}', {}),
    ("adjust", State.PRINTING, b'{"SpeedPercent": 90}', {}),
    ("emergency-stop", State.PRINTING, b"", {}),
    ("restart-firmware", State.ERROR, b"", {}),
    ("files/delete", State.IDLE, b"", {"path": FILE}),
]


def stamped(command_id: bytes) -> Headers:
    return [
        (b"X-Service-Command-Id", command_id),
        (b"X-Service-Command-Expires", b"%d" % ((NOW_S + 30) * 1000)),
    ]


@pytest.mark.parametrize(("command", "state", "body", "query"), ORDERS)
def test_no_order_whose_body_comes_after_a_lock_reaches_the_printer(
    command: str, state: State, body: bytes, query: Json
) -> None:
    @on_a_hasty_loop
    async def run() -> None:
        printer, lock = ScriptedPrinter(), RemoteLock()
        printer.be(state)
        async with command_calls(printer, remote_lock=lock) as calls:
            asked = calls.ask(b"POST", command, None, query=query, headers=stamped(b"1"))
            await settle()
            lock.set_locked(is_locked=True)
            asked.stream.send(body, fin=True)
            reply = await asked.reply()

            assert (reply.status, printer.done) == (CommandStatus.INVALID_STATE, [])
            assert "locked" in reply.error

            lock.set_locked(is_locked=False)
            again = calls.ask(b"POST", command, body, query=query, headers=stamped(b"2"))
            assert (await again.reply()).status == CommandStatus.OK

    run()


@pytest.mark.parametrize("size", [b"9", None])
@on_a_hasty_loop
async def test_an_upload_under_way_is_not_kept_after_a_lock(size: bytes | None) -> None:
    printer, lock = ScriptedPrinter(), RemoteLock()
    headers = [] if size is None else [(b"Content-Length", size)]
    async with command_calls(printer, remote_lock=lock) as calls:
        query = {"path": FILE}
        asked = calls.ask(b"PUT", "files/upload", None, query=query, headers=headers)
        asked.stream.send(b"G28\nG28\n")
        await settle()
        lock.set_locked(is_locked=True)
        asked.stream.send(b"\n", fin=True)
        reply = await asked.reply()

    assert (reply.status, printer.done) == (CommandStatus.INVALID_STATE, [])


@on_a_hasty_loop
async def test_an_upload_whose_end_alone_comes_after_a_lock_is_not_kept() -> None:
    printer, lock = ScriptedPrinter(), RemoteLock()
    async with command_calls(printer, remote_lock=lock) as calls:
        asked = calls.ask(b"PUT", "files/upload", None, query={"path": FILE})
        asked.stream.send(b"G28")
        await settle()
        lock.set_locked(is_locked=True)
        asked.stream.send(b"", fin=True)
        reply = await asked.reply()

    assert (reply.status, printer.done) == (CommandStatus.INVALID_STATE, [])


class SpoolingPrinter(ScriptedPrinter):
    """Has an upload on disk before it sends it on, which takes a while, as its clean-up does.

    cleaned_up: how often it has done what follows a cancellation.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.cleaned_up = 0
        self._folder = folder

    async def upload(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> FileDone:
        async with spooled(chunks, self._folder) as (_, found):
            try:
                await asyncio.sleep(TRANSFER_S)
            except asyncio.CancelledError:
                await asyncio.sleep(TRANSFER_S)
                self.cleaned_up += 1
                raise
            return await super().upload(path, size, found)


LOCKS = [(True,), (True, False)]


@pytest.mark.parametrize("changes", LOCKS)
def test_an_upload_that_is_sent_on_from_the_disk_is_not_kept_after_a_lock(
    changes: tuple[bool, ...], tmp_path: Path
) -> None:
    @on_a_hasty_loop
    async def run() -> None:
        printer, lock = SpoolingPrinter(tmp_path), RemoteLock()
        async with command_calls(printer, remote_lock=lock) as calls:
            before = asyncio.all_tasks()
            asked = calls.ask(b"PUT", "files/upload", b"G28", query={"path": FILE})
            await asyncio.sleep(1)
            for is_locked in changes:
                lock.set_locked(is_locked=is_locked)
            reply = await asked.reply()
            await settle()

            assert (reply.status, printer.done) == (CommandStatus.INVALID_STATE, [])
            assert "locked" in reply.error
            assert printer.cleaned_up == 1
            assert asyncio.all_tasks() == before

    run()


@on_a_hasty_loop
async def test_an_upload_that_stalls_is_refused_as_soon_as_a_lock_comes() -> None:
    printer, lock = ScriptedPrinter(), RemoteLock()
    async with command_calls(printer, remote_lock=lock) as calls:
        asked = calls.ask(b"PUT", "files/upload", None, query={"path": FILE})
        asked.stream.send(b"G28")
        await settle()
        for is_locked in (True, False):
            lock.set_locked(is_locked=is_locked)
        reply = await asked.reply()

    assert (reply.status, printer.done) == (CommandStatus.INVALID_STATE, [])


@pytest.mark.parametrize(("stamp", "is_kept"), [(b"files,despite-lock", True), (b"files", False)])
def test_an_upload_that_a_lock_does_not_bind_goes_on(
    stamp: bytes, is_kept: bool, tmp_path: Path
) -> None:
    @on_a_hasty_loop
    async def run() -> None:
        printer, lock = SpoolingPrinter(tmp_path), RemoteLock()
        headers = [(PERMISSIONS_FIELD, stamp)]
        query = {"path": FILE}
        async with command_calls(printer, remote_lock=lock) as calls:
            asked = calls.ask(b"PUT", "files/upload", b"G28", query=query, headers=headers)
            await asyncio.sleep(1)
            lock.set_locked(is_locked=True)
            reply = await asked.reply()

        assert (reply.status == CommandStatus.OK) is is_kept
        assert printer.done == ([(FILE, b"G28")] if is_kept else [])

    run()


@pytest.mark.parametrize("is_first_locked", [True, False])
def test_a_lock_and_a_caller_that_leaves_do_not_cut_short_the_clean_up(
    is_first_locked: bool, tmp_path: Path
) -> None:
    @on_a_hasty_loop
    async def run() -> None:
        printer, lock = SpoolingPrinter(tmp_path), RemoteLock()
        async with command_calls(printer, remote_lock=lock) as calls:
            asked = calls.ask(b"PUT", "files/upload", b"G28", query={"path": FILE})
            await asyncio.sleep(1)
            if is_first_locked:
                lock.set_locked(is_locked=True)
                await settle()
            asked.leave()
            await settle()
            lock.set_locked(is_locked=not is_first_locked)
            await settle()

        assert (printer.cleaned_up, printer.done) == (1, [])

    run()


class LockedAfterwards(ScriptedPrinter):
    """A lock comes when it has acknowledged an upload, before the agent has answered."""

    def __init__(self, lock: RemoteLock) -> None:
        super().__init__()
        self._lock = lock

    async def upload(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> FileDone:
        done = await super().upload(path, size, chunks)
        asyncio.get_running_loop().call_soon(lambda: self._lock.set_locked(is_locked=True))
        return done


@on_a_hasty_loop
async def test_an_upload_that_the_printer_has_acknowledged_before_a_lock_stays() -> None:
    lock = RemoteLock()
    printer = LockedAfterwards(lock)
    async with command_calls(printer, remote_lock=lock) as calls:
        reply = await calls.ask(b"PUT", "files/upload", b"G28", query={"path": FILE}).reply()

    assert lock.is_locked
    assert (reply.status, printer.done) == (CommandStatus.OK, [(FILE, b"G28")])


@on_a_hasty_loop
async def test_an_upload_may_take_longer_than_an_order_is_valid() -> None:
    printer = ScriptedPrinter()
    clock = ServiceClock(hasty_loop().time)
    clock.set(NOW_S)
    async with command_calls(printer, clock) as calls:
        asked = calls.ask(b"PUT", "files/upload", None, query={"path": FILE}, headers=stamped(b"1"))
        await asyncio.sleep(60)
        asked.stream.send(b"G28", fin=True)
        reply = await asked.reply()

    assert reply.status == CommandStatus.OK


@on_a_hasty_loop
async def test_an_order_that_expires_while_it_waits_for_another_is_not_carried_out() -> None:
    printer = ScriptedPrinter()
    clock = ServiceClock(hasty_loop().time)
    clock.set(NOW_S)
    async with command_calls(printer, clock) as calls:
        printer.be(State.PRINTING)
        assert (await calls.post("pause")).status == CommandStatus.OK
        before = list(printer.done)
        clock.set(NOW_S + 28)
        asked = calls.ask(b"POST", "resume", headers=stamped(b"1"))
        await asyncio.sleep(3)
        printer.be(State.PAUSED)
        reply = await asked.reply()

    assert (reply.status, printer.done) == (CommandStatus.TIMED_OUT, before)


class SlowToStart(ScriptedPrinter):
    """Answers a start after a while, and prints then."""

    async def start(self, order: StartPrint) -> FileDone:
        await asyncio.sleep(3)
        done = await super().start(order)
        self.be(State.PRINTING)
        return done


@on_a_hasty_loop
async def test_a_cancel_that_waits_for_a_start_is_carried_out_despite_a_lock() -> None:
    printer, lock = SlowToStart(), RemoteLock()
    async with command_calls(printer, remote_lock=lock) as calls:
        starting = asyncio.create_task(calls.post("start", {"Path": FILE}))
        await settle()
        cancelling = asyncio.create_task(calls.post("cancel"))
        await settle()
        lock.set_locked(is_locked=True)

        assert (await starting).status == CommandStatus.OK
        assert (await cancelling).status == CommandStatus.OK

    assert printer.done[-1] == "cancel"
