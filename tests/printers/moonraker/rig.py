"""Moonraker on a simulated Klippy as a rig of the contract suite."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from printreach.contract.commands import SetTemp
from printreach.printers.moonraker import PLATFORMS
from printreach.printers.moonraker.adapter import make
from printreach.printers.operations import SMART_PAUSE
from printreach.printers.port import Printer
from printreach.printers.setup import PrinterSetup
from tests.fakes.printer import EVERY_FEATURE_BUT_LEVELS
from tests.printers.film import film_at
from tests.printers.meddler import NONSENSE, TOO_LONG, Meddler, meddling
from tests.printers.print_file import PrintFile
from tests.printers.rig import PrinterRig
from tests.rigs.calls import call
from tests.rigs.klipper_objects import HEATER, Status
from tests.rigs.klippy import Klippy, klippy
from tests.rigs.moonraker import CONFIG, moonraker
from tests.rigs.waiting import free_port, wait_for
from tests.rigs.ways import Way

FURTHER = """
[power cabinet_light]
type: klipper_device
object_name: output_pin cabinet

[spoolman]
server: http://127.0.0.1:{spoolman}

[webcam front]
stream_url: http://127.0.0.1:{camera}/stream
snapshot_url: http://127.0.0.1:{camera}/snapshot
"""
EXTRA: Status = {
    "heater_generic chamber": dict(HEATER),
    "temperature_sensor enclosure": {"temperature": 25.5},
    "fan": {"speed": 0.0, "rpm": None},
    "output_pin case_light": {"value": 0.0},
    "output_pin cabinet": {"value": 0.0},
    "neopixel case_leds": {"color_data": [[0.0, 0.0, 0.0, 0.0]] * 3},
}
TIMEOUT_S = 60.0
WARM_C = 60.0


class Ports(NamedTuple):
    """The ports of other programs, which Moonraker's configuration names."""

    camera: int
    spoolman: int


def config_with(ports: Ports) -> str:
    """CONFIG with a webcam, Spoolman, and a lamp that Moonraker switches."""
    return CONFIG + FURTHER.format(**ports._asdict())


