"""The commands about webcams: list, snapshot, stream."""

from collections.abc import AsyncIterator

from printreach.agent.camera import CameraHub
from printreach.agent.commands import answers
from printreach.agent.commands.request import CommandRequest
from printreach.contract.sizes import cut_to_limits
from printreach.contract.status import WebcamList
from printreach.wire.heads import encode_response

BOUNDARY = b"printreach-frame"


class WebcamCommands:
    def __init__(self, cameras: CameraHub) -> None:
        self._cameras = cameras

    async def summary(self) -> WebcamList:
        return await self._cameras.listed()

    async def list(self, _request: CommandRequest) -> object:
        return cut_to_limits(await self._cameras.listed())

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
