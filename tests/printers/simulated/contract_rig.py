"""The simulated printer as a rig of the contract suite."""

import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from printreach.printers.operations import SMART_PAUSE
from printreach.printers.port import Printer
from printreach.printers.setup import PrinterSetup
from printreach.printers.simulated import PLATFORMS
from printreach.printers.simulated.adapter import make
from printreach.printers.simulated.machine import Machine
from printreach.printers.simulated.printer import SimulatedPrinter
from printreach.printers.simulated.program import HeaterName
from printreach.printers.simulated.runner import RunningPrinter, run_simulated_printer
from printreach.printers.simulated.sample import NAME as SAMPLE
from tests.fakes.printer import EVERY_FEATURE_BUT_LEVELS
from tests.printers.meddler import NONSENSE, TOO_LONG, Meddler, meddling
from tests.printers.print_file import PrintFile
from tests.printers.rig import SPEED, PrinterRig
from tests.rigs.waiting import free_port

_PATH = b"G28\n" + b"G1 X10 F6000\nG1 X30\n" * 600


class SimulatedRig(PrinterRig):
    """A printer in this process, which a meddler stands before."""

    platform = PLATFORMS[0]
    features = EVERY_FEATURE_BUT_LEVELS
    speed = SPEED
    heaters = frozenset({"BedC", "ToolC", "ChamberC"})
    smart_pause = SMART_PAUSE
    tells_filament = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self._running: RunningPrinter
        self.meddler: Meddler

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        shutil.rmtree(self._folder, ignore_errors=True)
        await self.reconnect()
        (self._folder / SAMPLE).unlink()
        async with meddling(f"http://127.0.0.1:{self._port}") as self.meddler:
            try:
                yield
            finally:
                await self.disconnect()

    def setup(self, machine: PrinterSetup) -> PrinterSetup:
        return replace(machine, port=self.meddler.port)

    def make(self, setup: PrinterSetup) -> Printer:
        return make(setup)

    def long_print(self) -> PrintFile:
        return PrintFile("long.gcode", _PATH)

    def asking_print(self) -> PrintFile:
        return PrintFile("asks.gcode", b"G28\nG1 X10 F6000\nM600\n" + _PATH)

    def short_print(self) -> PrintFile:
        return PrintFile("short.gcode", b"G28\nG1 X10 F6000\nG1 X30\n")

    def hot_print(self) -> PrintFile:
        return PrintFile("hot.gcode", b"M140 S40\nM104 S60\nM190 S40\n" + _PATH)

    async def feeding_print(self) -> PrintFile:
        await self.run_at(100)
        return PrintFile(
            "feeds.gcode", b"G28\nM109 S200\nM83\n" + b"G1 X10 E5 F600\nG1 X30 E5\n" * 40
        )

    async def warm_up_for_extrusion(self, printer: Printer) -> None:
        self.machine.heaters[HeaterName.HOTEND].actual_c = 200.0

    async def run_at(self, speed: float) -> None:
        order = json.dumps({"Speed": speed}).encode()
        assert await self._running.control.execute("simulate", order) is None

    @property
    def printer(self) -> SimulatedPrinter:
        return self._running.printer

    @property
    def machine(self) -> Machine:
        return self.printer.machine

    async def fail_print(self) -> None:
        self.printer.break_down("The heater has failed.")
        await self._running.control.execute("light", b'{"On":true}')  # so that time is told of it

    async def disconnect(self) -> None:
        await self._running.close()

    async def reconnect(self) -> None:
        self._running = await run_simulated_printer("127.0.0.1", self._port, folder=self._folder)

    async def talk_nonsense(self) -> None:
        for message in [*NONSENSE, '{"Status":{"State":7,"Temps":[]}}', TOO_LONG]:
            await self.meddler.say(message)

    def with_wrong_credentials(self, _setup: PrinterSetup) -> PrinterSetup | None:
        return None
