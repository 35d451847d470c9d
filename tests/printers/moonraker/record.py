"""Records what a real Moonraker says: `python -m tests.printers.moonraker.record`.

Klipper behind it is the simulated one, so objects are as tests/rigs/klipper_objects.py has them;
everything around them is Moonraker's own. Writes tests/printers/recordings/moonraker/
<version>-answers.json, and -pushed.jsonl with a notification a line.
"""

import asyncio
import json
import re
import tempfile
from pathlib import Path
from typing import Any

from printreach.printers.connecting import connect_to
from printreach.printers.moonraker.api import Rpc
from printreach.printers.moonraker.machine import machine_of, subscription
from printreach.printers.websocket import websocket
from tests.printers.moonraker.rig import MoonrakerRig, running_rig
from tests.printers.sliced import sliced
from tests.rigs.calls import call
from tests.rigs.ways import Way

RECORDINGS = Path(__file__).parents[1] / "recordings" / "moonraker"
QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("server.info", {}),
    ("printer.info", {}),
    ("printer.objects.list", {}),
    ("machine.device_power.devices", {}),
    ("server.webcams.list", {}),
    ("server.spoolman.status", {}),
    ("server.files.metadata", {"filename": "parts/sliced part.gcode"}),
    ("server.files.get_directory", {"path": "gcodes", "extended": True}),
    ("server.files.get_directory", {"path": "gcodes/parts", "extended": True}),
    ("server.files.get_directory", {"path": "config", "extended": True}),
)
_TOLD_ALL_THE_TIME = frozenset({"notify_proc_stat_update"})


class Recorder:
    """Plays prints through, and writes down what is said."""

    def __init__(self, rig: MoonrakerRig) -> None:
        self.rig = rig
        self.answers: dict[str, Any] = {}
        self.pushed: list[Any] = []
        self.rpc: Rpc

    async def play(self) -> None:
        await asyncio.to_thread(self.rig.tidy)
        port = int(self.rig.url.rpartition(":")[2])
        url = f"ws://127.0.0.1:{port}/websocket"
        async with websocket(connect_to("127.0.0.1", port, tls=False), url) as socket:
            self.rpc = Rpc(socket, self._wait_for_change)
            reading = asyncio.create_task(self.rpc.run())
            await self._play()
            reading.cancel()

    async def _play(self) -> None:
        await asyncio.to_thread(self._upload, "parts", sliced(moves=60).name, sliced().data)
        await asyncio.to_thread(self._upload, "", "short.gcode", self.rig.short_print().data)
        for method, params in QUESTIONS:
            shown = " ".join([method, *(str(value) for value in params.values())])
            self.answers[shown] = await self.rpc.call(method, params)
        names: Any = self.answers["printer.objects.list"]
        wanted = {"objects": subscription(machine_of(names["objects"]))}
        subscribed = await self.rpc.call("printer.objects.subscribe", wanted)
        self.answers["printer.objects.subscribe"] = subscribed
        await self._order(
            "machine.device_power.post_device", 1, device="cabinet_light", action="on"
        )
        await self._order("printer.gcode.script", 0.5, script="M117 Hello")
        await self._order("printer.print.start", 4, filename="parts/sliced part.gcode")
        await self._order("printer.print.pause", 1)
        await self._order("printer.print.resume", 1)
        await self._order("printer.print.cancel", 1)
        await self._order("printer.print.start", 3, filename="short.gcode")
        await self._order("printer.print.start", 2, filename="parts/sliced part.gcode")
        await self.rig.fail_print()
        await asyncio.sleep(1)
        await self._order("printer.gcode.script", 1, script="SDCARD_RESET_FILE")
        await asyncio.to_thread(self.rig.klippy.shut_down, "MCU 'mcu' shutdown: Timer too close")
        await asyncio.sleep(1)
        for method in ("server.info", "printer.info"):
            self.answers[f"shut down: {method}"] = await self.rpc.call(method)
        await self._order("printer.firmware_restart", 3)
        await asyncio.to_thread(self.rig.klippy.go)
        await asyncio.sleep(1)
        self.answers["gone: server.info"] = await self.rpc.call("server.info")

    async def _order(self, method: str, seconds: float, **params: Any) -> None:
        await self.rpc.call(method, params)
        await asyncio.sleep(seconds)

    def _wait_for_change(self, method: str, params: object) -> None:
        if method not in _TOLD_ALL_THE_TIME:
            self.pushed.append({"method": method, "params": params})

    def _upload(self, folder: str, name: str, data: bytes) -> None:
        head = f'--b\r\nContent-Disposition: form-data; name="path"\r\n\r\n{folder}\r\n--b\r\n'
        head += f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        body = head.encode() + data + b"\r\n--b--\r\n"
        kind = ("Content-Type", "multipart/form-data; boundary=b")
        way = Way.straight(self.rig.url)
        answer = call(way, "/server/files/upload", method="POST", headers=[kind], body=body)
        self.answers[f"upload {name}"] = json.loads(answer.body)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, running_rig(Path(folder)) as rig:
        recorder = Recorder(rig)
        asyncio.run(recorder.play())

        def clean(reported: Any, *, indent: int | None = None) -> str:
            text = json.dumps(reported, indent=indent, ensure_ascii=False)
            return re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8080", text.replace(folder, "/data"))

        version = recorder.answers["server.info"]["moonraker_version"]
        RECORDINGS.mkdir(parents=True, exist_ok=True)
        answers = clean(recorder.answers, indent=1)
        (RECORDINGS / f"{version}-answers.json").write_text(answers + "\n")
        lines = "\n".join(clean(message) for message in recorder.pushed)
        (RECORDINGS / f"{version}-pushed.jsonl").write_text(lines + "\n")


if __name__ == "__main__":
    main()
