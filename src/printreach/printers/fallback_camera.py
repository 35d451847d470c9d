"""A camera that is at one of several addresses."""

from collections.abc import AsyncIterator, Callable, Hashable, Sequence

from printreach.contract.status import WebcamEntry

from .camera_hosts import CameraHosts
from .http_camera import HttpCamera
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


def listed_camera(
    entry: WebcamEntry,
    *,
    stream: str | None,
    snapshot: str | None,
    addresses: Callable[[str], Sequence[str]],
    hosts: CameraHosts,
) -> list[Camera]:
    """Return one camera that tries every address which its URLs may mean; none without any.

    addresses: all that a URL may mean, an absolute one fewer than a relative one.
    """
    streams, snapshots = (addresses(url) if url else [] for url in (stream, snapshot))
    cameras = [
        HttpCamera(
            entry,
            snapshot_url=snapshots[min(n, len(snapshots) - 1)] if snapshots else None,
            stream_url=streams[min(n, len(streams) - 1)] if streams else None,
            hosts=hosts,
        )
        for n in range(max(len(streams), len(snapshots)))
    ]
    return [FallbackCamera(cameras)] if cameras else []
