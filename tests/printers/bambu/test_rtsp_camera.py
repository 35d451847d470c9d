"""A camera that speaks RTSP, seen through the real ffmpeg."""

import asyncio
import io
import secrets
import ssl
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import cast

import pytest
from PIL import Image

from printreach.contract.commands import CommandStatus
from printreach.contract.status import WebcamEntry
from printreach.printers.bambu.camera import RtspCamera
from printreach.printers.port import PrinterRefused
from tests.fakes.rtsp import HEIGHT, WIDTH, rtsp_camera
from tests.requirements_of_tests import need
from tests.rigs.certificates import self_signed
from tests.rigs.peers import system_program
from tests.rigs.waiting import free_port

USER, PASSWORD = "bblp", "it's:a/secret"
TEST_S = 110.0


@pytest.fixture
def ffmpeg() -> Path:
    return system_program("ffmpeg", "ffmpeg")


def a_camera(scheme: str, port: int, password: str = PASSWORD) -> RtspCamera:
    url = f"{scheme}://127.0.0.1:{port}/streaming/live/1"
    return RtspCamera(WebcamEntry(name="Camera"), url, user=USER, password=password)


async def pictures(camera: RtspCamera, count: int) -> list[bytes]:
    frames = cast("AsyncGenerator[bytes, None]", camera.frames())
    found = []
    try:
        async for frame in frames:
            found.append(frame)
            if len(found) == count:
                break
    finally:
        await frames.aclose()
    return found


def tls(folder: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*self_signed(folder, "01P00A000000001"))
    return context


@pytest.mark.peer
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["rtsp", "rtsps"])
def test_its_video_comes_as_jpeg_pictures(scheme: str, ffmpeg: Path, tmp_path: Path) -> None:
    async def body() -> None:
        context = tls(tmp_path) if scheme == "rtsps" else None
        async with asyncio.timeout(TEST_S), rtsp_camera(USER, PASSWORD, context) as fake:
            found = await pictures(a_camera(scheme, fake.port), 2)

        for picture in found:
            assert Image.open(io.BytesIO(picture)).size == (WIDTH, HEIGHT)

    asyncio.run(body())


@pytest.mark.peer
@pytest.mark.slow
def test_the_password_stands_in_no_argument_of_a_program(ffmpeg: Path) -> None:
    need("/proc", Path("/proc/self/cmdline").exists(), "run the tests on Linux")
    unlike_any = secrets.token_hex()  # what other programs of the machine are told is theirs

    async def body() -> None:
        async with asyncio.timeout(TEST_S), rtsp_camera(USER, unlike_any) as fake:
            frames = a_camera("rtsp", fake.port, unlike_any).frames()
            await anext(frames)
            lines = await asyncio.to_thread(_command_lines)
            await cast("AsyncGenerator[bytes, None]", frames).aclose()

        assert any(b"mpjpeg" in line for line in lines)
        assert not any(unlike_any.encode() in line for line in lines)

    asyncio.run(body())


@pytest.mark.peer
@pytest.mark.slow
def test_a_wrong_password_is_told_as_such(ffmpeg: Path) -> None:
    async def body() -> None:
        async with asyncio.timeout(TEST_S), rtsp_camera(USER, PASSWORD) as fake:
            with pytest.raises(PrinterRefused) as refused:
                await pictures(a_camera("rtsp", fake.port, "wrong"), 1)

        assert refused.value.status == CommandStatus.NOT_AUTHORIZED
        assert "wrong" not in refused.value.sentence

    asyncio.run(body())


@pytest.mark.peer
@pytest.mark.slow
def test_a_camera_that_is_not_there_is_not_connected(ffmpeg: Path) -> None:
    async def body() -> None:
        async with asyncio.timeout(TEST_S):
            with pytest.raises(PrinterRefused) as refused:
                await pictures(a_camera("rtsp", free_port()), 1)

        assert refused.value.status == CommandStatus.NOT_CONNECTED
        assert "connection refused" in refused.value.sentence

    asyncio.run(body())


def test_without_ffmpeg_the_program_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(PrinterRefused) as refused:
        asyncio.run(pictures(a_camera("rtsp", 1), 1))

    assert refused.value.status == CommandStatus.NOT_SUPPORTED
    assert "ffmpeg" in refused.value.sentence


def _command_lines() -> list[bytes]:
    return [_read(path) for path in Path("/proc").glob("[0-9]*/cmdline")]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""  # it has ended
