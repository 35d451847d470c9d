"""The cameras that are found, and the places where they are searched."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from printreach.contract.commands import CommandStatus
from printreach.http1.connection import ServerLimits
from printreach.http1.messages import Answer, Call
from printreach.http1.server import serve
from printreach.printers.camera_addresses import CameraHosts
from printreach.printers.loose import EMPTY, Json
from printreach.printers.moonraker.api import MoonrakerApi
from printreach.printers.moonraker.cameras import PROBE_AGAIN_S, CameraFinder
from printreach.printers.port import PrinterRefused
from printreach.printers.setup import PrinterSetup
from tests.printers.film import picture

RELATIVE = {
    "name": "Front",
    "enabled": True,
    "service": "webrtc-camerastreamer",
    "stream_url": "/webcam/webrtc",
    "snapshot_url": "/webcam/snapshot",
    "flip_horizontal": True,
    "rotation": 180,
}


class FakeApi:
    """Answers calls from a table; what is not in it is refused."""

    rpc = object()

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.calls: list[str] = []

    async def call(self, method: str, params: Json = EMPTY) -> object:
        name = "_".join([method.rpartition(".")[2], *map(str, params.values())])
        self.calls.append(name)
        if name not in self.answers:
            raise PrinterRefused(CommandStatus.EXECUTION_FAILED, "Method not found.")
        answer: object = self.answers[name]
        return answer


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def setup_at(port: int, clock: Clock, folder: Path) -> PrinterSetup:
    return PrinterSetup(
        host="127.0.0.1",
        port=port,
        tls=False,
        data_dir=folder,
        steady_time=clock,
        unix_time=clock,
        uniform=lambda least, _most: least,
        token_bytes=bytes,
        camera_hosts=CameraHosts("127.0.0.1"),
    )


def finder(api: FakeApi, setup: PrinterSetup) -> CameraFinder:
    return CameraFinder(setup, cast("MoonrakerApi", api))


def run(test: Awaitable[None]) -> None:
    async def with_deadline() -> None:
        async with asyncio.timeout(30):
            await test

    asyncio.run(with_deadline())


@asynccontextmanager
async def page_with_camera(asked: list[bytes], *, there: bool = True) -> AsyncIterator[int]:
    """A web page's port, with a camera at the usual place, or none."""

    async def answer(call: Call) -> Answer:
        asked.append(call.head.target)
        if call.path != b"/webcam/" or not there:
            return Answer(status=404)
        return Answer(headers=[(b"Content-Type", b"image/jpeg")], body=picture(1))

    server = await serve(answer, "127.0.0.1", 0, limits=ServerLimits())
    try:
        yield server.port
    finally:
        await server.close()


@pytest.mark.parametrize(
    ("port", "tls", "base"),
    [
        (7125, False, "http://127.0.0.1:80"),
        (7130, True, "http://127.0.0.1:80"),
        (80, False, "http://127.0.0.1:80"),
        (4409, False, "http://127.0.0.1:4409"),
        (443, True, "https://127.0.0.1:443"),
    ],
)
def test_a_relative_address_is_at_the_page_beside_moonraker(
    port: int, tls: bool, base: str, tmp_path: Path
) -> None:
    async def body() -> None:
        api = FakeApi(list={"webcams": [RELATIVE]})
        found = finder(api, replace(setup_at(port, Clock(), tmp_path), tls=tls))
        await found.look()
        (camera,) = await found.cameras()

        assert camera.entry.stream_url == f"{base}/webcam/stream"
        assert camera.entry.snapshot_url == f"{base}/webcam/snapshot"
        assert (camera.entry.flip_h, camera.entry.rotation) == (True, 180)

    run(body())


@pytest.mark.parametrize(
    "answers",
    [
        {"list": {"webcams": []}, "get_item_webcams": {"value": {"1": {"urlStream": "/a"}}}},
        {"get_item_webcams": {"value": {"1": {"urlStream": "/a"}}}},
        {"get_item_fluidd_cameras": {"value": {"cameras": [{"enabled": True, "url": "/a"}]}}},
    ],
)
def test_older_installations_keep_their_cameras_in_the_database(
    answers: dict[str, Any], tmp_path: Path
) -> None:
    async def body() -> None:
        found = finder(FakeApi(**answers), setup_at(80, Clock(), tmp_path))
        await found.look()

        assert [camera.entry.stream_url for camera in await found.cameras()] == [
            "http://127.0.0.1:80/a"
        ]

    run(body())


def test_a_camera_that_is_switched_off_is_listed_and_no_other_looked_for(
    tmp_path: Path,
) -> None:
    async def body() -> None:
        api = FakeApi(list={"webcams": [{**RELATIVE, "enabled": False}]})
        asked: list[bytes] = []
        async with page_with_camera(asked) as port:
            found = finder(api, setup_at(port, Clock(), tmp_path))
            await found.look()

            (camera,) = await found.cameras()
            assert not camera.entry.enabled
            assert (asked, api.calls) == ([], ["list"])

    run(body())


def test_a_camera_that_nobody_wrote_down_is_found_at_the_usual_place(tmp_path: Path) -> None:
    async def body() -> None:
        async with page_with_camera([]) as port:
            found = finder(FakeApi(), setup_at(port, Clock(), tmp_path))
            await found.look()
            (camera,) = await found.cameras()

            assert await camera.snapshot() == picture(1)
            assert camera.entry.stream_url == f"http://127.0.0.1:{port}/webcam/?action=stream"

    run(body())


def test_where_there_is_none_it_is_looked_for_now_and_then(tmp_path: Path) -> None:
    async def body() -> None:
        clock, asked = Clock(), list[bytes]()
        async with page_with_camera(asked, there=False) as port:
            found = finder(FakeApi(), setup_at(port, clock, tmp_path))
            await found.look()
            for _ in range(3):
                assert await found.cameras() == []
            assert len(asked) == 1
            clock.now = PROBE_AGAIN_S + 1
            assert await found.cameras() == []
            assert len(asked) == 2

    run(body())


def test_a_camera_that_was_found_stays(tmp_path: Path) -> None:
    async def body() -> None:
        clock, asked = Clock(), list[bytes]()
        async with page_with_camera(asked) as port:
            found = finder(FakeApi(), setup_at(port, clock, tmp_path))
            await found.look()
            first = await found.cameras()
        clock.now = PROBE_AGAIN_S + 1

        assert await found.cameras() == first != []

    run(body())


def test_cameras_are_waited_for_until_moonraker_was_asked(tmp_path: Path) -> None:
    async def body() -> None:
        found = finder(FakeApi(list={"webcams": [RELATIVE]}), setup_at(80, Clock(), tmp_path))
        waiting = asyncio.ensure_future(found.cameras())
        await asyncio.sleep(0.01)
        assert not waiting.done()
        await found.look()

        assert len(await waiting) == 1

    run(body())


def test_a_camera_that_an_app_put_elsewhere_on_the_network_is_listed_and_not_asked(
    tmp_path: Path,
) -> None:
    async def body() -> None:
        elsewhere = {**RELATIVE, "stream_url": "http://192.0.2.7/", "snapshot_url": ""}
        api = FakeApi(list={"webcams": [elsewhere]})
        found = finder(api, setup_at(7125, Clock(), tmp_path))
        await found.look()
        (camera,) = await found.cameras()

        with pytest.raises(PrinterRefused) as refused:
            await anext(aiter(camera.frames()))
        assert "--camera-host 192.0.2.7" in refused.value.sentence

    run(body())
