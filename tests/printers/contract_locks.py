"""Contract: an order that has begun reaches no printer after a lock of remote control."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO

import pytest

from printreach.agent.remote_lock import RemoteLock
from printreach.contract.commands import CommandStatus
from printreach.contract.status import State
from printreach.printers import uploads
from tests.printers.asking import AskedCommand, Json
from tests.printers.bench import Bench
from tests.printers.contract_files import LARGE, listed, names
from tests.printers.contract_pauses import agent, run
from tests.printers.rig import PrinterRig

REFUSED = {CommandStatus.INVALID_STATE, CommandStatus.NOT_SUPPORTED}
UNDER_WAY_BYTES = LARGE // 2
"""More than one of the pieces in which some printers take a file."""


class LockContract:
    def test_what_has_begun_reaches_no_printer_after_a_lock(
        self, rig: PrinterRig, tmp_path: Path
    ) -> None:
        async def body() -> None:
            lock = RemoteLock()
            async with agent(rig, tmp_path / "agent", remote_lock=lock) as bench:
                file, other = rig.short_print(), rig.long_print()
                path = await bench.upload(file.name, file.data)
                await listed(bench, path)
                files, temps = await names(bench), await bench.temps()
                query = {"path": path}
                waiting = {
                    b'{"Path": "%b"}' % path.encode(): _begin(bench, "start"),
                    b'{"BedC": 60}': _begin(bench, "set-temp"),
                    b"{}": _begin(bench, "home"),
                    b"": _begin(bench, "files/delete", query),
                }
                upload = bench.calls.begin_put("files/upload", None, f"gcode/late-{other.name}")
                upload.stream.send(other.data[:100])
                await bench.status()  # which begins after them
                lock.set_locked(is_locked=True)
                upload.stream.send(other.data[100:200], fin=True)
                for last, asked in waiting.items():
                    asked.stream.send(last, fin=True)

                replies = [await asked.reply() for asked in (*waiting.values(), upload)]
                assert {reply.status for reply in replies} <= REFUSED, replies
                assert replies[-1].status == CommandStatus.INVALID_STATE

                async def nothing_changed() -> bool:
                    return await names(bench) == files

                await bench.until_true("the files of before", nothing_changed)
                now = await bench.temps()
                assert (now["BedTarget"], now["HotendTarget"]) == (
                    temps["BedTarget"],
                    temps["HotendTarget"],
                )
                assert (await bench.job())["State"] == State.IDLE

        run(rig, body)

    def test_an_upload_under_way_is_ended_by_a_lock_that_is_soon_gone(
        self, rig: PrinterRig, tmp_path: Path
    ) -> None:
        async def body() -> None:
            lock = RemoteLock()
            async with agent(rig, tmp_path / "agent", remote_lock=lock) as bench:
                before, data = await names(bench), rig.large_file(LARGE)
                asked = bench.calls.begin_put("files/upload", len(data), f"gcode/late{rig.suffix}")
                asked.stream.send(data[:8192])
                await bench.status()  # which begins after it
                _lock_for_a_moment(lock)

                assert (await asked.reply()).status == CommandStatus.INVALID_STATE
                await bench.until_true("the files of before", lambda: _are(bench, before))

        run(rig, body)

    def test_an_upload_that_the_agent_sends_on_from_its_disk_is_not_kept_after_a_lock(
        self, rig: PrinterRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if not rig.spools_uploads:
            return  # it sends what comes, as it comes
        read = uploads._read

        async def body() -> None:
            is_under_way, goes_on = asyncio.Event(), asyncio.Event()

            async def slowly(file: BinaryIO) -> AsyncIterator[bytes]:
                sent = 0
                async for piece in read(file):
                    yield piece
                    sent += len(piece)
                    if sent >= UNDER_WAY_BYTES:
                        is_under_way.set()
                        await goes_on.wait()

            monkeypatch.setattr(uploads, "_read", slowly)
            lock = RemoteLock()
            async with agent(rig, tmp_path / "agent", remote_lock=lock) as bench:
                before, data = await names(bench), rig.large_file(LARGE)
                asked = bench.calls.begin_put("files/upload", None, f"gcode/late{rig.suffix}")
                sending = asyncio.create_task(asked.send(_pieces(data)))
                await is_under_way.wait()
                _lock_for_a_moment(lock)
                goes_on.set()
                await sending

                assert (await asked.reply()).status == CommandStatus.INVALID_STATE
                await bench.until_true("the files of before", lambda: _are(bench, before))

        run(rig, body)


def _lock_for_a_moment(lock: RemoteLock) -> None:
    lock.set_locked(is_locked=True)
    lock.set_locked(is_locked=False)


async def _are(bench: Bench, expected: list[str]) -> bool:
    return await names(bench) == expected


async def _pieces(data: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(data), 8192):
        yield data[at : at + 8192]


def _begin(bench: Bench, command: str, query: Json | None = None) -> AskedCommand:
    """Begin an order with a key of its own, whose body follows."""
    headers = [(b"X-Service-Command-Id", f"mine.{command}".encode())]
    return bench.calls.ask(b"POST", command, None, query=query, headers=headers)
