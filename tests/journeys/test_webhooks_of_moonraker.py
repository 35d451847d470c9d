"""Two prints through a real Moonraker, as an app's own HTTPS server is notified of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from printreach.contract.events import EventType
from tests.rigs.klippy import Klippy, klippy
from tests.rigs.moonraker import moonraker
from tests.rigs.notified_app import TIMEOUT_S, NotifiedApp, kinds, notified_app
from tests.rigs.waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.peer]

E = EventType
# Warms its bed, so that there is something to cool, and moves to and fro for some ten seconds.
GCODE = b"M140 S45\nG28\nM190 S45\n" + b"G1 X10 F6000\nG1 X30\n" * 25 + b"M140 S0\n"
COOLING_C_PER_S = 5.0
"""It is still warm when the print has ended, as beds are."""


@dataclass(frozen=True)
class Printer:
    """Ordered about at Moonraker's own API, as a person beside it would."""

    url: str
    klippy: Klippy

    def put(self, name: str) -> None:
        files = {"file": (name, GCODE, "text/x.gcode")}
        put = httpx.post(f"{self.url}/server/files/upload", files=files, timeout=30)
        assert put.status_code == 201, put.text

    def order(self, what: str, **arguments: str) -> None:
        done = httpx.post(f"{self.url}/printer/{what}", params=arguments, timeout=30)
        assert done.status_code == 200, done.text

    def is_ready(self) -> bool:
        info = httpx.get(f"{self.url}/server/info", timeout=30).json()["result"]
        return bool(info["klippy_state"] == "ready")


@pytest.fixture
def printer(tmp_path: Path) -> Iterator[Printer]:
    folder = tmp_path / "moonraker"
    folder.mkdir()
    with klippy(folder) as klipper, moonraker(folder) as url:
        running = Printer(url, klipper)
        klipper.machine.cooling_c_per_s = COOLING_C_PER_S
        wait_for("Klipper", running.is_ready, TIMEOUT_S)
        yield running


@pytest.fixture
def app(tmp_path: Path, printer: Printer) -> Iterator[NotifiedApp]:
    with notified_app(tmp_path, "moonraker", printer.url) as running:
        yield running


@pytest.mark.timeout(900)
def test_prints_through_moonraker_are_sent_in_order(printer: Printer, app: NotifiedApp) -> None:
    printer.put("first.gcode")
    printer.order("print/start", filename="first.gcode")
    app.wait_for(E.STARTED)
    printer.order("print/pause")
    app.wait_for(E.PAUSED)
    printer.order("print/resume")
    app.wait_for(E.RESUMED)
    app.wait_for(E.COMPLETE)
    app.wait_for(E.BED_COOLED_DOWN)
    first = app.read_print()
    assert kinds(first) == [E.STARTED, E.PAUSED, E.RESUMED, E.COMPLETE, E.BED_COOLED_DOWN]
    assert {one["FileName"] for one in first} == {"first.gcode"}
    assert len({one["PrintId"] for one in first}) == 1

    printer.put("second.gcode")
    printer.order("print/start", filename="second.gcode")
    app.wait_for(E.STARTED)
    printer.order("print/cancel")
    app.wait_for(E.FAILED)
    printer.order("gcode/script", script="M140 S0")
    app.wait_for(E.BED_COOLED_DOWN)
    second = app.read_print()

    assert kinds(second) == [E.STARTED, E.FAILED, E.BED_COOLED_DOWN]
    assert second[1]["Error"] == "cancelled"
    assert len({one["PrintId"] for one in second}) == 1
    assert second[0]["PrintId"] != first[0]["PrintId"]
