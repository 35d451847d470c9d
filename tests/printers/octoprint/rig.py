"""OctoPrint with its virtual printer as a rig of the contract suite."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from printreach.contract.status import Feature
from printreach.printers.octoprint import PLATFORMS
from printreach.printers.octoprint.adapter import make
from printreach.printers.operations import SMART_PAUSE, Operation
from printreach.printers.port import Printer
from printreach.printers.setup import PrinterSetup
from tests.fakes.printer import EVERY_FEATURE_BUT_LEVELS
from tests.printers.film import film_at
from tests.printers.meddler import NONSENSE, TOO_LONG, Meddler, meddling
from tests.printers.print_file import PrintFile
from tests.printers.rig import PrinterRig
from tests.rigs.calls import Answer, call
from tests.rigs.octoprint import CONFIG, OctoPrint
from tests.rigs.waiting import wait_for
from tests.rigs.ways import Header, Way

TIMEOUT_S = 60.0
HOTEND_C = 30.0  # a second from cold: the virtual printer heats by ten degrees a second


def config_with_camera(port: int) -> str:
    """CONFIG, with a webcam at a port of loopback."""
    urls = {
        "/webcam/?action=stream": f"http://127.0.0.1:{port}/stream",
        "http://127.0.0.1:{port}/none": f"http://127.0.0.1:{port}/snapshot",
        "webcamEnabled: false": "webcamEnabled: true",
    }
    text = CONFIG
    for old, new in urls.items():
        assert old in text
        text = text.replace(old, new)
    return text


class OctoPrintRig(PrinterRig):
    """peer: running, for all tests; folder: where it keeps everything."""

    platform = PLATFORMS[0]
    lacks = frozenset({Operation.HEAT_CHAMBER})
    features = EVERY_FEATURE_BUT_LEVELS & ~Feature.LIGHT_CONTROL & ~Feature.Z_OFFSET_CONTROL
    tells_adjustments = False
    spools_uploads = True
    smart_pause = SMART_PAUSE
    serves_files_alone = True
    nonsense_ends_contact = True

    def __init__(self, peer: OctoPrint, folder: Path, camera_port: int) -> None:
        self.peer = peer
        self.folder = folder
        self.meddler: Meddler
        self._camera_port = camera_port

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        await asyncio.to_thread(self.tidy)
        async with film_at(self._camera_port), meddling(self.peer.url) as self.meddler:
            yield

    def setup(self, machine: PrinterSetup) -> PrinterSetup:
        return replace(machine, port=self.meddler.port, api_key=self.peer.api_key)

    def make(self, setup: PrinterSetup) -> Printer:
        return make(setup)

    def long_print(self) -> PrintFile:
        return PrintFile("long.gcode", b"G28\n" + b"G1 X10 F9000\nG4 P100\nG1 X20\n" * 600)

    def asking_print(self) -> PrintFile:
        return PrintFile("asks.gcode", b"G28\nM600\n" + self.long_print().data)

    def short_print(self) -> PrintFile:
        return PrintFile("short.gcode", b"G28\n" + b"G1 X10 Y10 E1 F9000\nG4 P300\nG1 X20 E2\n" * 8)

    def hot_print(self) -> PrintFile:
        return PrintFile("hot.gcode", _HEAT + _EXTRUDING)

    def pausing_print(self) -> PrintFile:
        return PrintFile("pauses.gcode", _HEAT + b"G4 P3000\n@pause\n" + _EXTRUDING)

    async def fail_print(self) -> None:
        await self.order("printer/command", commands=["!!DEBUG:send Error:MAXTEMP triggered!"])

    async def disconnect(self) -> None:
        await self.order("connection", command="disconnect")

    async def reconnect(self) -> None:
        await self.order("connection", command="connect")

    async def talk_nonsense(self) -> None:
        for message in NONSENSE:
            await self.meddler.say(message)
        self.meddler.answer_with(b"{", b"null", b'{"webcam": 3}')
        await self.meddler.say(TOO_LONG)

    def with_wrong_credentials(self, setup: PrinterSetup) -> PrinterSetup | None:
        return replace(setup, api_key="0123456789ABCDEF0123456789ABCDEF")

    # --- OctoPrint itself ---------------------------------------------------------------------

    async def order(self, target: str, **body: object) -> None:
        """Ask it directly, as its own page would."""
        answer = await asyncio.to_thread(self._post, target, body)
        assert answer.status < 300, answer.body

    def tidy(self) -> None:
        """Connected, idle, cold, without files."""
        if self._state() not in ("Operational", "Offline", "Offline after error"):
            self._post("job", {"command": "cancel"})
        self.wait_at_rest()
        if self._state() != "Operational":
            self._post("connection", {"command": "connect"})
            wait_for("a connection", lambda: self._state() == "Operational", TIMEOUT_S)
        for file in self._get("files")["files"]:
            self._ask("DELETE", f"files/local/{quote(file['path'])}")
        self._post("printer/tool", {"command": "target", "targets": {"tool0": 0}})
        self._post("printer/bed", {"command": "target", "target": 0})

    def wait_at_rest(self) -> None:
        wait_for("the end of the job", self._is_at_rest, TIMEOUT_S)

    def delete_when_at_rest(self, path: str) -> None:
        """As soon as OctoPrint lets it go."""
        target = f"files/local/{quote(path)}"
        wait_for("a deletion", lambda: self._ask("DELETE", target).status == 204, TIMEOUT_S)

    def _is_at_rest(self) -> bool:
        return self._state() in ("Operational", "Offline", "Offline after error")

    def _state(self) -> str:
        return str(self._get("job")["state"])

    def _get(self, target: str) -> dict[str, Any]:
        reported: dict[str, Any] = json.loads(self._ask("GET", target).body)
        return reported

    def _post(self, target: str, body: dict[str, object]) -> Answer:
        return self._ask("POST", target, json.dumps(body).encode())

    @contextmanager
    def serial_log(self) -> Iterator[Callable[[], list[str]]]:
        """While it is open: what was sent to the firmware, without line numbers."""
        log = self.folder / "logs" / "serial.log"
        self._post("settings", {"serial": {"log": True}})
        start = log.stat().st_size

        def sent() -> list[str]:
            text = log.read_bytes()[start:].decode()
            return re.findall(r"- Send: (?:N\d+ )?(.*?)(?:\*\d+)?$", text, re.MULTILINE)

        try:
            yield sent
        finally:
            self._post("settings", {"serial": {"log": False}})

    def give_profile(self, *, has_chamber: bool, extruders: int) -> None:
        """Tell OctoPrint what its printer has; it learns of it when it connects."""
        profile = {"heatedChamber": has_chamber, "extruder": {"count": extruders}}
        reported = self._ask(
            "PATCH", "printerprofiles/_default", json.dumps({"profile": profile}).encode()
        )
        assert reported.status == 200, reported.body

    def set_profiles(self, profiles: list[dict[str, object]]) -> None:
        """Set the temperature profiles, as OctoPrint's own page does."""
        saved = self._post("settings", {"temperature": {"profiles": profiles}})
        assert saved.status == 200, saved.body

    def ask_raw(self, method: str, target: str, headers: list[Header], body: bytes) -> Answer:
        return call(
            Way.straight(self.peer.url), f"/api/{target}", method=method, headers=headers, body=body
        )

    def _ask(self, method: str, target: str, body: bytes = b"") -> Answer:
        return self.ask_raw(method, target, [self.peer.key, _JSON], body)


_JSON: Header = ("Content-Type", "application/json")
_HEAT = b"M83\nM140 S25\nM104 S%d\nM109 S%d\n" % (HOTEND_C, HOTEND_C)
_EXTRUDING = b"G1 X10 E0.1 F9000\nG4 P100\nG1 X20\n" * 600
