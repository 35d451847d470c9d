"""Cameras with URLs, asked over real sockets."""

import asyncio
import base64
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing

import pytest

from printreach.contract.commands import CommandStatus
from printreach.contract.status import WebcamEntry
from printreach.http1.messages import Answer, Call
from printreach.printers import http_camera as module
from printreach.printers.camera_addresses import CameraHosts
from printreach.printers.http_camera import HttpCamera
from printreach.printers.port import PrinterRefused
from tests.http1.serving import run, serving
from tests.printers.film import Film, picture
from tests.rigs.waiting import free_port

ENTRY = WebcamEntry(name="Nozzle", flip_h=True)


def camera_at(
    port: int,
    *,
    snapshot: str | None = "/snapshot",
    stream: str | None = "/stream",
    who: str = "",
    headers: list[tuple[bytes, bytes]] | None = None,
) -> HttpCamera:
    base = f"http://{who}127.0.0.1:{port}"
    return HttpCamera(
        ENTRY,
        snapshot_url=None if snapshot is None else base + snapshot,
        stream_url=None if stream is None else base + stream,
        hosts=CameraHosts("127.0.0.1"),
        headers=headers,
    )


async def seen(camera: HttpCamera, at_most: int) -> list[bytes]:
    frames = []
    async with aclosing(_closable(camera)) as all_frames:
        async for frame in all_frames:
            frames.append(frame)
            if len(frames) == at_most:
                break
    return frames


async def _closable(camera: HttpCamera) -> AsyncGenerator[bytes, None]:
    async for frame in camera.frames():
        yield frame


def refused(work: Coroutine[object, object, object]) -> PrinterRefused:
    """Return the result of asking a camera."""
    found: list[PrinterRefused] = []

    async def body() -> None:
        with pytest.raises(PrinterRefused) as caught:
            await work
        found.append(caught.value)

    run(body())
    return found[0]


def test_a_snapshot_is_one_picture() -> None:
    async def body() -> None:
        async with serving(Film().answer) as server:
            assert await camera_at(server.port).snapshot() == picture(0)
            assert await camera_at(server.port, snapshot=None).snapshot() is None

    run(body())


def test_a_stream_is_one_picture_after_another() -> None:
    async def body() -> None:
        async with serving(Film().answer) as server:
            assert await seen(camera_at(server.port), 3) == [picture(n) for n in (1, 2, 3)]

    run(body())


def test_a_camera_without_a_stream_is_asked_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "POLL_S", 0.01)
    film = Film()

    async def body() -> None:
        async with serving(film.answer) as server:
            assert await seen(camera_at(server.port, stream=None), 3) == [picture(0)] * 3

    run(body())
    assert film.snapshots == 3


def test_a_stream_for_other_players_gives_way_to_snapshots(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "POLL_S", 0.01)
    film = Film()

    async def with_page(call: Call) -> Answer:
        if call.path == b"/webrtc":
            return Answer(headers=[(b"Content-Type", b"text/html")], body=b"<video>")
        return await film.answer(call)

    async def body() -> None:
        async with serving(with_page) as server:
            assert await seen(camera_at(server.port, stream="/webrtc"), 2) == [picture(0)] * 2
            with pytest.raises(PrinterRefused, match="no stream of pictures"):
                await seen(camera_at(server.port, stream="/webrtc", snapshot=None), 1)

    run(body())


def test_what_is_listed_has_no_credentials_and_what_is_sent_has() -> None:
    snapshots: list[bytes | None] = []

    async def guarded(call: Call) -> Answer:
        snapshots.append(call.header(b"authorization"))
        return Answer(headers=[(b"Content-Type", b"image/jpeg")], body=picture(1))

    async def body() -> None:
        async with serving(guarded) as server:
            camera = camera_at(server.port, who="us%40r:p%3Ass@")
            await camera.snapshot()

            assert camera.entry.snapshot_url == f"http://127.0.0.1:{server.port}/snapshot"
            assert camera.entry.stream_url == f"http://127.0.0.1:{server.port}/stream"
            assert (camera.entry.name, camera.entry.flip_h) == ("Nozzle", True)

    run(body())
    assert snapshots == [b"Basic " + base64.b64encode(b"us@r:p:ss")]