class MoonrakerRig(PrinterRig):
    """url: of a Moonraker that runs for all tests. folder: its data. klippy: its printer."""

    platform = PLATFORMS[0]
    features = EVERY_FEATURE_BUT_LEVELS
    heaters = frozenset({"BedC", "ToolC", "ChamberC"})
    smart_pause = SMART_PAUSE
    serves_files_alone = True
    tells_filament = True
    nonsense_ends_contact = True

    def __init__(self, url: str, folder: Path, klippy: Klippy, ports: Ports) -> None:
        self.url = url
        self.folder = folder
        self.klippy = klippy
        self.ports = ports
        self.meddler: Meddler
        self._extra = EXTRA
        self._key: str | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        await asyncio.to_thread(self.tidy)
        async with film_at(self.ports.camera), meddling(self.url) as self.meddler:
            yield

    def setup(self, machine: PrinterSetup) -> PrinterSetup:
        return replace(machine, port=self.meddler.port, api_key=self.api_key)

    def make(self, setup: PrinterSetup) -> Printer:
        return make(setup)

    def long_print(self) -> PrintFile:
        return PrintFile("long.gcode", _WARM + _EXTRUDING)

    def short_print(self) -> PrintFile:
        return PrintFile("short.gcode", _WARM + b"G1 X10 E0.5 F6000\nG1 X30 E0.5\n" * 2)

    async def feeding_print(self) -> PrintFile:
        return PrintFile("feeds.gcode", _WARM + b"G1 X10 E2 F6000\nG1 X30 E2\n" * 60)

    def hot_print(self) -> PrintFile:
        return PrintFile("hot.gcode", _HEAT + self.long_print().data)

    def pausing_print(self) -> PrintFile:
        return PrintFile("pauses.gcode", _HEAT + b"G28\nM83\nG4 P3000\nPAUSE\n" + _EXTRUDING)

    async def warm_up_for_extrusion(self, printer: Printer) -> None:
        await printer.set_temp(SetTemp(tool_c=WARM_C))
        await asyncio.to_thread(wait_for, "heat", lambda: _is_warm(printer), TIMEOUT_S)

    async def fail_print(self) -> None:
        self.klippy.call(lambda: self.klippy.machine.fail_print("Lost communication with MCU"))

    async def disconnect(self) -> None:
        await asyncio.to_thread(self.klippy.go)

    async def reconnect(self) -> None:
        await asyncio.to_thread(self.klippy.come)

    async def talk_nonsense(self) -> None:
        for message in NONSENSE:
            await self.meddler.say(message)
        for news in self._klipper_nonsense():
            await self.meddler.say(json.dumps(news))
        self.meddler.answer_with(b"{", b'{"result": 3}')
        await self.meddler.say(TOO_LONG)

    def with_wrong_credentials(self, setup: PrinterSetup) -> PrinterSetup | None:
        return replace(setup, api_key="0123456789abcdef0123456789abcdef")

    # --- Moonraker and Klippy themselves ----------------------------------------------------------

    @property
    def api_key(self) -> str:
        if self._key is None:
            self._key = str(self.get("/access/api_key"))
        return self._key

    def get(self, target: str) -> Any:
        """The result of a question."""
        return json.loads(call(Way.straight(self.url), target).body)["result"]

    def store(self, namespace: str, key: str, value: object) -> None:
        """Store something in the database, as its pages do."""
        item = json.dumps({"namespace": namespace, "key": key, "value": value}).encode()
        way, headers = Way.straight(self.url), [("Content-Type", "application/json")]
        stored = call(way, "/server/database/item", method="POST", headers=headers, body=item)
        assert stored.status == 200, stored.body

    def tidy(self) -> None:
        """Klipper ready, idle, homed and cold; no files."""
        for path in (self.folder / "gcodes").iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.with_printer(EXTRA)
        self.klippy.do(lambda: self.klippy.machine.run("G28"))
        wait_for("Klipper", self.is_ready, TIMEOUT_S)

    def with_printer(self, extra: Status) -> None:
        """A printer that has these objects, too. Moonraker asks for them only where it restarts."""
        has_same = self.klippy.is_there and self._extra == extra
        if has_same and self.klippy.machine.objects["webhooks"]["state"] == "ready":
            self.klippy.renew(extra)
            return
        self._extra = extra
        self.klippy.go()
        wait_for("Klipper to be missed", lambda: not self.is_ready(), TIMEOUT_S)
        self.klippy.come(extra)
        wait_for("Klipper", self.is_ready, TIMEOUT_S)

    def is_ready(self) -> bool:
        return bool(self.get("/server/info")["klippy_state"] == "ready")

    def _klipper_nonsense(self) -> list[dict[str, Any]]:
        statuses: list[Any] = [
            {"print_stats": {"state": 7, "info": [], "filename": {}, "print_duration": "long"}},
            {"extruder": None, "toolhead": 3, "heater_bed": {"temperature": [1]}},
            {"webhooks": {"state": ["ready"]}},
            {"gcode_move": {"gcode_position": [1, 2, "high", None], "speed_factor": 0}},
            {"output_pin case_light": {"value": "bright"}},
        ]
        return [
            {"jsonrpc": "2.0", "method": "notify_status_update", "params": [status, 1.0]}
            for status in statuses
        ]


def _is_warm(printer: Printer) -> bool:
    return printer.view.job.current_print.temps.hotend_actual >= WARM_C


@contextmanager
def running_rig(folder: Path) -> Iterator[MoonrakerRig]:
    """A Moonraker in this folder, and all around it."""
    ports = Ports(camera=free_port(), spoolman=free_port())
    with klippy(folder, EXTRA) as printer, moonraker(folder, config_with(ports)) as url:
        yield MoonrakerRig(url, folder, printer, ports)


_HEAT = b"M140 S40\nM104 S60\nM190 S40\n"
_WARM = b"G28\nM83\nM104 S60\nM109 S60\n"
_EXTRUDING = b"G1 X10 E0.5 F6000\nG1 X30 E0.5\n" * 400
