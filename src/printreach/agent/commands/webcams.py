"""The printer's cameras, and the commands about them: list, snapshot, stream.

A camera has one upstream connection, whatever the number of viewers and snapshots.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from printreach.agent.commands import answers
from printreach.agent.commands.request import CommandRequest
from printreach.contract.cameras import parse_choices_field
from printreach.contract.commands import CAMERAS_FIELD, CommandStatus
from printreach.contract.sizes import cut_to_limits
from printreach.contract.status import WebcamList
from printreach.languages import N_, in_english
from printreach.printers.port import Camera, Printer, PrinterRefused
from printreach.rules.printers.cameras import with_choices
from printreach.wire.heads import encode_response, get

log = logging.getLogger(__name__)

LIST_TTL_S = 30.0
LIST_TIMEOUT_S = 5.0
LIST_RETRY_S = 5.0
"""Seconds to wait after the printer could not list its cameras."""
FIRST_FRAME_TIMEOUT_S = 15.0
FRAME_TIMEOUT_S = 30.0
SNAPSHOT_TIMEOUT_S = 10.0
LINGER_S = 5.0
"""Seconds that an upstream outlives its last viewer: pages fetch pictures one by one."""


class CameraHub:
    """The cameras of one printer. extra: cameras given on the command line, listed last."""

    def __init__(
        self, printer: Printer, extra: Sequence[Camera], steady_time: Callable[[], float]
    ) -> None:
        self._printer = printer
        self._extra = list(extra)
        self._now = steady_time
        self._known: list[Camera] = []
        self._good_until: float | None = None
        self._looking: asyncio.Task[None] | None = None
        self._shared: dict[int, SharedCamera] = {}

    async def listed(self) -> WebcamList:
        return WebcamList(webcams=[camera.entry for camera in await self._cameras()])

    async def snapshot(self, index: int) -> bytes:
        """Return one JPEG picture. Raises PrinterRefused."""
        camera = await self._camera(index)
        shared = self._shared.get(id(camera))
        if shared is None or shared.latest is None:
            picture = await self._own_snapshot(camera)
            if picture is not None:
                return picture
        async with self._stream(camera) as frames:
            async for frame in frames:
                return frame
        raise _no_picture()

    @asynccontextmanager
    async def stream(self, index: int) -> AsyncIterator[AsyncIterator[bytes]]:
        """Pictures as they come; a slow viewer misses some. Raises PrinterRefused."""
        async with self._stream(await self._camera(index)) as frames:
            yield frames

    async def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        for shared in list(self._shared.values()):
            await shared.close()

    @asynccontextmanager
    async def _stream(self, camera: Camera) -> AsyncIterator[AsyncIterator[bytes]]:
        shared = self._shared.get(id(camera))
        if shared is None or shared.has_ended:
            shared = self._shared[id(camera)] = SharedCamera(camera, self._drop)
        with shared.viewer() as frames:
            yield frames

    def _drop(self, shared: "SharedCamera") -> None:
        if self._shared.get(id(shared.camera)) is shared:
            del self._shared[id(shared.camera)]

    async def _own_snapshot(self, camera: Camera) -> bytes | None:
        try:
            async with asyncio.timeout(SNAPSHOT_TIMEOUT_S):
                return await camera.snapshot()
        except (TimeoutError, PrinterRefused) as exc:
            log.info("no snapshot, taking one from the stream: %s", exc)
            return None

    async def _camera(self, index: int) -> Camera:
        cameras = await self._cameras()
        if index >= len(cameras):
            raise PrinterRefused(
                CommandStatus.NOT_FOUND, in_english("There is no camera %(index)s.", index=index)
            )
        camera = cameras[index]
        if not camera.entry.enabled:
            sentence = in_english(
                "The camera %(name)s is switched off at the printer.", name=repr(camera.entry.name)
            )
            raise PrinterRefused(CommandStatus.NOT_FOUND, sentence)
        return camera

    async def _cameras(self) -> list[Camera]:
        """Return the known cameras.

        While one caller asks the printer, the others wait for its answer.

        Every status lists them: twenty a second must not become twenty questions.
        """
        is_due = self._good_until is None or self._now() >= self._good_until
        if is_due and (self._looking is None or self._looking.done()):
            self._looking = asyncio.create_task(self._look())
        if self._good_until is None and self._looking is not None:
            await asyncio.shield(self._looking)
        return self._known

    async def _look(self) -> None:
        good_for_s = LIST_RETRY_S
        try:
            async with asyncio.timeout(LIST_TIMEOUT_S):
                found = await self._printer.cameras()
            listed = [*_kept(self._known, found), *self._extra]
            self._known = sorted(listed, key=lambda camera: not camera.entry.enabled)
            good_for_s = LIST_TTL_S
        except (TimeoutError, PrinterRefused) as exc:
            log.info("the printer's cameras could not be listed: %s", exc)
            self._known = self._known or self._extra
        finally:
            self._good_until = self._now() + good_for_s


class SharedCamera:
    """One upstream connection, its latest picture, and its viewers."""

    def __init__(self, camera: Camera, on_end: Callable[["SharedCamera"], None]) -> None:
        self.camera = camera
        self.latest: bytes | None = None
        self.has_ended = False
        self._on_end = on_end
        self._failure: PrinterRefused | None = None
        self._number = 0
        self._viewers = 0
        self._changed = asyncio.Event()
        self._idle: asyncio.TimerHandle | None = None
        self._task = asyncio.create_task(self._run())

    def viewer(self) -> "_Viewer":
        return _Viewer(self)

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def enter(self) -> AsyncIterator[bytes]:
        self._viewers += 1
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        return self._frames()

    def leave(self) -> None:
        self._viewers -= 1
        if self._viewers == 0 and not self.has_ended:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(LINGER_S, self._task.cancel)

    async def _frames(self) -> AsyncIterator[bytes]:
        """Yield to each viewer the newest picture that it has not had."""
        seen = 0 if self.latest is None else self._number - 1
        timeout_s = FIRST_FRAME_TIMEOUT_S
        while True:
            while self._number == seen:
                if self.has_ended:
                    raise self._failure or _no_picture()
                changed = self._changed
                try:
                    async with asyncio.timeout(timeout_s):
                        await changed.wait()
                except TimeoutError:
                    raise _no_picture() from None
            seen, timeout_s = self._number, FRAME_TIMEOUT_S
            assert self.latest is not None  # the number counts pictures
            yield self.latest

    async def _run(self) -> None:
        try:
            async for frame in self.camera.frames():
                self.latest = frame
                self._number += 1
                self._tell()
        except PrinterRefused as refused:
            self._failure = refused
        finally:
            self.has_ended = True
            self._on_end(self)
            self._tell()

    def _tell(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


class _Viewer:
    """A viewer from entering to leaving."""

    def __init__(self, shared: SharedCamera) -> None:
        self._shared = shared

    def __enter__(self) -> AsyncIterator[bytes]:
        return self._shared.enter()

    def __exit__(self, *_exc: object) -> None:
        self._shared.leave()


def _no_picture() -> PrinterRefused:
    return PrinterRefused(CommandStatus.TIMED_OUT, N_("The camera sends no picture."))


def _kept(known: list[Camera], found: list[Camera]) -> list[Camera]:
    """Replace found cameras by the known objects for them, so that their upstreams stay shared."""
    by_source = {camera.source: camera for camera in known}
    return [by_source.get(camera.source, camera) for camera in found]


BOUNDARY = b"printreach-frame"


class WebcamCommands:
    def __init__(self, cameras: CameraHub) -> None:
        self._cameras = cameras

    async def listed(self, request: CommandRequest) -> WebcamList:
        """Return the cameras as the printer's owner chose, which the relay tells with a request."""
        choices = parse_choices_field(get(request.headers, CAMERAS_FIELD.lower()))
        return with_choices(await self._cameras.listed(), choices)

    async def list(self, request: CommandRequest) -> object:
        return cut_to_limits(await self.listed(request))

    async def snapshot(self, request: CommandRequest) -> None:
        picture = await self._cameras.snapshot(request.number("index", 0))
        headers = [
            (b"Content-Type", b"image/jpeg"),
            (b"Content-Length", b"%d" % len(picture)),
            (b"Cache-Control", b"no-store"),
        ]
        await request.stream.respond(encode_response(200, b"OK", headers), picture, fin=True)

    async def stream(self, request: CommandRequest) -> None:
        async with self._cameras.stream(request.number("index", 0)) as frames:
            kind = b"multipart/x-mixed-replace; boundary=" + BOUNDARY
            await answers.answer_raw(
                request.stream, [(b"Content-Type", kind)], None, _parts(frames)
            )


async def _parts(frames: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for frame in frames:
        yield b"--%b\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n%b\r\n" % (
            BOUNDARY,
            len(frame),
            frame,
        )
