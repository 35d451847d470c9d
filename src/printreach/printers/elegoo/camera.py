"""An Elegoo camera: it films only after it was told to, and then names its address."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Hashable
from contextlib import aclosing
from typing import cast

from printreach.contract.status import WebcamEntry
from printreach.printers.camera_hosts import CameraHosts
from printreach.printers.camera_urls import candidates
from printreach.printers.http_camera import HttpCamera

NAME = "Camera"


class SwitchedCamera:
    """printers.port.Camera. turn_on: the address that the printer tells, or None.

    usual_url: where the pictures are when it tells none. hosts: where they may be at all.
    """

    def __init__(
        self,
        host: str,
        hosts: CameraHosts,
        usual_url: str,
        turn_on: Callable[[], Awaitable[str | None]],
    ) -> None:
        self._host = host
        self._hosts = hosts
        self._usual_url = usual_url
        self._turn_on = turn_on
        self.entry = self._at(usual_url).entry
        self.source: Hashable = (self._host, self._usual_url)

    async def snapshot(self) -> bytes | None:
        """There are only streams."""
        return None

    async def frames(self) -> AsyncIterator[bytes]:
        camera = self._at(self._found(await self._turn_on()))
        frames = cast("AsyncGenerator[bytes, None]", camera.frames())
        async with aclosing(frames):
            async for frame in frames:
                yield frame

    def _found(self, reported: str | None) -> str:
        """Complete the address; the printer may leave out the scheme."""
        if reported is None:
            return self._usual_url
        url = reported if "://" in reported else f"http://{reported}"
        return next(iter(candidates(url, self._host, 80, tls=False)), self._usual_url)

    def _at(self, url: str) -> HttpCamera:
        return HttpCamera(
            WebcamEntry(name=NAME), snapshot_url=None, stream_url=url, hosts=self._hosts
        )
