"""A real OctoPrint's print that fails before its camera: a warning and an automatic pause."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from printreach.contract.events import EventType, PrintEvent
from printreach.rules.watch.choices import WatchPause, WatchSettings
from printreach.store.store import Records, open_store
from tests.rigs.calls import call
from tests.rigs.fast_clock import let_time_fly, with_fast_clock
from tests.rigs.octoprint import CONFIG, OctoPrint, octoprint
from tests.rigs.print_camera import GOOD, SPAGHETTI, PrintCamera, print_camera
from tests.rigs.service import LinkedPrinter, Service, service_on_localhost
from tests.rigs.stored_events import stored_events
from tests.rigs.waiting import wait_for
from tests.rigs.ways import Way

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

E = EventType
SPEED = 8.0
"""A look each 20 s is one each 2.5 s. Where the machine is busy there are fewer."""
TIMEOUT_S = 90.0
LONG_PRINT = "\n".join(["G28", *["G1 X10 Y10 E1 F3000\nG4 P1000"] * 300, ""]).encode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("watch")


@pytest.fixture(scope="module")
def camera() -> Iterator[PrintCamera]:
    with print_camera() as running:
        yield running


@pytest.fixture(scope="module")
def peer(folder: Path, camera: PrintCamera) -> Iterator[OctoPrint]:
    seen = CONFIG.replace("http://127.0.0.1:{port}/none", f"{camera.url}/snapshot")
    with octoprint(
        folder / "octoprint", seen.replace("webcamEnabled: false", "webcamEnabled: true")
    ) as running:
        yield running


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Service]:
    watch = {"PRINTREACH_DETECTOR_WATCH": "true"}
    with service_on_localhost(folder, command=with_fast_clock(SPEED), more_env=watch) as running:
        yield running


@pytest.fixture(scope="module")
def linked(service: Service, peer: OctoPrint) -> Iterator[LinkedPrinter]:
    key = {"PRINTREACH_PRINTER_API_KEY": peer.api_key}
    with service.printer("watched", peer.url, platform="octoprint", env=key) as linked:
        linked.agent.wait_until_looked()
        yield linked


def allow_pauses(service: Service, linked: LinkedPrinter) -> None:
    """As the printer's owner does on its page."""

    async def choose(records: Records) -> None:
        printer = await records.printers.linked(linked.id)
        assert printer is not None
        settings = WatchSettings(pauses=WatchPause())
        await records.watch_settings.put(linked.id, printer.account_id, settings)

    async def main() -> None:
        path = Path(service.env["PRINTREACH_DATA_DIR"]) / "printreach.sqlite3"
        async with open_store(path) as store:
            await store.write(choose)

    asyncio.run(main())


def start(peer: OctoPrint) -> None:
    file = b'Content-Disposition: form-data; name="file"; filename="part.gcode"\r\n\r\n'
    begin = b'Content-Disposition: form-data; name="print"\r\n\r\ntrue'
    body = b"--b\r\n" + file + LONG_PRINT + b"\r\n--b\r\n" + begin + b"\r\n--b--\r\n"
    kind = ("Content-Type", "multipart/form-data; boundary=b")
    way = Way.straight(peer.url)
    answer = call(way, "/api/files/local", method="POST", headers=[peer.key, kind], body=body)
    assert answer.status == 201, answer.body
    wait_for("the print to start", lambda: peer.state() == "Printing", TIMEOUT_S)


def told(service: Service, linked: LinkedPrinter, kind: EventType) -> list[PrintEvent]:
    """Events of a kind that were handed out."""
    return [
        kept.event
        for kept in stored_events(service, linked)
        if kept.kind is kind and kept.is_handed_out
    ]


def test_a_print_that_turns_into_spaghetti_is_warned_of_and_paused_by_itself(
    service: Service, linked: LinkedPrinter, peer: OctoPrint, camera: PrintCamera
) -> None:
    allow_pauses(service, linked)
    start(peer)
    wait_for("the start to be told", lambda: bool(told(service, linked, E.STARTED)), TIMEOUT_S)
    let_time_fly(service.program.pid)
    wait_for("some looks", lambda: camera.by_picture.get(GOOD, 0) >= 5, TIMEOUT_S)
    assert told(service, linked, E.POSSIBLE_FAILURE) == []

    camera.shows = SPAGHETTI
    wait_for("the pause", lambda: bool(told(service, linked, E.PAUSED_BY_DETECTOR)), TIMEOUT_S)

    wait_for("OctoPrint to stand", lambda: peer.state() == "Paused", TIMEOUT_S)
    # Where the machine is so busy that the pause takes minutes of the service, it warns again.
    warning, *others = told(service, linked, E.POSSIBLE_FAILURE)
    [pause] = told(service, linked, E.PAUSED_BY_DETECTOR)
    [begun] = told(service, linked, E.STARTED)
    assert {event.print_id for event in (warning, *others, pause)} == {begun.print_id}
    assert pause.file_name == "part.gcode"
    assert pause.event_time_sec >= warning.event_time_sec
    assert camera.by_picture[SPAGHETTI] >= 3
    assert told(service, linked, E.PAUSED) == []
    wait_for("the agent to hear of it", lambda: shows_the_pause(service, linked), TIMEOUT_S)
    peer.reset()


def shows_the_pause(service: Service, linked: LinkedPrinter) -> bool:
    detector = status(service, linked)["ServiceStatus"]["Detector"]
    return detector["LastScore"] >= 70 and detector["TimeSinceLastPauseSec"] is not None


def status(service: Service, linked: LinkedPrinter) -> dict[str, dict[str, dict[str, float]]]:
    """What the printer's agent says of itself."""
    way = service.way(service.connect(linked))
    answer = call(way, "/service-command-api/status")
    result: dict[str, dict[str, dict[str, float]]] = json.loads(answer.body)["Result"]
    return result
