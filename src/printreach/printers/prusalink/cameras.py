"""PrusaLink's cameras: the last photograph of each, taken every few seconds; no stream.

Buddy's firmware serves none: its cameras send theirs to Prusa's own service.
"""

import asyncio
from collections.abc import AsyncIterator, Hashable
from urllib.parse import quote

from printreach.contract.status import WebcamEntry
from printreach.languages import N_
from printreach.printers import loose
from printreach.printers.http_api import NotFound
from printreach.printers.port import Camera, no_picture

from .api import PrusaLinkApi

POLL_S = 1.0
MAX_CAMERAS = 16
JPEG_MAGIC = b"\xff\xd8"


async def cameras_of(api: PrusaLinkApi, base_url: str) -> list[Camera]:
    """In PrusaLink's order, the first of which is its default."""
    try:
        answer = await api.get("/api/v1/cameras")
    except NotFound:
        return []
    cameras: list[Camera] = []
    for reported in loose.items(answer, "camera_list")[:MAX_CAMERAS]:
        camera_id = loose.text(reported, "camera_id")
        if camera_id is None or loose.flag(reported, "connected") is False:
            continue
        name = loose.text(loose.obj(reported, "config"), "name") or "Webcam"
        target = f"/api/v1/cameras/{quote(camera_id, safe='')}/snap"
        cameras.append(PrusaLinkCamera(api, name, base_url, target))
    return cameras


class PrusaLinkCamera:
    """printers.port.Camera. target: of its photograph."""

    def __init__(self, api: PrusaLinkApi, name: str, base_url: str, target: str) -> None:
        self.entry = WebcamEntry(name=name, snapshot_url=f"{base_url}{target}")
        self._api = api
        self._target = target
        self.source: Hashable = self.entry

    async def snapshot(self) -> bytes | None:
        try:
            picture = await self._api.picture(self._target)
        except NotFound:
            raise no_picture(N_("it is not connected any more")) from None
        if not picture.startswith(JPEG_MAGIC):
            raise no_picture(N_("it has taken none yet"))
        return picture

    async def frames(self) -> AsyncIterator[bytes]:
        """Asked once a second, and given on when it is a new one."""
        last = b""
        while True:
            picture = await self.snapshot()
            if picture is not None and picture != last:
                last = picture
                yield picture
            await asyncio.sleep(POLL_S)
