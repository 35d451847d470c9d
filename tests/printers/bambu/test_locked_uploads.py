"""A lock of remote control while a file is on its way to a Bambu printer, on the fake one."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from printreach.agent.remote_lock import RemoteLock
from printreach.contract.commands import CommandStatus
from printreach.printers.bambu import ftps
from printreach.printers.bambu.ftps import Ftps
from tests.printers.bambu.rig import BambuRig
from tests.printers.bench import TEST_S
from tests.printers.contract_pauses import agent, run

pytestmark = [pytest.mark.peer, pytest.mark.slow]


@contextmanager
def verified_slowly() -> Iterator[tuple[threading.Event, threading.Event]]:
    """The size on the card is asked for; the answer waits for the second event."""
    is_asked, goes_on = threading.Event(), threading.Event()
    size_of = Ftps.size_of

    def slow(ftps: Ftps, path: str) -> int | None:
        is_asked.set()
        goes_on.wait(TEST_S)
        return size_of(ftps, path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ftps, "size_of", slow)
        yield is_asked, goes_on


def test_a_file_that_was_cut_short_is_refused_despite_a_lock_too(
    rig: BambuRig, tmp_path: Path
) -> None:
    async def body() -> None:
        lock = RemoteLock()
        async with agent(rig, tmp_path / "agent", remote_lock=lock) as bench:
            card = rig.fake.card
            with verified_slowly() as (is_sent, goes_on):
                asked = bench.calls.begin_put("files/upload", 5, "gcode/late.3mf")
                asked.stream.send(b"whole", fin=True)
                await asyncio.to_thread(is_sent.wait, TEST_S)
                (card.folder / "late.3mf").write_bytes(b"who")
                lock.set_locked(is_locked=True)
                goes_on.set()
                reply = await asked.reply()

            assert reply.status != CommandStatus.OK
            assert card.read("late.3mf") is None

    run(rig, body)


def test_a_file_stays_whose_session_ends_as_a_lock_comes(rig: BambuRig, tmp_path: Path) -> None:
    async def body() -> None:
        lock, is_leaving, goes_on = RemoteLock(), threading.Event(), threading.Event()
        finished = set[Ftps]()
        finish, leave = Ftps.finish_sending, Ftps.leave

        def note(ftps: Ftps, data: socket.socket) -> bool:
            has_all = finish(ftps, data)
            finished.add(ftps)
            return has_all

        def leave_slowly(ftps: Ftps) -> None:
            if ftps in finished:
                is_leaving.set()
                goes_on.wait(TEST_S)
            leave(ftps)

        async with agent(rig, tmp_path / "agent", remote_lock=lock) as bench:
            card = rig.fake.card
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Ftps, "finish_sending", note)
                patch.setattr(Ftps, "leave", leave_slowly)
                asked = bench.calls.begin_put("files/upload", 5, "gcode/late.3mf")
                asked.stream.send(b"whole", fin=True)
                await asyncio.to_thread(is_leaving.wait, TEST_S)
                lock.set_locked(is_locked=True)
                goes_on.set()
                reply = await asked.reply()

            assert reply.status == CommandStatus.OK
            assert card.read("late.3mf") == b"whole"

    run(rig, body)


@pytest.mark.parametrize("is_acknowledged", [True, False])
def test_a_lock_ends_an_upload_until_the_printer_has_acknowledged_it(
    rig: BambuRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_acknowledged: bool
) -> None:
    monkeypatch.setattr(ftps, "GOODBYE_S", 0.5)

    async def body() -> None:
        lock = RemoteLock()
        async with agent(rig, tmp_path / "agent", remote_lock=lock) as bench:
            card = rig.fake.card
            card.hangs_at_the_end = not is_acknowledged
            with verified_slowly() as (is_sent, goes_on):
                asked = bench.calls.begin_put("files/upload", 5, "gcode/late.3mf")
                asked.stream.send(b"whole", fin=True)
                await asyncio.to_thread(is_sent.wait, TEST_S)
                lock.set_locked(is_locked=True)
                goes_on.set()
                reply = await asked.reply()

            status = CommandStatus.OK if is_acknowledged else CommandStatus.INVALID_STATE
            assert reply.status == status
            assert (card.read("late.3mf") is not None) is is_acknowledged

    run(rig, body)
