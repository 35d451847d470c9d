"""Two prints on a real OctoPrint, as an app's own HTTPS server is notified of them."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from printreach.contract.events import EventType
from tests.rigs.notified_app import TIMEOUT_S, NotifiedApp, kinds, notified_app
from tests.rigs.octoprint import OctoPrint
from tests.rigs.octoprint import octoprint as running_octoprint
from tests.rigs.waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.peer]

E = EventType
# Warms its bed, so that there is something to cool, and waits a while between moves.
GCODE = b"M140 S45\nG28\nM190 S45\n" + b"G1 X10 F6000\nG4 P200\n" * 50 + b"M140 S0\n"


@pytest.fixture
def printer(tmp_path: Path) -> Iterator[OctoPrint]:
    with running_octoprint(tmp_path / "octoprint") as running:
        running.wait_operational()
        yield running


@pytest.fixture
def app(tmp_path: Path, printer: OctoPrint) -> Iterator[NotifiedApp]:
    key = {"PRINTREACH_PRINTER_API_KEY": printer.api_key}
    with notified_app(tmp_path, "octoprint", printer.url, key) as running:
        yield running


class Job:
    """Ordered about at OctoPrint's own API, as a person beside it would."""

    def __init__(self, printer: OctoPrint) -> None:
        self._client = httpx.Client(
            base_url=printer.url, headers={"X-Api-Key": printer.api_key}, timeout=30
        )

    def start(self, name: str) -> None:
        files = {"file": (name, GCODE, "text/x.gcode")}
        started = self._client.post("/api/files/local", files=files, data={"print": "true"})
        assert started.status_code == 201, started.text

    def order(self, command: str, action: str | None = None) -> None:
        words = {"command": command} | ({"action": action} if action else {})
        assert self._client.post("/api/job", json=words).status_code == 204


def in_state(printer: OctoPrint, state: str) -> None:
    """OctoPrint passes over orders while it is on its way there."""
    wait_for(f"OctoPrint to be {state}", lambda: printer.state() == state, TIMEOUT_S)


@pytest.mark.timeout(900)
def test_prints_on_octoprint_are_told_in_their_order(printer: OctoPrint, app: NotifiedApp) -> None:
    job = Job(printer)
    job.start("first.gcode")
    app.wait_for(E.STARTED)
    job.order("pause", "pause")
    app.wait_for(E.PAUSED)
    in_state(printer, "Paused")
    job.order("pause", "resume")
    app.wait_for(E.RESUMED)
    app.wait_for(E.COMPLETE)
    app.wait_for(E.BED_COOLED_DOWN)
    first = app.read_print()
    assert kinds(first) == [E.STARTED, E.PAUSED, E.RESUMED, E.COMPLETE, E.BED_COOLED_DOWN]
    assert {one["FileName"] for one in first} == {"first.gcode"}
    assert len({one["PrintId"] for one in first}) == 1

    job.start("second.gcode")
    app.wait_for(E.STARTED)
    in_state(printer, "Printing")
    job.order("cancel")
    app.wait_for(E.FAILED)
    second = app.read_print()

    assert kinds(second[:2]) == [E.STARTED, E.FAILED]
    assert second[1]["Error"] == "cancelled"
    assert second[0]["PrintId"] != first[0]["PrintId"]
