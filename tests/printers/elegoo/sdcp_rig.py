"""The fake Centauri Carbon as a rig of the contract suite."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from printreach.contract.status import Feature
from printreach.printers.elegoo import PLATFORMS
from printreach.printers.elegoo.adapter import make
from printreach.printers.operations import SMART_PAUSE, Operation
from printreach.printers.port import Printer
from printreach.printers.setup import PrinterSetup
from tests.fakes.elegoo_sdcp import FakeSdcp, fake_sdcp
from tests.printers.meddler import NONSENSE, TOO_LONG
from tests.printers.print_file import PrintFile
from tests.printers.rig import SPEED, PrinterRig
from tests.rigs.waiting import free_port


class SdcpRig(PrinterRig):
    platform = PLATFORMS[0]
    features = Feature(1 + 2 + 4 + 16 + 32) | Feature.FAN_CONTROL | Feature.SPEED_LEVELS
    speed = SPEED
    smart_pause = SMART_PAUSE - {Operation.PAUSE_RETRACT}
    has_folders = False
    spools_uploads = True
    nonsense_ends_contact = True
    fake: FakeSdcp

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        async with fake_sdcp() as self.fake:
            yield

    def setup(self, machine: PrinterSetup) -> PrinterSetup:
        ports = {"sdcp": self.fake.port, "uploads": self.fake.web_port, "mqtt": free_port()}
        return replace(machine, port=self.fake.web_port, ports=ports)

    def make(self, setup: PrinterSetup) -> Printer:
        return make(setup)

    def long_print(self) -> PrintFile:
        return PrintFile("long.gcode", b"; seconds 600\nG28\n")

    def hot_print(self) -> PrintFile:
        return PrintFile("hot.gcode", b"; seconds 600\n; hotend 200\n; bed 60\nG28\n")

    def short_print(self) -> PrintFile:
        return PrintFile("short.gcode", b"; seconds 1\n" + b"G28\n" * 100)

    async def fail_print(self) -> None:
        self.fake.machine.turn("failed")

    async def disconnect(self) -> None:
        await self.fake.go_away()

    async def reconnect(self) -> None:
        await self.fake.come_back()

    async def talk_nonsense(self) -> None:
        for message in NONSENSE:
            self.fake.say(message)
        self.fake.say('{"Status": {"PrintInfo": 7, "CurrentStatus": {}, "LightStatus": []}}')
        self.fake.say(TOO_LONG)

    def with_wrong_credentials(self, setup: PrinterSetup) -> PrinterSetup | None:
        del setup
        return None
