"""Records what a real OctoPrint says: `python -m tests.printers.octoprint.record`.

Writes tests/printers/recordings/octoprint/<version>-rest.json, and -push.jsonl with a message a
line. What differs from run to run and says nothing (keys, sessions, ports, logs) is left out.
"""

import asyncio
import json
import re
import tempfile
from pathlib import Path
from typing import Any

from printreach.printers.connecting import connect_to
from printreach.printers.websocket import websocket
from tests.printers.octoprint.rig import OctoPrintRig, config_with_camera
from tests.rigs.octoprint import OctoPrint, octoprint
from tests.rigs.waiting import free_port

RECORDINGS = Path(__file__).parents[1] / "recordings" / "octoprint"
SILENCE_S = 10.0
REST = (
    *("version", "connection", "printer", "job", "settings", "printerprofiles"),
    *("files/local?recursive=true", "files/local/parts/short.gcode", "files/local/parts"),
)
PRINT = b"M83\nM140 S40\nM104 S60\nM109 S60\nG28\n" + b"G1 X10 E0.2 F9000\nG4 P100\nG1 X20\n" * 300
_DROPPED = frozenset({"apikey", "session", "plugin_hash", "config_hash", "logs", "messages"})


class Recorder(OctoPrintRig):
    """Plays a print through, and writes down what is said."""

    def __init__(self, peer: OctoPrint, folder: Path) -> None:
        super().__init__(peer, folder, free_port())
        self.rest: dict[str, Any] = {}
        self.pushed: list[Any] = []

    def note(self, moment: str, targets: tuple[str, ...] = ("printer", "job")) -> None:
        for target in targets:
            reported: Any = _clean(self._ask("GET", target).json())
            if target == "settings":  # the rest is secrets, and of no interest
                reported = {"webcam": reported["webcam"]}
            self.rest[f"{moment}: {target}"] = reported

    async def play(self) -> None:
        listening = asyncio.create_task(self._listen())
        await asyncio.sleep(2)
        await asyncio.to_thread(self._upload, "parts", "short.gcode", self.short_print().data)
        await asyncio.to_thread(self._upload, "", "hot print.gcode", PRINT)
        await asyncio.sleep(6)  # until both have been analysed
        self.note("idle", REST)
        await self.order("files/local/hot%20print.gcode", command="select", print=True)
        await self._pass("warming up", 3)
        await self._pass("printing", 8)
        await self.order("job", command="pause", action="pause")
        await self._pass("paused", 4)
        await self.order("job", command="pause", action="resume")
        await self._pass("resumed", 3)
        await self.order("job", command="cancel")
        await self._pass("cancelled", 3)
        await self.order("files/local/parts/short.gcode", command="select", print=True)
        await self._pass("complete", 4)
        await self.order("files/local/hot%20print.gcode", command="select", print=True)
        await asyncio.sleep(4)
        await self.fail_print()
        await self._pass("fault", 3)
        await self.disconnect()
        await self.reconnect()
        await self._pass("connected again", 3)
        await self.disconnect()
        await self._pass("disconnected", 2)
        listening.cancel()

    async def _pass(self, moment: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await asyncio.to_thread(self.note, moment)

    async def _listen(self) -> None:
        port = int(self.peer.url.rpartition(":")[2])
        login: Any = (await asyncio.to_thread(self._post, "login", {"passive": True})).json()
        url = f"ws://127.0.0.1:{port}/sockjs/websocket"
        async with websocket(connect_to("127.0.0.1", port, tls=False), url) as socket:
            await socket.send(json.dumps({"auth": f"{login['name']}:{login['session']}"}))
            while True:
                self.pushed.append(_clean(json.loads(await socket.receive(SILENCE_S))))

    def _upload(self, folder: str, name: str, data: bytes) -> None:
        head = f'--b\r\nContent-Disposition: form-data; name="path"\r\n\r\n{folder}\r\n--b\r\n'
        head += f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        body = head.encode() + data + b"\r\n--b--\r\n"
        headers = [self.peer.key, ("Content-Type", "multipart/form-data; boundary=b")]
        self.ask_raw("POST", "files/local", headers, body)


def _clean(reported: Any) -> Any:
    if isinstance(reported, dict):
        return {key: _clean(value) for key, value in reported.items() if key not in _DROPPED}
    if isinstance(reported, list):
        return [_clean(value) for value in reported]
    if isinstance(reported, str):
        return re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:5000", reported)
    return reported


def _two_extruders(config: str) -> str:
    return config.replace("numExtruders: 1", "numExtruders: 2, hasChamber: true")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        config = _two_extruders(config_with_camera(free_port()))
        with octoprint(Path(folder) / "base", config) as peer:
            recorder = Recorder(peer, Path(folder) / "base")
            recorder.give_profile(has_chamber=True, extruders=2)
            asyncio.run(recorder.play())
    version = recorder.rest["idle: version"]["server"]
    RECORDINGS.mkdir(parents=True, exist_ok=True)
    rest = json.dumps(recorder.rest, indent=1, ensure_ascii=False)
    (RECORDINGS / f"{version}-rest.json").write_text(rest + "\n")
    lines = [json.dumps(message, ensure_ascii=False) for message in recorder.pushed]
    (RECORDINGS / f"{version}-push.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
