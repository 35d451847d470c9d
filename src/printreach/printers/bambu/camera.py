"""The cameras of Bambu printers: the camera port, with one JPEG after another in TLS, or RTSPS.

RTSP is read by the program ffmpeg, which turns the video into JPEG pictures. It is told the
camera's address on its standard input, as a list of one entry, because the address holds the
password, and arguments of a program can be read by every user of the machine.
"""

import asyncio
import shutil
import struct
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from urllib.parse import quote, urlsplit

from printreach.contract.commands import CommandStatus
from printreach.contract.sizes import MAX_PICTURE_BYTES
from printreach.contract.status import WebcamEntry
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.connecting import unverified_tls
from printreach.printers.mjpeg import BadStream, MjpegParser
from printreach.printers.port import Camera, PrinterRefused, no_picture
from printreach.printers.setup import PrinterSetup, authority

from .api import CONNECT_S, USER
from .known_state import KnownState

SILENCE_S = 30.0
READ_BYTES = 64 * 1024

_HEAD = struct.Struct("<I12x")
_HELLO = struct.Struct("<IIII32s32s")
_JPEG_BEGIN, _JPEG_END = b"\xff\xd8", b"\xff\xd9"
USUAL_PORT, USUAL_RTSPS_PORT = 6000, 322
_OFF = "disable"

PROGRAM = "ffmpeg"
FRAMES_A_SECOND = 5
"""Turning H.264 into JPEG costs a Raspberry Pi a good part of a core; more would cost all of it."""
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


class BadFrame(ValueError):
    """The data is no picture; the message ends a sentence."""


def hello(user: str, access_code: str) -> bytes:
    """Return the request for pictures: 80 bytes."""
    return _HELLO.pack(0x40, 0x3000, 0, 0, user.encode()[:32], access_code.encode()[:32])


class FrameParser:
    """Parses the stream: a head of 16 bytes with the length, then a JPEG file. Pure."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Return the pictures that are whole now. Raises BadFrame."""
        self._buffer += data
        frames = []
        while len(self._buffer) >= _HEAD.size:
            (length,) = _HEAD.unpack_from(self._buffer)
            if length > MAX_PICTURE_BYTES:
                raise BadFrame("a picture is larger than 8 MiB")
            end = _HEAD.size + length
            if len(self._buffer) < end:
                break
            frame = bytes(self._buffer[_HEAD.size : end])
            del self._buffer[:end]
            if not (frame.startswith(_JPEG_BEGIN) and frame.rstrip(b"\0").endswith(_JPEG_END)):
                raise BadFrame("what it sends is no JPEG")
            frames.append(frame)
        return frames


class PortCamera:
    """printers.port.Camera."""

    def __init__(self, host: str, port: int, user: str, access_code: str) -> None:
        self.entry = WebcamEntry(name="Camera")
        self._host = host
        self._port = port
        self._hello = hello(user, access_code)
        self.source: Hashable = (self._host, self._port, self._hello)

    async def snapshot(self) -> bytes | None:
        return None

    async def frames(self) -> AsyncIterator[bytes]:
        reader, writer = await self._open()
        has_begun = False
        parser = FrameParser()
        try:
            while data := await _read(reader):
                for frame in parser.feed(data):
                    has_begun = True
                    yield frame
        except BadFrame as exc:
            raise no_picture(str(exc)) from exc
        finally:
            writer.close()
        if not has_begun:
            sentence = N_("The printer's camera refuses the access code, or is turned off.")
            raise PrinterRefused(CommandStatus.NOT_AUTHORIZED, sentence)
        raise no_picture(N_("it ended its stream"))

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            async with asyncio.timeout(CONNECT_S):
                reader, writer = await asyncio.open_connection(
                    self._host, self._port, ssl=unverified_tls(), limit=READ_BYTES
                )
        except TimeoutError:
            raise no_picture(
                in_english("no answer within %(seconds)s s", seconds=f"{CONNECT_S:.0f}")
            ) from None
        except OSError as exc:
            raise no_picture(exc.strerror or str(exc)) from exc
        writer.write(self._hello)
        return reader, writer


async def _read(reader: asyncio.StreamReader) -> bytes:
    try:
        async with asyncio.timeout(SILENCE_S):
            return await reader.read(READ_BYTES)
    except TimeoutError:
        raise no_picture(
            in_english("nothing came for %(seconds)s s", seconds=f"{SILENCE_S:.0f}")
        ) from None
    except OSError as exc:
        raise no_picture(exc.strerror or str(exc)) from exc


def cameras_of(known: KnownState, setup: PrinterSetup) -> list[Camera]:
    """RTSPS where the printer names an address for it, else the camera port; one or none.

    An address that is "disable" or empty is of a printer whose owner has turned its stream off: its
    camera is listed as disabled.
    """
    code = setup.access_code
    if code is None or not known.is_enough:
        return []
    ipcam = loose.obj(known.report, "ipcam")
    if "rtsp_url" not in ipcam:
        return [PortCamera(setup.host, setup.ports.get("camera", USUAL_PORT), USER, code)]
    reported = loose.text(ipcam, "rtsp_url")
    is_on = reported is not None and reported != _OFF
    entry = WebcamEntry(name="Camera", enabled=is_on)
    url = _at(reported if is_on and reported is not None else "", setup.host)
    return [RtspCamera(entry, url, user=USER, password=code)]


def _at(reported: str, host: str) -> str:
    """Return the address, at the host where the agent finds the printer; without user info."""
    try:
        parts = urlsplit(reported)
        port, path = parts.port or USUAL_RTSPS_PORT, parts.path
    except ValueError:
        port, path = USUAL_RTSPS_PORT, ""
    return f"rtsps://{authority(host, port)}{path or '/streaming/live/1'}"


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
