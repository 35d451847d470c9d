"""The fake Duet as a rig of the contract suite: a board by itself, or with DSF in front of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from printreach.contract.status import Feature
from printreach.printers.duet import PLATFORMS
from printreach.printers.duet.adapter import make
from printreach.printers.operations import SMART_PAUSE, Operation
from printreach.printers.port import Printer
from printreach.printers.setup import PrinterSetup
from tests.fakes.duet.printer import FakeDuet, fake_duet
from tests.fakes.printer import EVERY_FEATURE_BUT_LEVELS
from tests.printers.meddler import NONSENSE, TOO_LONG
from tests.printers.print_file import PrintFile
from tests.printers.rig import SPEED, PrinterRig

PASSWORD = "tower + 9/%"
HOT = b"M140 S60\nT0\nM568 P0 S200 A2\n"


class DuetRig(PrinterRig):
    (platform,) = PLATFORMS
    lacks = frozenset({Operation.HEAT_CHAMBER})
    features = EVERY_FEATURE_BUT_LEVELS & ~Feature.LIGHT_CONTROL
    speed = SPEED
    has_camera = False
    smart_pause = SMART_PAUSE
    spools_uploads = True
    has_sbc = False
    fake: FakeDuet

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        async with fake_duet(PASSWORD, has_sbc=self.has_sbc) as self.fake:
            yield

    def setup(self, machine: PrinterSetup) -> PrinterSetup:
        return replace(machine, port=self.fake.port, password=PASSWORD)

    def make(self, setup: PrinterSetup) -> Printer:
        return make(setup)

    def long_print(self) -> PrintFile:
        return PrintFile("long.gcode", b"; seconds 600\nG28\n" + b"G1 X1\n" * 20_000)

    def short_print(self) -> PrintFile:
        return PrintFile("short.gcode", b"; seconds 2\n" + b"G28\n" * 100)

    def hot_print(self) -> PrintFile:
        return PrintFile("hot.gcode", b"; seconds 600\n" + HOT + b"G1 X1\n" * 20_000)

    async def warm_up_for_extrusion(self, printer: Printer) -> None:
        heater = self.fake.machine.heaters[1]
        heater.current = 200.0
        heater.heat(200.0)

    async def fail_print(self) -> None:
        self.fake.machine.order("M112")

    async def disconnect(self) -> None:
        await self.fake.go_away()

    async def reconnect(self) -> None:
        await self.fake.come_back()

    async def talk_nonsense(self) -> None:
        """Until all of it was heard: an order that meets it is refused, and rightly so."""
        texts = [*NONSENSE[:4], '{"result": 3}', '{"result": {"state": []}}', TOO_LONG]
        self.fake.say_next(*(text.encode() for text in texts if isinstance(text, str)))
        await asyncio.wait_for(self.fake.has_said_all(), self.patience_s)

    def with_wrong_credentials(self, setup: PrinterSetup) -> PrinterSetup | None:
        return replace(setup, password="not the tower")


class SbcRig(DuetRig):
    has_sbc = True
    spools_uploads = False
