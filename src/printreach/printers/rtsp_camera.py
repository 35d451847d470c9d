"""A camera with RTSP or RTSPS: the program ffmpeg turns its video into JPEG pictures.

ffmpeg is told the camera's address on its standard input, as a list of one entry, because the
address holds the password, and arguments of a program can be read by every user of the machine.
"""

import asyncio
import shutil
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from urllib.parse import quote, urlsplit

from printreach.contract.commands import CommandStatus
from printreach.contract.status import WebcamEntry
from printreach.languages import N_, in_english

from .mjpeg import BadStream, MjpegParser
from .port import PrinterRefused, no_picture

PROGRAM = "ffmpeg"
FRAMES_A_SECOND = 5
"""Turning H.264 into JPEG costs a Raspberry Pi a good part of a core; more would cost all of it."""
SILENCE_S = 30.0
READ_BYTES = 64 * 1024
MAX_COMPLAINT_BYTES = 8 * 1024

_BOUNDARY = b"--ffmpeg"
_ARGUMENTS = (
    *("-hide_banner", "-loglevel", "error", "-nostdin"),
    *("-fflags", "nobuffer", "-flags", "low_delay"),
    *("-protocol_whitelist", "pipe,rtsp,rtsps,rtp,srtp,tls,tcp,udp,crypto"),
    *("-f", "concat", "-safe", "0", "-i", "pipe:0"),
    *("-an", "-vf", f"fps={FRAMES_A_SECOND}", "-c:v", "mjpeg", "-q:v", "6"),
    *("-f", "mpjpeg", "pipe:1"),
)


class RtspCamera:
    """printers.port.Camera. url: without user info."""

    def __init__(
        self, entry: WebcamEntry, url: str, *, user: str | None = None, password: str | None = None
    ) -> None:
        self.entry = entry
        self._url = url
        self._user_info = ""
        if user is not None:
            self._user_info = f"{quote(user, safe='')}:{quote(password or '', safe='')}@"
        self.source: Hashable = (self.entry, self._url, self._user_info)

    async def snapshot(self) -> bytes | None:
        return None

    async def frames(self) -> AsyncIterator[bytes]:
        async with self._running() as process:
            parser = MjpegParser(_BOUNDARY)
            assert process.stdout is not None  # it is a pipe
            try:
                while data := await _read(process.stdout):
                    for frame in parser.feed(data):
                        yield frame
            except BadStream as exc:
                raise no_picture(str(exc)) from exc
            raise await _complaint(process)

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[Process]:
        program = shutil.which(PROGRAM)
        if program is None:
            sentence = in_english(
                "This camera needs the program %(program)s, which the agent's machine lacks.",
                program=PROGRAM,
            )
            raise PrinterRefused(CommandStatus.NOT_SUPPORTED, sentence)
        try:
            process = await asyncio.create_subprocess_exec(
                program, *_ARGUMENTS, stdin=PIPE, stdout=PIPE, stderr=PIPE, limit=READ_BYTES
            )
        except OSError as exc:
            raise no_picture(
                in_english(
                    "%(program)s can't be started, %(strerror)s",
                    program=PROGRAM,
                    strerror=exc.strerror,
                )
            ) from exc
        try:
            assert process.stdin is not None  # it is a pipe
            process.stdin.write(self._script())
            process.stdin.close()
            yield process
        finally:
            await _end(process)

    def _script(self) -> bytes:
        parts = urlsplit(self._url)
        url = parts._replace(netloc=self._user_info + parts.netloc).geturl()
        quoted = url.replace("'", "'\\''")
        # RTSPS is TCP by itself; UDP may find no way back to the agent. Needs ffmpeg 5.
        option = "option rtsp_transport tcp\n" if parts.scheme == "rtsp" else ""
        return f"ffconcat version 1.0\nfile '{quoted}'\n{option}".encode()


async def _read(stdout: asyncio.StreamReader) -> bytes:
    try:
        async with asyncio.timeout(SILENCE_S):
            return await stdout.read(READ_BYTES)
    except TimeoutError:
        raise no_picture(
            in_english("nothing came for %(seconds)s s", seconds=f"{SILENCE_S:.0f}")
        ) from None


async def _complaint(process: Process) -> PrinterRefused:
    """Return a refusal by ffmpeg's last words.

    Its lines hold the address, so only known words are used.
    """
    assert process.stderr is not None  # it is a pipe
    text = (await process.stderr.read(MAX_COMPLAINT_BYTES)).decode(errors="replace")
    if "401" in text or "Unauthorized" in text:
        sentence = N_("The camera refuses the password.")
        return PrinterRefused(CommandStatus.NOT_AUTHORIZED, sentence)
    for words in ("Connection refused", "timed out", "No route to host", "404 Not Found"):
        if words.lower() in text.lower():
            return no_picture(words.lower())
    return no_picture(N_("its video ended"))


async def _end(process: Process) -> None:
    """Kill the process; it has nothing to clean up."""
    if process.returncode is None:
        try:
            process.kill()
        except ProcessLookupError:
            pass  # it ended by itself
    await process.wait()
