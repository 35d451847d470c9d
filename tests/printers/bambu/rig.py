"""The fake Bambu Lab printer as a rig of the contract suite."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from types import MappingProxyType

from printreach.contract.commands import SetTemp
from printreach.contract.status import Feature
from printreach.printers.bambu import PLATFORMS
from printreach.printers.bambu.adapter import make
from printreach.printers.operations import SMART_PAUSE
from printreach.printers.port import Printer
from printreach.printers.setup import PrinterSetup
from tests.fakes.bambu.broker import ACCESS_CODE
from tests.fakes.bambu.camera_port import CameraPort, camera_port_at
from tests.fakes.bambu.printer import SERIAL, FakeBambu
from tests.printers.bambu.slices import gcode, project
from tests.printers.meddler import NONSENSE, TOO_LONG
from tests.printers.print_file import PrintFile
from tests.printers.rig import SPEED, PrinterRig
from tests.printers.sliced import picture

HOT_C = 200.0


async def until(is_so: Callable[[], bool]) -> None:
    for _ in range(900):
        if is_so():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it never came to that")


class BambuRig(PrinterRig):
    """fake: running, for all tests of a session."""

    platform = PLATFORMS[0]
    features = Feature(63) | Feature.SPEED_LEVELS
    speed = SPEED / 2  # a broker and threads, whose time goes no faster, need some of it
    nonsense_ends_contact = True
    smart_pause = SMART_PAUSE
    thumbnail_edges = MappingProxyType({256: 220})  # one picture of each plate
    camera_port: CameraPort

    def __init__(self, fake: FakeBambu) -> None:
        self.fake = fake

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        self._tidy()
        fake = self.fake
        camera_port = camera_port_at(fake.camera_port, fake.certificate, fake.key, ACCESS_CODE)
        async with camera_port as self.camera_port:
            yield

    def setup(self, machine: PrinterSetup) -> PrinterSetup:
        ports = {"files": self.fake.card.port, "camera": self.fake.camera_port}
        known = replace(machine, access_code=ACCESS_CODE, serial=SERIAL)
        return replace(known, port=self.fake.broker.port, ports=ports)

    def make(self, setup: PrinterSetup) -> Printer:
        return make(setup)

    def long_print(self) -> PrintFile:
        return PrintFile("long.gcode.3mf", b"; seconds 600\nG28\n")

    def short_print(self) -> PrintFile:
        return PrintFile("short.gcode.3mf", b"; seconds 1\n" + b"G28\n" * 100)

    def hot_print(self) -> PrintFile:
        return PrintFile("hot.gcode.3mf", b"; seconds 600\n; hotend 60\n; bed 40\nG28\n")

    def pictured_print(self) -> PrintFile:
        return PrintFile("part.gcode.3mf", project(gcode(), picture=picture(220)))

    @property
    def suffix(self) -> str:
        return ".gcode.3mf"

    async def warm_up_for_extrusion(self, printer: Printer) -> None:
        await printer.set_temp(SetTemp(tool_c=HOT_C))
        await until(lambda: printer.view.job.current_print.temps.hotend_actual >= HOT_C)

    async def fail_print(self) -> None:
        with self.fake.lock:
            self.fake.machine.end("FAILED", 0x0300800A)

    async def disconnect(self) -> None:
        self.fake.go_away()

    async def reconnect(self) -> None:
        self.fake.come_back()  # not in a thread: programs end with the thread that started them

    async def talk_nonsense(self) -> None:
        for message in NONSENSE:
            self.fake.say(message)
        self.fake.say('{"print": {"command": "push_status", "gcode_state": 7, "ams": "none"}}')
        self.fake.say(TOO_LONG)

    def with_wrong_credentials(self, setup: PrinterSetup) -> PrinterSetup | None:
        return replace(setup, access_code="87654321")

    def _tidy(self) -> None:
        with self.fake.lock:
            self.fake.machine.reset()
            self.fake.card.hangs_at_the_end = False
            self.fake.card.list_the_old_way(really=False)
        for entry in self.fake.card.folder.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