def test_headers_given_for_a_camera_are_sent() -> None:
    async def guarded(call: Call) -> Answer:
        is_welcome = call.header(b"x-api-key") == b"key"
        return Answer(status=200 if is_welcome else 403, body=picture(1))

    async def body() -> None:
        async with serving(guarded) as server:
            camera = camera_at(server.port, headers=[(b"X-Api-Key", b"key")])
            assert await camera.snapshot() == picture(1)

    run(body())


def test_blanks_and_other_alphabets_in_an_address_are_encoded() -> None:
    targets: list[bytes] = []

    async def tell(call: Call) -> Answer:
        targets.append(call.head.target)
        return Answer(body=picture(1))

    async def body() -> None:
        async with serving(tell) as server:
            await camera_at(server.port, snapshot="/my cam%20ä?name=ö k&x=1%2F").snapshot()

    run(body())
    assert targets == [b"/my%20cam%20%C3%A4?name=%C3%B6%20k&x=1%2F"]


@pytest.mark.parametrize("status", [401, 404, 503])
def test_a_refusal_is_told_with_its_number(status: int) -> None:
    async def refuse(_call: Call) -> Answer:
        return Answer(status=status, body=b"no")

    async def ask(what: str) -> None:
        async with serving(refuse) as server:
            camera = camera_at(server.port)
            await (camera.snapshot() if what == "snapshot" else seen(camera, 1))

    for what in ("snapshot", "stream"):
        problem = refused(ask(what))
        assert problem.status == CommandStatus.NOT_CONNECTED
        assert str(status) in problem.sentence


def test_a_snapshot_that_is_no_jpeg_is_none() -> None:
    async def page(_call: Call) -> Answer:
        return Answer(body=b"<html>")

    async def ask() -> None:
        async with serving(page) as server:
            await camera_at(server.port).snapshot()

    assert "no JPEG" in refused(ask()).sentence


def test_a_snapshot_has_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PICTURE_BYTES", 1000)

    async def large(_call: Call) -> Answer:
        return Answer(body=b"\xff\xd8" + b"x" * 2000)

    async def ask() -> None:
        async with serving(large) as server:
            await camera_at(server.port).snapshot()

    assert "over 1000 bytes" in refused(ask()).sentence


@pytest.mark.parametrize("url", ["http://cam:port/", "http://[::1/", "http://a..b/", "http:///x"])
def test_an_address_that_is_none_is_a_refusal(url: str) -> None:
    async def ask() -> None:
        await HttpCamera(ENTRY, snapshot_url=url, stream_url=url, hosts=None).snapshot()

    assert refused(ask()).status == CommandStatus.NOT_CONNECTED


def test_a_camera_that_is_not_there_is_told_in_the_systems_words() -> None:
    async def ask() -> None:
        await seen(camera_at(free_port()), 1)

    assert "Connection refused" in refused(ask()).sentence


def test_leaving_a_stream_ends_it_at_the_camera() -> None:
    has_begun, is_over = asyncio.Event(), asyncio.Event()

    async def stream(_call: Call) -> Answer:
        async def parts() -> AsyncGenerator[bytes, None]:
            try:
                while True:
                    data = picture(1)
                    yield b"--b\r\nContent-Length: %d\r\n\r\n%b\r\n" % (len(data), data)
                    has_begun.set()
                    await asyncio.sleep(0.01)
            finally:
                is_over.set()

        kind = b"multipart/x-mixed-replace; boundary=b"
        return Answer(headers=[(b"Content-Type", kind)], body=parts())

    async def body() -> None:
        async with serving(stream) as server:
            watching = asyncio.create_task(seen(camera_at(server.port), 10_000))
            await has_begun.wait()
            watching.cancel()
            await is_over.wait()

    run(body())
