"""The commands about webcams: which are listed, in which order, and which give pictures."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps

from printreach.contract.cameras import CameraChoice, format_choices_field
from printreach.contract.commands import CAMERAS_FIELD
from printreach.contract.status import WebcamEntry
from printreach.printers.http_camera import HttpCamera
from tests.fakes.printer import ScriptedPrinter
from tests.printers.asking import CommandCalls, command_calls
from tests.printers.film import film_at
from tests.rigs.waiting import free_port

Body = Callable[[ScriptedPrinter, CommandCalls], Coroutine[object, object, None]]


def commands(test: Body) -> Callable[[], None]:
    @wraps(test)
    def run() -> None:
        async def body() -> None:
            printer = ScriptedPrinter()
            async with asyncio.timeout(20), command_calls(printer) as calls:
                await test(printer, calls)

        asyncio.run(body())

    del run.__wrapped__  # its arguments are no fixtures
    return run


def camera(name: str, port: int, *, enabled: bool = True, query: str = "") -> HttpCamera:
    return HttpCamera(
        WebcamEntry(name=name, enabled=enabled),
        snapshot_url=f"http://127.0.0.1:{port}/snapshot{query}",
        stream_url=None,
        hosts=None,
    )


@commands
async def test_a_disabled_camera_is_listed_behind_those_that_are_on(
    printer: ScriptedPrinter, calls: CommandCalls
) -> None:
    printer.webcams = [camera("off", 1, enabled=False), camera("on", 1)]
    listed = (await calls.get("webcam/list")).result

    assert listed["DefaultIndex"] == 0
    assert [(one["Name"], one["Enabled"]) for one in listed["Webcams"]] == [
        ("on", True),
        ("off", False),
    ]
    assert (await calls.get("status")).result["ListWebcams"] == listed


@commands
async def test_cameras_are_listed_as_the_printers_owner_chose(
    printer: ScriptedPrinter, calls: CommandCalls
) -> None:
    printer.webcams = [camera("Over", 1), camera("Nozzle", 1)]
    chosen = CameraChoice(camera="Nozzle", name="At the nozzle", flip_v=True, rotation=270)
    headers = [(CAMERAS_FIELD, format_choices_field([chosen]))]

    listed = (await calls.ask(b"GET", "webcam/list", headers=headers).reply()).result
    status = (await calls.ask(b"GET", "status", headers=headers).reply()).result

    over, nozzle = listed["Webcams"]
    assert "Reported" not in over
    assert (nozzle["Name"], nozzle["FlipV"], nozzle["Rotation"]) == ("At the nozzle", True, 270)
    assert nozzle["Reported"] == {"Name": "Nozzle", "FlipH": False, "FlipV": False, "Rotation": 0}
    assert status["ListWebcams"] == listed
    assert (await calls.get("webcam/list")).result["Webcams"][1]["Name"] == "Nozzle"


@commands
async def test_a_disabled_camera_is_never_asked_for_a_picture(
    printer: ScriptedPrinter, calls: CommandCalls
) -> None:
    port = free_port()
    async with film_at(port) as film:
        printer.webcams = [camera("Bed", port, enabled=False)]
        for command in ("webcam/snapshot", "webcam/stream"):
            refused = await calls.get(command)

            assert (refused.http_status, refused.status) == (404, 404)
            assert refused.error == "The camera 'Bed' is switched off at the printer."
        assert (film.snapshots, film.streams) == (0, 0)


@commands
async def test_two_cameras_that_are_listed_alike_stay_two(
    printer: ScriptedPrinter, calls: CommandCalls
) -> None:
    first, second = free_port(), free_port()
    async with film_at(first) as one, film_at(second) as other:
        printer.webcams = [
            camera("Webcam", port, query=f"?token={port}") for port in (first, second)
        ]
        listed = (await calls.get("webcam/list")).result["Webcams"]
        for index in (0, 1):
            assert (await calls.get("webcam/snapshot", index=index)).http_status == 200

        assert listed[0] == listed[1]
        assert (one.snapshots, other.snapshots) == (1, 1)
