"""The pushes of the simulated printer's web server: status and pictures."""

import asyncio

import aiohttp
import pytest

from printreach.printers import websocket
from printreach.printers.simulated import site as site_module

from .rig import run, site, until

# Live.


def test_the_websocket_tells_the_status_at_once_and_when_it_changes() -> None:
    async def test() -> None:
        async with site() as printer, printer.http.ws_connect("/ws") as socket:
            assert (await socket.receive_json())["Status"]["State"] == "idle"
            await printer.order("light", On=False)
            assert (await socket.receive_json())["Status"]["LightOn"] is False

    run(test())


def test_the_websocket_says_goodbye() -> None:
    async def test() -> None:
        async with site() as printer, printer.http.ws_connect("/ws") as socket:
            await socket.receive_json()
            await socket.close(code=4001)

            assert socket.close_code == 4001

    run(test())


def test_a_client_that_answers_no_ping_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket, "PING_AFTER_S", 0.05)
    monkeypatch.setattr(site_module, "CLIENT_SILENCE_S", 0.1)

    async def test() -> None:
        async with site() as printer, printer.http.ws_connect("/ws", autoping=False) as socket:
            await socket.receive_json()
            assert (await socket.receive()).type is aiohttp.WSMsgType.PING
            assert (await socket.receive()).type is aiohttp.WSMsgType.CLOSE

    run(test())


def test_whatever_a_page_says_over_the_websocket_is_ignored() -> None:
    async def test() -> None:
        async with site() as printer, printer.http.ws_connect("/ws") as socket:
            await socket.receive_json()
            await socket.send_str('{"Order": "light", "Arguments": {"On": false}}')
            await socket.send_frame(b"\xff\xfe", aiohttp.WSMsgType.TEXT)
            await socket.send_bytes(b"x" * 3_000_000)
            await socket.ping()
            await printer.order("temperature", BedC=40)

            status = (await socket.receive_json())["Status"]
            assert (status["LightOn"], status["Temps"]["BedTarget"]) == (True, 40)

    run(test())


def test_changes_are_told_at_most_four_times_a_second() -> None:
    async def test() -> None:
        loop = asyncio.get_running_loop()
        async with site(speed=1.0) as printer:
            began_s = loop.time()
            async with printer.http.ws_connect("/ws") as socket:
                await printer.order("temperature", ToolC=200)
                for _ in range(4):
                    await socket.receive_json()

            assert loop.time() - began_s > 0.7

    run(test())


# The webcam.


def test_a_snapshot_is_a_jpeg() -> None:
    async def test() -> None:
        async with (
            site() as printer,
            printer.http.get("/webcam/?action=snapshot") as answer,
        ):
            data = await answer.read()
            assert answer.content_type == "image/jpeg"
            assert data.startswith(b"\xff\xd8")
            assert data.endswith(b"\xff\xd9")

    run(test())


def test_a_stream_is_jpegs_with_their_lengths() -> None:
    async def test() -> None:
        async with (
            site() as printer,
            printer.http.get("/webcam/?action=stream") as answer,
        ):
            assert answer.headers["Content-Type"] == "multipart/x-mixed-replace; boundary=frame"
            for on in (False, True):
                assert await answer.content.readline() == b"--frame\r\n"
                assert await answer.content.readline() == b"Content-Type: image/jpeg\r\n"
                length = int((await answer.content.readline()).split(b": ")[1])
                assert await answer.content.readline() == b"\r\n"
                data = await answer.content.readexactly(length)
                assert data.startswith(b"\xff\xd8")
                assert data.endswith(b"\xff\xd9")
                assert await answer.content.readline() == b"\r\n"
                await printer.order("light", On=on)

    run(test())


def test_nothing_is_filmed_once_nobody_watches() -> None:
    async def test() -> None:
        async with site() as printer:
            camera = printer.running.camera
            async with (
                printer.http.get("/webcam/?action=stream") as first,
                printer.http.get("/webcam/?action=stream") as second,
            ):
                await first.content.readline()
                await second.content.readline()
                assert camera.watchers == 2
                assert camera.is_filming
                first.close()
                second.close()
                await until(lambda: camera.watchers == 0)
            await until(lambda: not camera.is_filming)

    run(test())
