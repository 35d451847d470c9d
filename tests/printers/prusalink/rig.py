"""PrusaLink as a rig of the contract suite."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from printreach.contract.status import Feature
from printreach.printers.operations import Operation
from printreach.printers.port import Printer
from printreach.printers.prusalink import PLATFORMS
from printreach.printers.prusalink.adapter import make
from printreach.printers.setup import PrinterSetup
from tests.printers.meddler import TOO_LONG, Meddler, meddling
from tests.printers.print_file import PrintFile
from tests.printers.rig import PrinterRig
from tests.rigs.prusalink import PASSWORD, USER, PrusaLink
from tests.rigs.waiting import wait_for
from tests.rigs.ways import Header

TIMEOUT_S = 60.0
WARM_C = 200.0


class PrusaLinkRig(PrinterRig):
    """peer: running, for all tests. It has no camera: that would have to be a real one."""

    platform = PLATFORMS[0]
    lacks = frozenset({Operation.WEBCAM_SNAPSHOT, Operation.WEBCAM_STREAM})
    features = (
        Feature(62)  # everything but a light
        | Feature.AXIS_HOMING
        | Feature.SPEED_CONTROL
        | Feature.FLOW_CONTROL
    )
    spools_uploads = True
    has_camera = False
    thumbnail_edges = MappingProxyType({16: 220})  # PrusaLink keeps the largest

    def __init__(self, peer: PrusaLink) -> None:
        self.peer = peer
        self.meddler: Meddler

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        await asyncio.to_thread(self.tidy)
        async with meddling(self.peer.url) as self.meddler:
            yield

    def setup(self, machine: PrinterSetup) -> PrinterSetup:
        return replace(machine, port=self.meddler.port, user=USER, password=PASSWORD)

    def make(self, setup: PrinterSetup) -> Printer:
        return make(setup)

    def long_print(self) -> PrintFile:
        return PrintFile("long.gcode", b"G28\n" + b"G1 X10 F9000\nG4 P100\nG1 X20\n" * 600)

    def short_print(self) -> PrintFile:
        return PrintFile("short.gcode", b"G28\n" + b"G1 X10 Y10 F9000\nG4 P200\nG1 X20\n" * 20)

    def hot_print(self) -> PrintFile:
        heat = b"M104 S%d\nM109 S%d\n" % (WARM_C, WARM_C)
        return PrintFile("hot.gcode", heat + self.long_print().data)

    async def warm_up_for_extrusion(self, printer: Printer) -> None:
        self.peer.firmware.nozzle.target_c = WARM_C
        await asyncio.to_thread(wait_for, "a hot nozzle", self._is_hot, TIMEOUT_S)

    async def fail_print(self) -> None:
        self.peer.firmware.overheat()

    async def disconnect(self) -> None:
        self.meddler.fall_silent()

    async def reconnect(self) -> None:
        self.meddler.speak_again()

    async def talk_nonsense(self) -> None:
        """The adapter asks again after each of these, later and later; after the last one, too."""
        nonsense = (b"[" * 100_000, b'{"printer": {"state": []}}', TOO_LONG.encode())
        enough = len(self.meddler.asked) + len(nonsense) + 1
        self.meddler.answer_with(*nonsense)
        await asyncio.to_thread(
            wait_for,
            "all nonsense to be heard",
            lambda: len(self.meddler.asked) >= enough,
            TIMEOUT_S,
        )

    def with_wrong_credentials(self, setup: PrinterSetup) -> PrinterSetup | None:
        return replace(setup, password="another password")

    # --- PrusaLink itself -------------------------------------------------------------------------

    def tidy(self) -> None:
        """Idle, cold, without files."""
        firmware = self.peer.firmware
        if self.peer.state() == "ERROR":
            firmware.reset()
        self._cancel()
        with self.peer.forgetting_prints():
            wait_for("an idle printer", lambda: self.peer.state() == "IDLE", TIMEOUT_S)
        self._delete_all("/api/v1/files/local/")
        wait_for("an empty storage", lambda: not self._children("/api/v1/files/local/"), TIMEOUT_S)
        firmware.nozzle.target_c = firmware.bed.target_c = 0.0

    def get(self, target: str) -> Any:
        """The JSON of an answer; None for one without."""
        answer = self.peer.ask("GET", target)
        return json.loads(answer.body) if answer.body else None

    def _cancel(self) -> None:
        job = self.get("/api/v1/status").get("job")
        if job is not None:
            self.peer.ask("DELETE", f"/api/v1/job/{job['id']}")

    def _delete_all(self, folder: str) -> None:
        for child in self._children(folder):
            target = f"{folder}{quote(child['name'])}"
            self.peer.ask("DELETE", target, _FORCE)

    def _children(self, folder: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get(folder)["children"]
        return found

    def _is_hot(self) -> bool:
        reported = self.get("/api/v1/status")["printer"].get("temp_nozzle", 0.0)
        return bool(reported >= WARM_C)


_FORCE: Header = ("Force", "?1")
