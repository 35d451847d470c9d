"""Contract: an order that has begun reaches no printer after a lock of remote control."""

from pathlib import Path

from printreach.agent.remote_lock import RemoteLock
from printreach.contract.commands import CommandStatus
from printreach.contract.status import State
from tests.printers.asking import AskedCommand, Json
from tests.printers.bench import Bench
from tests.printers.contract_files import listed, names
from tests.printers.contract_pauses import agent, run
from tests.printers.rig import PrinterRig

REFUSED = {CommandStatus.INVALID_STATE, CommandStatus.NOT_SUPPORTED}


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


def _begin(bench: Bench, command: str, query: Json | None = None) -> AskedCommand:
    """Begin an order with a key of its own, whose body follows."""
    headers = [(b"X-Service-Command-Id", f"mine.{command}".encode())]
    return bench.calls.ask(b"POST", command, None, query=query, headers=headers)
