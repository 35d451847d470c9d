"""A camera that is at one of several addresses."""

from collections.abc import AsyncIterator, Hashable, Sequence

from printreach.contract.status import WebcamEntry

from .port import Camera, PrinterRefused


class FallbackCamera:
    """Tries several addresses, and remembers the one that gave a picture.

    cameras: the same camera at each possible address, at least one, the likeliest first. The entry
    stays that of the first one, since upstreams are shared by it.
    """

    def __init__(self, cameras: Sequence[Camera]) -> None:
        self._cameras = list(cameras)
        self._entry = self._cameras[0].entry
        self._source = tuple(camera.source for camera in cameras)

    @property
    def entry(self) -> WebcamEntry:
        return self._entry

    @property
    def source(self) -> Hashable:
        return self._source

    async def snapshot(self) -> bytes | None:
        refusals = []
        for camera in self._cameras:
            try:
                picture = await camera.snapshot()
            except PrinterRefused as refused:
                refusals.append(refused)
            else:
                self._prefer(camera)
                return picture
        raise refusals[0]

    async def frames(self) -> AsyncIterator[bytes]:
        refusals = []
        for camera in self._cameras:
            has_begun = False
            try:
                async for frame in camera.frames():
                    if not has_begun:
                        self._prefer(camera)
                    has_begun = True
                    yield frame
            except PrinterRefused as refused:
                if has_begun:
                    raise
                refusals.append(refused)
            else:
                return
        raise refusals[0]

    def _prefer(self, camera: Camera) -> None:
        self._cameras = [camera, *(other for other in self._cameras if other is not camera)]
