"""What the simulated printer's web server pushes: status and pictures."""

import asyncio
import json

import aiohttp
import pytest

from .rig import run, site, until

# Live.


def test_the_websocket_tells_the_status_at_once_and_when_it_changes() -> None:
    async def test() -> None:
        async with site() as printer, printer.http.ws_connect("/ws") as socket:
            assert (await socket.receive_json())["Status"]["State"] == "idle"
            await printer.order("light", On=False)
            assert (await socket.receive_json())["Status"]["LightOn"] is False

    run(test())


def test_the_websocket_takes_orders_and_answers_them() -> None:
    async def test() -> None:
        async with site() as printer, printer.http.ws_connect("/ws") as socket:
            await socket.receive_json()
            for said, reply in (
                ({"Order": "light", "Arguments": {"On": False}}, {"Done": "light"}),
                ({"Order": "print", "Arguments": {"Action": "pause"}}, None),
                ({"Order": "home"}, {"Done": "home"}),
                ({"Echo": ["ü", 1]}, {"Echo": ["ü", 1]}),
                ({"Echo": "\ud800"}, None),
                ({"Nonsense": 1}, None),
                ([], None),
            ):
                await socket.send_str(json.dumps(said))
                while "Status" in (message := await socket.receive_json()):
                    pass
                assert message == reply if reply else message["Error"].endswith(".")

    run(test())


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536, 3_000_000])
def test_the_websocket_says_binary_messages_back(size: int) -> None:
    async def test() -> None:
        async with (
            site() as printer,
            printer.http.ws_connect("/ws", max_msg_size=1 << 24) as socket,
        ):
            await socket.receive_json()
            await socket.send_bytes(b"x" * size)

            assert await socket.receive_bytes() == b"x" * size

    run(test())


def test_the_websocket_says_goodbye() -> None:
    async def test() -> None:
        async with site() as printer, printer.http.ws_connect("/ws") as socket:
            await socket.receive_json()
            await socket.close(code=4001)

            assert socket.close_code == 4001

    run(test())


def test_a_text_message_that_is_no_text_closes_the_websocket() -> None:
    async def test() -> None:
        async with site() as printer, printer.http.ws_connect("/ws") as socket:
            await socket.receive_json()
            await socket.send_frame(b"\xff\xfe", aiohttp.WSMsgType.TEXT)
            message = await socket.receive()

            assert message.type is aiohttp.WSMsgType.CLOSE
            assert message.data == 1007

    run(test())


def test_events_are_told_as_they_happen() -> None:
    async def test() -> None:
        async with site() as printer, printer.http.get("/events") as answer:
            assert answer.content_type == "text/event-stream"
            assert await answer.content.readline() == b"event: status\n"
            assert b'"LightOn":true' in await answer.content.readline()
            await answer.content.readline()
            await printer.order("light", On=False)
            await answer.content.readline()
            assert b'"LightOn":false' in await answer.content.readline()

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
