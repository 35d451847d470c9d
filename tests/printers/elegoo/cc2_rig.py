"""The fake Centauri Carbon 2 as a rig of the contract suite."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from printreach.contract.status import Feature
from printreach.printers.elegoo import PLATFORMS
from printreach.printers.elegoo.adapter import make
from printreach.printers.operations import SMART_PAUSE, Operation
from printreach.printers.port import Printer
from printreach.printers.setup import PrinterSetup
from tests.fakes.elegoo_cc2 import ACCESS_CODE, SERIAL, Broker, FakeCc2, fake_cc2
from tests.printers.meddler import NONSENSE, TOO_LONG
from tests.printers.print_file import PrintFile
from tests.printers.rig import SPEED, PrinterRig


class Cc2Rig(PrinterRig):
    """broker: running, for all tests of a session."""

    platform = PLATFORMS[1]
    features = Feature(1 + 2 + 4 + 16 + 32) | Feature.FAN_CONTROL | Feature.SPEED_LEVELS
    speed = SPEED / 2  # a broker, whose time goes no faster, needs some of it
    smart_pause = SMART_PAUSE - {Operation.PAUSE_RETRACT}
    has_folders = False
    spools_uploads = True
    fake: FakeCc2

    def __init__(self, broker: Broker) -> None:
        self.broker = broker

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        async with fake_cc2(self.broker) as self.fake:
            yield

    def setup(self, machine: PrinterSetup) -> PrinterSetup:
        ports = {"mqtt": self.broker.port}
        known = replace(machine, access_code=ACCESS_CODE, serial=SERIAL)
        return replace(known, port=self.fake.web_port, ports=ports)

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
        self.broker.stop()
        self.fake.is_up.clear()

    async def reconnect(self) -> None:
        self.broker.start()  # in this thread: Linux ends the program with the thread that began it
        await asyncio.wait_for(self.fake.is_up.wait(), self.patience_s)

    async def talk_nonsense(self) -> None:
        for message in NONSENSE:
            self.fake.say(message)
        self.fake.say('{"method": 6000, "id": "x", "result": {"machine_status": []}}')
        self.fake.say(TOO_LONG)

    def with_wrong_credentials(self, setup: PrinterSetup) -> PrinterSetup | None:
        return replace(setup, access_code="135791")
