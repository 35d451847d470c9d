"""Videos made by the program ffmpeg.

The pictures come from printers, so they may be anything. ffmpeg is told to read JPEG alone, and to
open nothing but its input and its output: https://ffmpeg.org/ffmpeg-protocols.html.
"""

import asyncio
import os
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from printreach.ports.snapshots import VideoFailed, VideoTooSlow
from printreach.rules.printers.cameras import Pose
from printreach.rules.prints.timelapse import MAX_PIXELS, MAX_VIDEO_BYTES

PROGRAM: Final = "ffmpeg"
WITHIN_S: Final = 300.0
"""A Raspberry Pi takes half a minute for 240 pictures of 1280 by 720."""
_NICE: Final = 15
_MAX_COMPLAINT_BYTES: Final = 8 * 1024
# The sides are even, as the codec demands, and none is longer than 1280.
_SCALE: Final = (
    "scale=w='min(1280,iw)':h='min(1280,ih)':force_original_aspect_ratio=decrease"
    ":force_divisible_by=2:out_range=tv,format=yuv420p"
)

_TURNS: Final[Mapping[int, Sequence[str]]] = {
    0: (),
    90: ("transpose=clock",),
    180: ("hflip", "vflip"),
    270: ("transpose=cclock",),
}


class FfmpegVideos:
    """ports.VideoMaker. program: the path of ffmpeg."""

    def __init__(self, program: str, within_s: float = WITHIN_S) -> None:
        self._program = program
        self._within_s = within_s

    async def make(self, pictures: AsyncIterator[bytes], a_second: int, pose: Pose) -> bytes:
        with tempfile.TemporaryDirectory(prefix="printreach-") as folder:
            path = Path(folder) / "video.mp4"
            process = await self._start(path, a_second, pose)
            try:
                async with asyncio.timeout(self._within_s):
                    complaint = await _fed(process, pictures)
            except TimeoutError:
                raise VideoTooSlow(f"it took longer than {self._within_s:.0f} s") from None
            finally:
                await _end(process)
            if process.returncode != 0:
                raise VideoFailed(complaint)
            return await asyncio.to_thread(_read, path)

    async def _start(self, path: Path, a_second: int, pose: Pose) -> Process:
        arguments = (
            *("-hide_banner", "-loglevel", "error", "-nostdin", "-y", "-threads", "1"),
            *("-protocol_whitelist", "pipe", "-max_pixels", str(MAX_PIXELS)),
            *("-f", "image2pipe", "-c:v", "mjpeg", "-framerate", str(a_second), "-i", "pipe:0"),
            *("-an", "-vf", _filters(pose), "-c:v", "libx264", "-preset", "veryfast", "-crf", "26"),
            *("-threads", "1", "-movflags", "+faststart", "-fs", str(MAX_VIDEO_BYTES)),
            str(path),
        )
        try:
            return await asyncio.create_subprocess_exec(
                *("nice", "-n", str(_NICE), self._program, *arguments),
                stdin=PIPE,
                stdout=DEVNULL,
                stderr=PIPE,
                limit=_MAX_COMPLAINT_BYTES,
                env={"PATH": os.defpath},
            )
        except OSError as error:
            raise VideoFailed(f"{PROGRAM} can't be started: {error.strerror}") from error


def _filters(pose: Pose) -> str:
    flips = ["hflip"] * pose.flip_h + ["vflip"] * pose.flip_v
    return ",".join([*flips, *_TURNS[pose.rotation], _SCALE])


async def _fed(process: Process, pictures: AsyncIterator[bytes]) -> str:
    """Write all pictures and wait for the end; return what ffmpeg complained of."""
    assert process.stdin is not None  # it is a pipe
    complaining = asyncio.create_task(_complaint(process))
    try:
        try:
            async for picture in pictures:
                process.stdin.write(picture)
                await process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has ended, and has said why
        process.stdin.close()
        complaint = await complaining
        await process.wait()
        return complaint
    finally:
        complaining.cancel()


async def _complaint(process: Process) -> str:
    """Read to the end, so that ffmpeg never waits; return the first line."""
    assert process.stderr is not None  # it is a pipe
    first = b""
    while some := await process.stderr.read(_MAX_COMPLAINT_BYTES):
        first = (first + some)[:_MAX_COMPLAINT_BYTES]
    return first.decode(errors="replace").partition("\n")[0].strip() or "it said nothing"


async def _end(process: Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):  # it ended by itself
            process.kill()
    await process.wait()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise VideoFailed(f"its file can't be read: {error.strerror}") from error
